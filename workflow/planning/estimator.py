"""What runs cost: measured on runs like them, else from their number of operations.

Of the runs that were measured on the same kind of device the nearest are taken:

    measured   the same settings and data, with any seed
    scaled     the same model and objective, else the same parts in other sizes, of either those on
               the same dataset first, else all but one part the same (another normaliser): by
               operations
    FLOPs      nothing alike was measured: operations over an assumed rate of the device

The operations of a training are 6 x parameters x tokens, and 12 x layers x width x length for each
token where there is attention; the parameters of token embeddings do not count.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, cast

from workflow.datasets.fetched.sources import SOURCES
from workflow.datasets.fetched.sources import load as load_sources
from workflow.datasets.io.checksums import Manifest
from workflow.datasets.kinds.recipe import Recipe, files
from workflow.datasets.kinds.sizes import Data, stated
from workflow.definitions.experiments import Training
from workflow.planning.built import parameters
from workflow.planning.identity import Draft, canonical, complete, data_folder, paths
from workflow.planning.plan import Plan, Run
from workflow.planning.resources import Resources
from workflow.planning.run_files import RunRecord
from workflow.runtime.errors import InputError
from workflow.runtime.integrity import Damaged, read_verified
from workflow.runtime.json_lines import whole_lines

SINGLE = 2.0
"""How many times longer a CPU takes for a training in bf16 that it can only multiply in fp32."""
UPDATE = 0.01
"""Seconds that an update takes at least on a GPU, which waits for Python."""
WITHIN = {"measured": "a factor of 1.5", "scaled": "a factor of 3", "FLOPs": "a factor of 10"}
"""How far off an estimate may be, on hardware like that of the measured runs."""
RATES = {"cpu": 3e10, "gpu": 1e12}
"""Operations per second that training is assumed to reach: small models leave a GPU mostly idle."""
BYTES_PER_TOKEN, LENGTH, VOCABULARY = 5, 30, 10_000
"""Of data that are not made yet and whose recipe does not tell."""


@dataclass(frozen=True)
class Estimate:
    """What training a run is expected to take."""

    seconds: float
    units: float
    """GPU-seconds, or core-seconds without a GPU"""
    memory: float
    """in MB"""
    disk: float
    """in MB: the weights that are kept, in the store and in the results"""
    source: str
    """`measured`, `scaled` or `FLOPs`; `store` where nothing is trained"""


class Traits(NamedTuple):
    """What makes runs alike, as canonical JSON and paths."""

    settings: str
    model: str
    dataset: str
    parts: frozenset[str]

    @classmethod
    def of(cls, spec: Draft) -> "Traits":
        """Return the traits of a run by its spec."""
        model = [spec["model"], spec["objective"]]
        settings = canonical([model, spec["training"], spec["run"]["data"]])
        dataset = str(spec["run"]["data"]["dataset"])
        return cls(settings, canonical(model), dataset, frozenset(paths(model)))


@dataclass(frozen=True)
class MeasuredRun:
    """A finished run."""

    record: RunRecord
    spec: Draft
    traits: Traits


class Estimator:
    """Estimates the runs of a plan from all runs that were measured so far.

    Args:
        plan: the plan.
        gpu: whether they will be trained on GPUs.
        published: folder with published runs, `<scale>/runs/<experiment>.jsonl`.
        results: folder of the results that are known too; the plan's unless given.
        bf16: whether the CPU multiplies in bf16, as that of most published runs does.
    """

    def __init__(
        self, plan: Plan, gpu: bool, published: Path, results: Path | None = None, bf16: bool = True
    ) -> None:
        self.plan, self.gpu, self.published, self.bf16 = plan, gpu, published, bf16
        self.results = results or Path(plan.results)
        self._estimates: dict[tuple[str, Resources], Estimate] = {}

    def estimate(self, run: Run) -> Estimate:
        """Return what training a run is expected to take; nothing where the store has it."""
        name = self.identity(run)
        finished = name and (self.results / "store" / name / "result").is_dir()
        if finished or self.plan.duplicate_of(run):
            return Estimate(0, 0, 0, 0, "store")
        key = (run.settings.trained({}), run.settings.resources)
        if key not in self._estimates:
            self._estimates[key] = self._estimate(run)
        return self._estimates[key]

    def identity(self, run: Run) -> str | None:
        """Return a run's identity, None before its data or those of a parent are made."""
        manifest = self._manifest(run.recipe)
        parents = {name: self.identity(parent) for name, parent in self.plan.parents(run).items()}
        identities = {name: parent for name, parent in parents.items() if parent}
        if manifest is None or len(identities) < len(parents):
            return None
        return complete(self.plan.draft(run), manifest["digest"], identities)["identity"]

    def _estimate(self, run: Run) -> Estimate:
        spec, asked = self.plan.draft(run), run.settings.resources
        count, _ = parameters(spec["model"], self.data(run.recipe).vocabulary)
        alike, source = self._alike(spec)
        devices = max(1, asked.gpu) if self.gpu else 1
        if source == "measured":
            seconds = median(self._seconds(measured.record) for measured in alike)
        else:
            seconds = self._operations(spec) / self._rate(alike) / devices
        if self.gpu and source != "measured":
            seconds = max(seconds, UPDATE * self._updates(spec))
        memory = max((float(it.record["peak_memory_mb"]) for it in alike), default=asked.memory)
        kept = 2 * 4 * count * (1 + len(spec["checkpoints"]))
        each = devices if self.gpu else spec["training"]["threads"]
        return Estimate(seconds, seconds * each, memory, kept / 1e6, source)

    def _alike(self, spec: Draft) -> tuple[list[MeasuredRun], str]:
        """Return the measured runs that are nearest to a run, and how near they are."""
        mine = Traits.of(spec)
        nearer: list[Callable[[Traits], bool]] = [
            lambda other: other.settings == mine.settings,
            lambda other: (other.model, other.dataset) == (mine.model, mine.dataset),
            lambda other: other.model == mine.model,
            lambda other: (other.parts, other.dataset) == (mine.parts, mine.dataset),
            lambda other: other.parts == mine.parts,
            lambda other: len(other.parts ^ mine.parts) <= 2,
        ]
        for test in nearer:
            if alike := [run for run in self._measured if test(run.traits)]:
                return alike, "measured" if test is nearer[0] else "scaled"
        return [], "FLOPs"

    def _rate(self, alike: list[MeasuredRun]) -> float:
        """Return the operations per second of a process of measured runs, else what is assumed."""
        if not alike:
            return RATES["gpu" if self.gpu else "cpu"]
        # Of all together: a run of one update is all beginning.
        operations = sum(self._operations(it.spec, it.record["tokens"]) for it in alike)
        records = [measured.record for measured in alike]
        return operations / sum(self._seconds(it) * it.get("processes", 1) for it in records)

    def _seconds(self, record: RunRecord) -> float:
        """Return what a measured run would take here, as far as bf16 decides that."""
        slower = record.get("bf16") and not self.bf16 and not self.gpu
        return float(record["device_seconds"]) * (SINGLE if slower else 1)

    def _operations(self, spec: Draft, tokens: float | None = None) -> float:
        """Return the operations of a training that reads so many tokens (else: as its settings)."""
        data = self.data(spec["run"]["data"])
        counted = parameters(spec["model"], data.vocabulary)[1]
        attention = 12 * _layers_by_width(spec["model"]) * _read_at_once(spec, data)
        return (6 * counted + attention) * (tokens or tokens_read(spec["training"], data))

    def _updates(self, spec: Draft) -> float:
        training, data = spec["training"], self.data(spec["run"]["data"])
        batch = training["batch"]
        each = batch.get("tokens") or (batch.get("examples") or 1) * data.tokens / data.examples
        return tokens_read(training, data) / each

    def data(self, recipe: Recipe) -> Data:
        """Return the size of a recipe's training split, which may not be made yet."""
        manifest = self._manifest(recipe)
        if manifest:
            train: Any = manifest["splits"]["train"]
            read = train.get("target_tokens", train["tokens"])  # of pairs, what is predicted
            tokens = read + train["examples"]
            return Data(train["examples"], tokens, manifest["vocabulary_size"])
        length = recipe.get("length", LENGTH) + 1
        if isinstance(examples := recipe.get("train"), int):
            return Data(examples, examples * length, VOCABULARY)
        if data := stated(recipe, VOCABULARY):
            return data
        listed = load_sources()
        keys = [(recipe["dataset"], name) for name in files(recipe)["sources"]]
        for dataset, name in keys:
            if (dataset, name) not in listed:
                raise InputError(
                    f"{SOURCES}: {dataset}/{name} is not listed; add a line for it, with tabs "
                    f"between: {dataset}, {name}, address, other addresses, SHA-256, bytes, licence"
                )
        own = self.plan.own_files.get(data_folder(recipe), [])
        size = sum(listed[key].bytes for key in keys) + sum(map(os.path.getsize, own))
        tokens = max(size / BYTES_PER_TOKEN, length)
        return Data(tokens / length, tokens, VOCABULARY)

    def _manifest(self, recipe: Recipe) -> Manifest | None:
        return _read(Path(self.plan.encoded(data_folder(recipe), self.results), "manifest.json"))

    @cached_property
    def _measured(self) -> list[MeasuredRun]:
        """All finished runs on this kind of device whose parts the code still has, each once."""
        runs = {}
        for record in self._records():
            if record["device_seconds"] and (record["device"] != "cpu") == self.gpu:
                spec = record["spec"]
                if self._fits(spec):
                    runs[record["identity"]] = MeasuredRun(record, spec, Traits.of(spec))
        return list(runs.values())

    def _fits(self, spec: Draft) -> bool:
        """Whether the code still has the parts of a run, and they take the arguments it gives."""
        try:
            self.plan.parts.check([spec["model"], spec["objective"]], "run")
        except InputError:
            return False
        return True

    def _records(self) -> Iterator[RunRecord]:
        """Yield the records of runs, but for damaged ones."""
        for path in sorted(self.published.glob("*/runs/*.jsonl")):
            yield from cast(Iterator[RunRecord], whole_lines(path))
        for pattern in ("store/*/result/run.json", "*/runs/*/*/seed-*/run.json"):
            yield from filter(None, map(_read, sorted(self.results.glob(pattern))))


def uses_gpu(device: str) -> bool:
    """Return whether training would use a GPU; `auto` looks for one on this machine."""
    return device == "cuda" or (device == "auto" and shutil.which("nvidia-smi") is not None)


def uses_bf16() -> bool:
    """Return whether the CPU of this machine multiplies in bf16."""
    import torch

    from model.training import optimization

    return optimization.uses_bf16("bf16", torch.device("cpu"))


def tokens_read(training: Training, data: Data) -> float:
    """Return the tokens that a training reads, BOS included and padding left out."""
    if epochs := training.get("epochs"):
        return epochs * data.tokens
    batch, updates = training["batch"], training.get("updates") or 0
    each = batch.get("tokens") or (batch.get("examples") or 0) * data.tokens / data.examples
    return float(updates * each)


def _layers_by_width(node: Any) -> int:
    """Return layers x width of the part of a model that has both, 0 without one."""
    if not isinstance(node, dict):
        return 0
    if "layers" in node and "width" in node:
        return int(node["layers"] * node["width"])
    return max((_layers_by_width(child) for child in node.values()), default=0)


def _read_at_once(spec: Draft, data: Data) -> float:
    """Return how many tokens are read at once: an example, or a segment and a memory."""
    if "segment" in spec["objective"]:
        return float(spec["objective"]["segment"] + spec["model"].get("memory", 0))
    return data.tokens / data.examples


def _read(path: Path) -> Any:
    """Return the content of a JSON file, None where there is none, or it is damaged."""
    try:
        return read_verified(path)
    except (OSError, Damaged):
        return None
