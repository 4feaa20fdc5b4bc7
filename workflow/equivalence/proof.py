"""A proof that a change of code is none: old and new code of each kind side by side.

A kind is the code behind runs, an evaluator or a recorder: a pair of hashes, before and after.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from workflow.equivalence import judging, side
from workflow.equivalence.changed import Change, changes
from workflow.equivalence.judging import Finding, worst
from workflow.equivalence.side import Json
from workflow.equivalence.specs import (
    JUDGED,
    STOP,
    UPDATES,
    compressed,
    different_forms,
    further_recipes,
    in_single,
    lengthen,
    settings_of,
    shortened,
    small_recipe,
)
from workflow.equivalence.statements import Place
from workflow.planning.code import Project
from workflow.planning.identity import canonical, nameless

What = Literal["training", "evaluator", "recorder"]
LONGER = 8
"""How many times longer rows are made where the changed lines did not run."""
MACHINES: tuple[Json, ...] = (
    {"threads": 2},
    {"library": False},
    {"shake": 1},
    {"shake": 2},
    {"shake": 3},
)
"""What is a little different where the old code shows what a machine makes by itself: more threads,
no oneDNN, weights changed by a rounding."""
SUBJECTS = 2
"""Models that a changed evaluator is run on, of different kinds where there are."""


class Kind(NamedTuple):
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


@dataclass
class Proof:
    """What a proof found out about a kind.

    Attributes:
        kind: the kind.
        name: where it is used, as an example.
        finding: how numbers compare.
        updates: how many were compared.
        lines: changed statements that were executed.
        gpu: `unchanged` where no line changed that only a GPU runs, else `changed`.
        refusals: sentences, why numbers that are the same are no proof.
    """

    kind: Kind
    name: str
    finding: Finding = field(default_factory=lambda: Finding("same bits"))
    updates: int = 0
    lines: int = 0
    gpu: str = "unchanged"
    refusals: list[str] = field(default_factory=list)

    @property
    def accepted(self) -> bool:
        """Whether what was made by the old code is as if made by the new."""
        return self.finding.verdict != "different" and not self.refusals


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
        first = self._threads.submit(self.old.ask, do, **old)
        second = self._threads.submit(self.new.ask, do, **new)
        wait([first, second])
        return first.result(), second.result()

    def kinds(self) -> dict[Kind, list[Use]]:
        """Return every kind whose code differs, with its uses; settings must be the same."""
        found: dict[Kind, list[Use]] = {}
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
                    uses = found.setdefault(Kind(what, one["code"], other["code"]), [])
                    uses.append(Use(key, name))
        return found

    def changes(self, kind: Kind, use: Use) -> Change:
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
        request = self.training(key, spec, longer, "old", {})
        if request["to"] not in self._trained:
            self.keep(request, self.old.ask("train", **request))
        return Path(request["to"]), self._trained[request["to"]]

    def keep(self, request: Json, answer: Json) -> None:
        """Keep what the old code answered to a training for those who ask for it later."""
        self._trained[request["to"]] = answer

    def training(self, key: str, spec: Json, longer: int, of: str, watched: Json) -> Json:
        """Return the request to train a spec of a variant, `of` the old or the new side."""
        name = f"{key}/{longer}/{spec['seed']}/{spec['training']['precision']}".replace("/", "-")
        return {
            "spec": spec,
            "data": self.data_of(key, longer),
            "stops": [STOP],
            "parents": self.parents(key, longer),
            "to": str(self.work / of / "trained" / name),
            "statements": watched,
            "digests": [1, STOP, UPDATES],
            "states": [],
        }

    def parents(self, key: str, longer: int) -> dict[str, str]:
        """Return the files of the weights that a variant starts from or reads, by name."""
        scale = key.partition("/")[0]
        named = self.before[key]["parents"].items()
        keys = {name: f"{scale}/{run.rpartition('/')[0]}" for name, run in named}
        return {
            name: str(self.trained(parent, longer)[0] / "weights.safetensors")
            for name, parent in keys.items()
        }

    def record(self, key: str, longer: int, offset: int) -> str:
        """Return the file of a record by the old code, at first use."""
        folder, _ = self.trained(key, longer, offset)
        file = folder / "record.npz"
        if not file.is_file():
            entry = self.before[key]
            spec, _ = self.specs(key, offset)
            self.old.ask(
                "record",
                spec=spec,
                data=self.data_of(key, longer),
                folder=str(folder),
                node=shortened(entry["recorders"][""]["node"]),
                steps=spec["checkpoints"],
                to=str(file),
                statements={},
            )
        return str(file)


def _part(entry: Json, what: What, name: str) -> Json:
    part: Json = entry if what == "training" else entry[f"{what}s"][name]
    return part


def _settings(part: Json) -> str:
    return canonical(nameless(part["node"]))


def on_gpu(change: Change) -> Change:
    """Return a change in which the lines that a GPU alone runs have to be executed, too."""
    old, new = (*change.old, *change.gpu_old), (*change.new, *change.gpu_new)
    return replace(change, old=tuple(dict.fromkeys(old)), new=tuple(dict.fromkeys(new)))


def watched(change: Change, of: str) -> dict[str, list[list[int]]]:
    """Return the statements of a side that a proof has to execute, by file."""
    places: list[Place] = [*(change.old if of == "old" else change.new)]
    for group in change.old_any if of == "old" else change.new_any:
        places += group
    found: dict[str, list[list[int]]] = {}
    for place in places:
        found.setdefault(place.file, []).append([place.first, place.last])
    return found


def missing(change: Change, of: str, executed: set[tuple[str, int, int]]) -> list[str]:
    """Return the places that were not executed, as `file:line (definition)`."""
    single, groups = (change.old, change.old_any) if of == "old" else (change.new, change.new_any)

    def ran(place: Place) -> bool:
        return (place.file, place.first, place.last) in executed

    left = [place for place in single if not ran(place)]
    left += [group[0] for group in groups if group and not any(map(ran, group))]
    unread = ["what reads a constant or an attribute that changed"] * (() in groups)
    return [f"{place.file}:{place.first} ({place.name})" for place in left] + unread


def prove(sides: Sides, kind: Kind, uses: list[Use]) -> Proof:
    """Prove that the code of a kind changed nothing, or say what stands against it."""
    named = sorted(uses, key=lambda use: side.SCALES.index(use.key.partition("/")[0]))
    proof = Proof(kind, "/".join(filter(None, (named[0].key.partition("/")[2], named[0].part))))
    change = sides.changes(kind, named[0])
    proof.gpu = "changed" if change.gpu_old or change.gpu_new else "unchanged"
    if sides.device != "cpu":
        change, proof.gpu = on_gpu(change), "proven"
    executed: dict[str, set[tuple[str, int, int]]] = {"old": set(), "new": set()}
    for longer in (1, LONGER):
        try:
            for finding in _findings(sides, kind, named, change, longer, executed):
                proof.finding = worst([proof.finding, finding])
                if finding.verdict == "different":
                    break
        except Failed as error:
            if longer == 1:
                proof.refusals.append(f"it can't be run: {error}")
            break
        left = {of: missing(change, of, executed[of]) for of in ("old", "new")}
        if proof.finding.verdict == "different" or not any(left.values()):
            break
    if proof.finding.verdict != "different":
        for of in ("old", "new"):
            proof.refusals += [
                f"{place} of the {of} code was not executed"
                for place in missing(change, of, executed[of])
            ]
        proof.refusals += [
            f"{value.place_new.file}:{value.place_new.first} has `{value.new_text}`, not "
            f"`{value.old_text}`: data that are far from where it matters show no effect"
            for value in change.values
            if value.place_new not in change.gpu_new or sides.device != "cpu"
        ]
    proof.lines = sum(map(len, executed.values()))
    proof.updates = UPDATES if kind.what == "training" else 0
    return proof


def _findings(
    sides: Sides,
    kind: Kind,
    uses: list[Use],
    change: Change,
    longer: int,
    executed: dict[str, set[tuple[str, int, int]]],
) -> Iterator[Finding]:
    """Yield how numbers of a kind compare, and note which changed statements were executed."""
    of_old, of_new = watched(change, "old"), watched(change, "new")

    def note(old: Json, new: Json) -> None:
        executed["old"] |= {(file, first, last) for file, first, last in old["executed"]}
        executed["new"] |= {(file, first, last) for file, first, last in new["executed"]}

    if kind.what == "training":
        measured: set[str] = set()
        for key in different_forms([use.key for use in uses], sides.after):
            yield from _train(sides, key, longer, of_old, of_new, note)
            for name, part in sides.after[key]["evaluators"].items():
                if part["code"] not in measured:
                    measured.add(part["code"])
                    yield _measure(sides, Use(key, name), "evaluator", longer, of_old, of_new, note)
            if sides.after[key]["recorders"]:
                yield _measure(sides, Use(key), "recorder", longer, of_old, of_new, note)
        return
    subjects: dict[str, Use] = {}
    for use in uses:
        subjects.setdefault(sides.after[use.key]["code"], use)
    for use in [*subjects.values()][:SUBJECTS]:
        yield _measure(sides, use, kind.what, longer, of_old, of_new, note)


Note = Callable[[Json, Json], None]


def _train(
    sides: Sides, key: str, longer: int, of_old: Json, of_new: Json, note: Note
) -> Iterator[Finding]:
    old, new = sides.specs(key)
    pairs = [(old, new)]
    if old["training"]["precision"] != "fp32":
        pairs.append((in_single(old), in_single(new)))
    for spec, other in pairs:
        one = sides.training(key, spec, longer, "old", of_old)
        two = sides.training(key, other, longer, "new", of_new)
        before, after = sides.both("train", one, two)
        note(before, after)
        sides.keep(one, before)
        same = before["digests"] == after["digests"] and judging.rows(
            after["history"], before["history"]
        )
        yield Finding("same bits") if same else _by_update(sides, one, two)


def _by_update(sides: Sides, old: Json, new: Json) -> Finding:
    """Judge single updates and the end of training, both from the states of the old side."""
    import torch
    from safetensors.torch import load_file

    after = [update + 1 for update in JUDGED]
    watch: Json = {"statements": {}, "digests": [], "states": sorted({*JUDGED, *after} - {0})}
    sides.old.ask("train", **{**old, **watch})
    precision = str(old["spec"]["training"]["precision"])
    shared = ("spec", "data", "parents")
    one, two = ({name: request[name] for name in shared} for request in (old, new))
    folder, ours = Path(old["to"]), str(Path(new["to"]) / "state.pt")
    findings = []
    for update in JUDGED:
        start = str(folder / f"state-{update}.pt") if update else None
        sides.new.ask("step", **two, start=start, to=ours)
        made, expected, before = (
            torch.load(path, weights_only=True) if path else None
            for path in (ours, folder / f"state-{update + 1}.pt", start)
        )
        found = judging.updates(made, expected, before, [], precision)
        if found.verdict == "different":
            noisy = _noise(sides, one, start, folder)
            found = judging.updates(made, expected, before, noisy, precision)
        findings.append(replace(found, place=f"update {update + 1}: {found.place}"))
        if found.verdict == "different":
            break
    if worst(findings).verdict != "different":
        begun = {"state": str(folder / f"state-{UPDATES}.pt"), "kept": str(folder)}
        sides.new.ask("train", **{**new, **watch, "states": [], "stops": [], "begun": begun})
        made, expected = (
            {"model": load_file(Path(request["to"]) / "weights.safetensors")}
            for request in (new, old)
        )
        found = judging.updates(made, expected, None, [], precision)
        findings.append(replace(found, place=f"weights in the end: {found.place}"))
    for state in folder.glob("state-*.pt"):
        state.unlink()
    return worst(findings)


def _noise(sides: Sides, request: Json, start: str | None, folder: Path) -> list[Any]:
    """Return the states that the old code makes on a machine that is a little different."""
    import torch

    found = []
    for machine in MACHINES:
        path = str(folder / "noise.pt")
        sides.old.ask("step", **request, start=start, to=path, **machine)
        found.append(torch.load(path, weights_only=True))
    return found


def _measure(
    sides: Sides, use: Use, what: What, longer: int, of_old: Json, of_new: Json, note: Note
) -> Finding:
    """Judge what both sides measure on the same weights."""
    key, part = use
    folder, answer = sides.trained(key, longer)
    requests = []
    for listing, spec, statements in zip(
        sides.listings, sides.specs(key), (of_old, of_new), strict=True
    ):
        node = shortened(_part(listing[key], what, part)["node"])
        request: Json = {
            "spec": spec,
            "data": sides.data_of(key, longer),
            "folder": str(folder),
            "node": node,
            "statements": statements,
        }
        if what == "recorder":
            to = folder / ("record.npz" if listing is sides.before else "record-new.npz")
            request |= {"steps": spec["checkpoints"], "to": str(to)}
        else:
            request |= {"history": answer["history"], **_read(sides, key, part, longer)}
        requests.append(request)
    do = "record" if what == "recorder" else "evaluate"
    old, new = sides.both(do, *requests)
    note(old, new)
    found = judging.results(new["result"], old["result"], [])
    if found.verdict == "different":
        quiet = {**requests[0], "statements": {}}
        noisy = [sides.old.ask(do, **quiet, **machine)["result"] for machine in MACHINES]
        found = judging.results(new["result"], old["result"], noisy)
    return replace(found, place=f"{part or 'record'}: {found.place}")


def _read(sides: Sides, key: str, part: str, longer: int) -> Json:
    """Return what an evaluator reads: further data, and records of runs by the old code."""
    recipes = further_recipes(key, part, sides.after)
    if recipes is None:
        raise Failed(f"there is no generated data for evaluator {part}")
    records: dict[str, Any] = {}
    scale = key.partition("/")[0]
    for name, ((experiment, variant), others) in sides.before[key]["reads"].items():
        evaluator, _, argument = name.partition(".")
        if evaluator == part:
            of = f"{scale}/{experiment}/{variant}"
            alone = sides.record(of, longer, 1 if others else 0)
            records[argument] = [alone] if others else alone
    further = {name: sides.data(recipe) for name, recipe in recipes.items()}
    return {"further": further, "records": records}
