"""Both sides of proofs: a process for each tree, what they plan, and what they have computed."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Literal, NamedTuple

from workflow.equivalence import side
from workflow.equivalence.changed import CodeChange, changes
from workflow.equivalence.side import Json
from workflow.equivalence.specs import (
    compressed,
    further_recipes,
    known_words,
    lengthen,
    of_further_form,
    settings_of,
    shortened,
    small_recipe,
)
from workflow.planning.code import Project
from workflow.planning.identity import canonical, without_paths

What = Literal["training", "evaluator", "recorder"]
Of = Literal["old", "new"]
OF: tuple[Of, Of] = ("old", "new")


class CodeKind(NamedTuple):
    """Code that changed.

    Attributes:
        what: that the code makes.
        old, new: its hashes.
    """

    what: What
    old: str
    new: str


class Use(NamedTuple):
    """Where a kind is used: a variant, and the name of its evaluator (else empty)."""

    key: str
    part: str = ""


class Process:
    """The process of one side."""

    def __init__(self, root: Path, work: Path, device: str) -> None:
        work.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self.root, self.work = root, work
        self.log = (work / "log.txt").open("a")
        self._process = subprocess.Popen(
            [sys.executable, "-P", side.__file__, str(root), str(work), device],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            cwd=root,
            env=environment | threads,
        )

    def ask(self, do: str, **request: Any) -> Any:
        """Return the answer to a request; Failed where the code of the side fails."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"do": do, **request}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise Failed(f"the process ended ({self.work / 'log.txt'})")
        answer = json.loads(line)
        if "error" in answer:
            self.log.write(answer["traceback"])
            raise Failed(str(answer["error"]).splitlines()[0])
        return answer["answer"]

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self.log.close()


class Failed(Exception):
    """A side could not compute what was asked."""


class Sides:
    """Both sides of proofs, with what they have computed.

    Args:
        old, new: trees of the project.
        work: a folder for data and results.
        device: `cpu` or `cuda`, to compute on.
        scales: whose variants are looked at.
    """

    def __init__(
        self,
        old: Path,
        new: Path,
        work: Path,
        device: str = "cpu",
        scales: Sequence[str] = side.SCALES,
    ) -> None:
        self.work, self.device = work, device
        self.old = Process(old, work / "old", device)
        self.new = Process(new, work / "new", device)
        self.projects = Project(old), Project(new)
        self._threads = ThreadPoolExecutor(2)
        self.before, self.after = self.both("listing", *[{"scales": [*scales]}] * 2)
        self._trained: dict[str, Json] = {}

    def __enter__(self) -> "Sides":
        return self

    def __exit__(self, *_: object) -> None:
        self.old.end()
        self.new.end()

    def both(self, do: str, old: Json, new: Json) -> tuple[Any, Any]:
        """Return the answers of both sides, which compute at once."""
        first, second = self.at_once(do, old, new)
        return first.result(), second.result()

    def at_once(self, do: str, old: Json, new: Json) -> tuple[Future[Any], Future[Any]]:
        """Have both sides compute at once, and return how each ended."""
        first = self._threads.submit(self.old.ask, do, **old)
        second = self._threads.submit(self.new.ask, do, **new)
        wait([first, second])
        return first, second

    def kinds(self) -> dict[CodeKind, list[Use]]:
        """Return every kind whose code differs, with its uses; settings must be the same."""
        found: dict[CodeKind, list[Use]] = {}
        for key, after in self.after.items():
            before = self.before.get(key)
            if before is None:
                continue
            pairs: list[tuple[What, str, Json, Json]] = []
            if settings_of(before) == settings_of(after):
                pairs.append(("training", "", before, after))
            groups: tuple[tuple[str, What], ...] = (
                ("evaluators", "evaluator"),
                ("recorders", "recorder"),
            )
            for group, what in groups:
                for name, node in after[group].items():
                    other = before[group].get(name)
                    if other and _settings(other) == _settings(node):
                        pairs.append((what, name, other, node))
            for what, name, one, other in pairs:
                if one["code"] != other["code"]:
                    uses = found.setdefault(CodeKind(what, one["code"], other["code"]), [])
                    uses.append(Use(key, name))
        return found

    def changes(self, kind: CodeKind, use: Use) -> CodeChange:
        """Return what differs in the code of a kind."""
        one, other = (_part(listing[use.key], kind.what, use.part) for listing in self.listings)
        old, new = self.projects
        return changes(old, one["roots"], new, other["roots"])

    @property
    def listings(self) -> tuple[Mapping[str, Json], Mapping[str, Json]]:
        """What both sides plan."""
        return self.before, self.after

    def data(self, recipe: Json, longer: int = 1) -> str:
        """Return the folder of encoded data, made at first use."""
        name = hashlib.sha256(canonical(recipe).encode()).hexdigest()[:12]
        folder = self.work / "data" / name
        if not (folder / "encoded" / "manifest.json").is_file():
            self.new.ask("data", recipe=recipe, to=str(folder))
        if longer == 1:
            return str(folder / "encoded")
        longer_folder = self.work / "data" / f"{name}-{longer}"
        if not longer_folder.is_dir():
            lengthen(folder / "encoded", longer_folder, longer)
        return str(longer_folder)

    def data_of(self, key: str, longer: int = 1) -> str:
        """Return the data that a variant is proven on; Failed where there are none."""
        recipe = small_recipe(key, self.after)
        if recipe is None:
            raise Failed("there is no generated data of its kind at scale demo")
        return self.data(recipe, longer)

    def specs(self, key: str, offset: int = 0) -> tuple[Json, Json]:
        """Return the compressed spec of a variant, as each side names its parts."""
        one, other = (compressed(listing[key], offset) for listing in self.listings)
        return one, other

    def trained(self, key: str, longer: int = 1, offset: int = 0) -> tuple[Path, Json]:
        """Return folder and answer of a training by the old code, at first use."""
        spec, _ = self.specs(key, offset)
        request = self.training("old", key, spec, longer, {})
        self._weights(request)
        return Path(request["to"]), self._trained[request["to"]]

    def _weights(self, request: Json) -> str:
        """Return the file of the weights of a training by the old code, at first use."""
        if request["to"] not in self._trained:
            self.keep(request, self.old.ask("train", **request))
        return str(Path(request["to"]) / "weights.safetensors")

    def keep(self, request: Json, answer: Json) -> None:
        """Keep what the old code answered to a training for those who ask for it later."""
        self._trained[request["to"]] = answer

    def training(self, of: Of, key: str, spec: Json, longer: int, watched: Json) -> Json:
        """Return the request to train a spec of a variant, `of` the old or the new side."""
        precision, updates = (spec["training"][name] for name in ("precision", "updates"))
        name = f"{key}/{longer}/{spec['seed']}/{precision}/{updates}".replace("/", "-")
        return {
            "spec": spec,
            "data": self.data_of(key, longer),
            "stops": [updates // 2],
            "parents": self.parents(key, longer),
            "to": str(self.work / of / "trained" / name),
            "statements": watched,
            "digests": [1, updates // 2, updates],
            "states": [],
        }

    def parents(self, key: str, longer: int) -> dict[str, str]:
        """Return the files of the weights that a variant starts from or reads, by name.

        They are of short trainings by the old code.
        """
        scale = key.partition("/")[0]
        named = self.before[key]["parents"].items()
        keys = {name: f"{scale}/{run.rpartition('/')[0]}" for name, run in named}
        return {
            name: self._weights(self.training("old", parent, of_further_form(spec), longer, {}))
            for name, parent in keys.items()
            for spec, _ in [self.specs(parent)]
        }

    def record(self, key: str, longer: int, offset: int) -> str:
        """Return the file of a record by the old code, at first use."""
        request = self.recording("old", key, longer, {}, offset)
        if not Path(request["to"]).is_file():
            self.old.ask("record", **request)
        return str(request["to"])

    def recording(self, of: Of, key: str, longer: int, watched: Json, offset: int = 0) -> Json:
        """Return the request to record a training by the old code."""
        request = self._measuring(of, Use(key), "recorder", longer, watched, offset)
        to = Path(request["folder"]) / f"record-{of}.npz"
        return {**request, "steps": request["spec"]["checkpoints"], "to": str(to)}

    def evaluating(self, of: Of, use: Use, longer: int, watched: Json) -> Json:
        """Return the request to run an evaluator on a training by the old code.

        Failed where there are no generated data that it reads beside the run's.
        """
        _, answer = self.trained(use.key, longer)
        request = self._measuring(of, use, "evaluator", longer, watched)
        return {**request, "history": answer["history"], **self._read(use, longer)}

    def _measuring(
        self, of: Of, use: Use, what: What, longer: int, watched: Json, offset: int = 0
    ) -> Json:
        at = OF.index(of)
        folder, _ = self.trained(use.key, longer, offset)
        return {
            "spec": self.specs(use.key, offset)[at],
            "data": self.data_of(use.key, longer),
            "folder": str(folder),
            "node": known_words(
                shortened(_part(self.listings[at][use.key], what, use.part)["node"]),
                self.data_of(use.key, longer),
            ),
            "statements": watched,
        }

    def _read(self, use: Use, longer: int) -> Json:
        """Return what an evaluator reads: further data, and records of runs by the old code."""
        recipes = further_recipes(use.key, use.part, self.after)
        if recipes is None:
            raise Failed(f"there is no generated data for evaluator {use.part}")
        records: dict[str, str | list[str]] = {}
        scale = use.key.partition("/")[0]
        for name, ((experiment, variant), others) in self.before[use.key]["reads"].items():
            evaluator, _, argument = name.partition(".")
            if evaluator == use.part:
                of = f"{scale}/{experiment}/{variant}"
                alone = self.record(of, longer, 1 if others else 0)
                records[argument] = [alone] if others else alone
        further = {name: self.data(recipe) for name, recipe in recipes.items()}
        return {"further": further, "records": records}


def _part(entry: Json, what: What, name: str) -> Json:
    part: Json = entry if what == "training" else entry[f"{what}s"][name]
    return part


def _settings(part: Json) -> str:
    return canonical(without_paths(part["node"]))
