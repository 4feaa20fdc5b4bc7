"""A tiny run and its data, for processes to train and measure."""

import copy
import itertools
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from model.batches.corpus import Corpus
from tests.model.corpora import keyword_texts
from tests.model.specs import CLASSIFIER, tiny
from tests.scripts.processes import ROOT, Interference, Outcome, Running, coded, command
from tests.sealing import put
from workflow.datasets.encoded.encoding import digest
from workflow.datasets.io.checksums import read_manifest
from workflow.planning.code import Project
from workflow.planning.identity import canonical, identity, run_roots
from workflow.runtime.integrity import read_verified, sha256

_numbers = itertools.count()


@dataclass(frozen=True)
class Job:
    """One run: its spec and where its data, the store and its results are."""

    folder: Path
    spec: dict[str, Any]
    data: Path
    parents: dict[str, Path] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def entry(self) -> Path:
        return self.store / self.spec["identity"]

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def states(self) -> list[Path]:
        return sorted(self.entry.glob("state-*"))

    @property
    def record(self) -> dict[str, Any]:
        return read_verified(self.out / "run.json")

    @property
    def weights(self) -> bytes:
        return (self.out / "weights.safetensors").read_bytes()

    @property
    def checkpoints(self) -> dict[str, bytes]:
        """What may lie hidden beside them counts for nobody."""
        kept = (self.out / "checkpoints").glob("step-*")
        return {path.name: path.read_bytes() for path in kept}

    @property
    def history(self) -> list[dict[str, Any]]:
        """The rows without what tells the time."""
        rows = map(json.loads, (self.out / "history.jsonl").read_text().splitlines())
        timed = ("seconds", "tokens_per_second")
        return [{name: row[name] for name in row if name not in timed} for row in rows]

    def arguments(self, *more: str) -> list[str]:
        """The command line of `train`; what it completes in the draft does not count."""
        given = [*self._given({"out": self.out}), "--draft", canonical(self.spec)]
        for name, path in self.parents.items():
            given += ["--parent", f"{name}={path}"]
        return [*given, *more]

    def reading(self, out: Path, *more: str) -> list[str]:
        """The command line of a program that reads the finished run and writes to `out`."""
        spec = put(self.folder / "spec.json", self.spec)
        return [*self._given({"spec": spec, "run": self.out, "out": out}), *more]

    def _given(self, paths: dict[str, Path]) -> list[str]:
        self.folder.mkdir(parents=True, exist_ok=True)
        paths |= {"data": self.data, "store": self.store}
        return [text for name, path in paths.items() for text in (f"--{name}", str(path))]

    def measure(self, out: Path, **nodes: Any) -> Outcome:
        """Measure the finished run by some evaluators."""
        evaluators = canonical({name: coded(node) for name, node in nodes.items()})
        return command("measure", self.reading(out, "--evaluators", evaluators))

    def sealed(self, **changes: Any) -> "Job":
        """The run with other entries of its spec, and their identity."""
        return replace(self, spec=seal(self.spec | changes))

    def start(self, *more: str, before: Interference | None = None) -> Running:
        """Start a process that trains the run."""
        said = self.folder / f"said-{next(_numbers)}.txt"
        return Running("train", self.arguments(*more), said, before)

    def train(self, *more: str, before: Interference | None = None) -> Outcome:
        """Train the run in a process of its own."""
        return self.start(*more, before=before).end()

    def refused(self) -> str:
        """The sentence of `train` when it refuses to begin; it hasn't even imported torch."""
        return command("train", self.arguments(), torch=False).error

    def untouched(self) -> bool:
        """Whether nothing was copied out, and the store holds nothing half-written."""
        hidden = list(self.store.rglob(".*"))
        return not self.out.exists() and not (self.entry / "result").exists() and not hidden

    def like(self, other: "Job") -> bool:
        """Whether two jobs have the same weights, checkpoints and history, to the last bit."""
        return (self.weights, self.checkpoints, self.history) == (
            other.weights, other.checkpoints, other.history
        )  # fmt: skip


def seal(spec: dict[str, Any]) -> dict[str, Any]:
    """A spec with its identity."""
    return spec | {"identity": identity(spec)}


def planned(spec: dict[str, Any], data: Path, checkpoints: Sequence[int] = ()) -> dict[str, Any]:
    """A tiny run's spec, as the workflow would complete it for these data."""
    digest = read_manifest(data)["digest"]
    spec |= {
        "schema": 1,
        "run": {"paper": "toy", "experiment": "tiny", "variant": "only", "seed": 0},
        "data": {"dataset": data.parent.name, "recipe": "0" * 12, "digest": digest},
        "checkpoints": list(checkpoints),
    }
    return seal(spec | {"code": Project(ROOT).code(run_roots(spec))})


def trained(job: Job) -> Job:
    """A run that one process has trained; not to be changed."""
    outcome = job.train()
    assert outcome.status == 0, outcome.said
    return job


def as_encoded(corpus: Corpus) -> Path:
    """Give the files of a corpus their checksums, as `encode` does; returns its folder."""
    folder, manifest = corpus.folder, corpus.manifest
    for name, file in manifest["files"].items():
        file["sha256"] = sha256(folder / name)
    manifest["digest"] = digest(manifest["files"])
    put(folder / "manifest.json", manifest)
    return folder


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts whose class is told by one of two keywords."""
    folder, sizes = tmp_path_factory.mktemp("data"), {"train": 240, "dev": 40, "test": 40}
    return as_encoded(keyword_texts(folder / "encoded", sizes, 9, shortest=2, longest=6))


@pytest.fixture(scope="session")
def spec(data: Path) -> dict[str, Any]:
    """A discrete classifier with dropout, whose best weights are selected."""
    spec = tiny(
        CLASSIFIER, "model.objectives.classification:Classification", epochs=3,
        batch={"tokens": 100}, schedule={"name": "cosine", "warmup": 5}, clip=1.0,
        select={"metric": "accuracy", "mode": "max"},
    )  # fmt: skip
    return planned(spec, data, [4, 13])


@pytest.fixture
def job(tmp_path: Path, spec: dict[str, Any], data: Path) -> Job:
    """The run, not yet begun."""
    return Job(tmp_path, copy.deepcopy(spec), data)


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory, spec: dict[str, Any], data: Path) -> Job:
    """The run, trained by an undisturbed process; not to be changed."""
    job = Job(tmp_path_factory.mktemp("whole"), spec, data)
    outcome = command("train", job.arguments())
    assert outcome.status == 0, outcome.said
    return job


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Job], Job]:
    """Copies a job's folder, so that the copy can be changed."""

    def copied(job: Job) -> Job:
        shutil.copytree(job.folder, tmp_path / "copy")
        return replace(job, folder=tmp_path / "copy")

    return copied
