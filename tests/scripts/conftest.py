"""A tiny run and its data, for processes to train and measure."""

import copy
import itertools
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.store.checksums import read_sealed, sha256
from tests.model.corpora import write_corpus
from tests.scripts.processes import ROOT, Interference, Outcome, Running, command
from tests.sealing import put
from workflow.datasets.encoded.encoding import digest
from workflow.datasets.io.checksums import read_manifest
from workflow.planning.code import Project
from workflow.planning.identity import identity, run_roots

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
        return read_sealed(self.out / "run.json")

    @property
    def weights(self) -> bytes:
        return (self.out / "weights.safetensors").read_bytes()

    @property
    def checkpoints(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.out / "checkpoints").iterdir()}

    @property
    def history(self) -> list[dict[str, Any]]:
        """The rows without what tells the time."""
        rows = map(json.loads, (self.out / "history.jsonl").read_text().splitlines())
        timed = ("seconds", "tokens_per_second")
        return [{name: row[name] for name in row if name not in timed} for row in rows]

    def written(self) -> Path:
        """The file of its spec."""
        return put(self.folder / "spec.json", self.spec)

    def arguments(self, *more: str) -> list[str]:
        """The command line of `train`."""
        paths = {"spec": self.written(), "data": self.data, "store": self.store, "out": self.out}
        given = [text for name, path in paths.items() for text in (f"--{name}", str(path))]
        for name, path in self.parents.items():
            given += ["--parent", f"{name}={path}"]
        return [*given, *more]

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


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts whose class is told by one of two keywords."""
    random = np.random.default_rng(0)
    splits, columns = {}, {}
    for split, n in (("train", 240), ("dev", 40), ("test", 40)):
        labels = random.integers(0, 2, n)
        splits[split] = [
            [3 + label, *random.integers(5, 9, 1 + i % 5)] for i, label in enumerate(labels)
        ]
        columns[split] = {"label": labels.tolist()}
    folder = tmp_path_factory.mktemp("data") / "encoded"
    manifest = write_corpus(folder, splits, 9, {}, columns).manifest
    for name, file in manifest["files"].items():
        file["sha256"] = sha256(folder / name)
    manifest["digest"] = digest(manifest["files"])
    put(folder / "manifest.json", manifest)
    return folder


@pytest.fixture(scope="session")
def spec(data: Path) -> dict[str, Any]:
    """A discrete classifier with dropout, whose best weights are selected."""
    encoder = {
        "path": "model.architectures.two_stream:TwoStreamTransformer",
        "width": 16, "hidden": 32, "layers": 2,
        "heads": 2, "normalizer": {"path": "model.normalizers.gumbel:Gumbel"}, "dropout": 0.1,
    }  # fmt: skip
    spec = {
        "schema": 1,
        "run": {"paper": "toy", "experiment": "keywords", "variant": "discrete", "seed": 0},
        "seed": 0,
        "data": {
            "dataset": "keywords", "recipe": "0" * 12,
            "digest": read_manifest(data)["digest"],
        },
        "model": {"path": "model.architectures.classifier:Classifier",
                "classes": 2, "encoder": encoder},
        "objective": {"path": "model.objectives.classification:Classification"},
        "training": {
            "epochs": 3, "batch": {"tokens": 100}, "optimizer": {"lr": 1e-2, "betas": [0.9, 0.98]},
            "schedule": {"name": "cosine", "warmup": 5}, "clip": 1.0, "precision": "fp32",
            "threads": 1, "matmul": "highest", "select": {"metric": "accuracy", "mode": "max"},
        },
        "checkpoints": [4, 13], "parents": {},
    }  # fmt: skip
    return seal(spec | {"code": Project(ROOT).hash(run_roots(spec))})


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
