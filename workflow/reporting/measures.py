"""The measures of runs, grouped by variant, with the provenance of each run."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from workflow import ROOT
from workflow.definitions.tables import Metric
from workflow.files import read_json
from workflow.planning.equivalents import (
    ALWAYS,
    STATED,
    TIMES,
    VERDICTS,
    Equivalents,
    ProofVerdict,
    worst,
)
from workflow.planning.identity import Labels
from workflow.planning.run_files import EvaluatorRecord, MeasuresRecord, RunRecord, ScalarRecord
from workflow.reporting.bounds import beyond
from workflow.reporting.cells import RunOrigin
from workflow.runtime.errors import ReportingError

BY = "by earlier code"
CPU = "cpu"
RISEN = 1.05
"""A training whose loss ends at more than this times what it began with is marked."""
OF_OTHERS = re.compile(r"alpha_(alpha|beta)|xi_(?!star)")
"""What of `model.probes.learning.agreements.learning` is read from the records of its `others`."""
EARLIER: Mapping[ProofVerdict, str] = {
    "same to rounding": "same to rounding",
    STATED: "stated to be the same, not proven",
}
"""What is said, behind `BY`, of a run by code that is not the newest of those that do the same."""


@dataclass(frozen=True)
class MetricValue:
    """A value of a metric."""

    value: float | str
    """A list of words is a text."""
    std: float | None = None
    """Over the examples of the run."""
    n: int | None = None
    """Number of examples."""
    unit: str = ""
    """As the evaluator says."""


@dataclass(frozen=True)
class EvaluatedRun:
    """What was measured on one run."""

    path: Path
    identity: str
    run: Labels
    evaluators: Mapping[str, EvaluatorRecord]
    provenance: RunRecord = field(default_factory=RunRecord)
    records: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The runs whose records were read, by `<evaluator>.<argument>`."""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Evaluators left out, as they were timed on another kind of machine than others' runs, or by
    earlier code, with which of both."""

    losses: Mapping[str, float] = field(default_factory=dict)
    """The training loss of the `first` updates and of the `last`; nothing of older measures."""

    @property
    def key(self) -> str:
        """The run as `<experiment>/<variant>/seed-<n>`."""
        return f"{self.run['experiment']}/{self.run['variant']}/seed-{self.seed}"

    @property
    def seed(self) -> int:
        """The run's seed."""
        return int(self.run["seed"])

    def scalar(self, name: str) -> MetricValue | None:
        """Return the value of `evaluator.metric`, or None when it has none that is possible.

        That of `evaluator.metric>95` is 1 where the metric is above 95, else 0.
        """
        told = self._scalar(name)
        if told is None or (value := told.get("value")) is None or self.impossible(name):
            return None
        if bar := name.partition(">")[2]:
            return MetricValue(float(float(value) > float(bar)), unit="fraction")
        return MetricValue(value, told.get("std"), told.get("n"), told.get("unit", ""))

    def number(self, name: str) -> float | None:
        """Return `evaluator.metric` as a number, or None when it has none.

        A text, such as what a score needs to be computed, is no number.
        """
        scalar = self.scalar(name)
        return None if scalar is None or isinstance(scalar.value, str) else float(scalar.value)

    def of_metric(self, metric: Metric) -> MetricValue | None:
        """Return the value of a metric of `tables.yaml`, or None when it has none.

        With the key `of` the value is the list of that word, as `this, that`, or – where the
        evaluator was run and has no such word: its array `word` has the words, and its other
        arrays a list for each of them, in this order.
        """
        if "of" not in metric:
            return self.scalar(metric["measure"])
        evaluator = str(metric["measure"]).partition(".")[0]
        words, lists = self.array(f"{evaluator}.word"), self.array(metric["measure"])
        if words is None or lists is None:
            return None
        if metric["of"] not in words:
            return MetricValue("–")
        listed = lists[words.index(metric["of"])]
        return MetricValue(", ".join(listed), n=len(listed)) if listed else None

    def outcome(self, name: str) -> int | None:
        """Return `evaluator.metric` of a measure that is 0 or 1, or None when it has no value.

        Raises ReportingError when the value is another one.
        """
        scalar = self.scalar(name)
        if scalar is None:
            return None
        if scalar.value not in (0, 1):
            raise ReportingError(
                f"{self.path}: {name} is {scalar.value}, but a proportion counts values of 0 "
                "and 1; name a measure that has only these."
            )
        return int(scalar.value)

    def undefined(self, name: str) -> bool:
        """Say whether `evaluator.metric` was measured, and has no value.

        It is a mean over nothing, or was an impossible value.
        """
        told = self._scalar(name)
        return told is not None and (told.get("value") is None or bool(self.impossible(name)))

    def impossible(self, name: str) -> str:
        """Say which run's `evaluator.metric` is beyond which bound; nothing where it is within."""
        evaluator, _, metric = name.partition(">")[0].partition(".")
        fault = beyond(self.evaluators.get(evaluator, {}).get("scalars", {}), metric)
        return f"{name} of {self.key} {fault}" if fault else ""

    @property
    def diverged(self) -> str:
        """Say that training ended with a higher loss than it began with; nothing where it fell."""
        first, last = (self.losses.get(name, 0.0) for name in ("first", "last"))
        if last <= RISEN * first:
            return ""
        said = f"{last:.3g} after {first:.3g} at its first updates"
        return f"the loss of {self.key} rose in training ({said}): it diverged, or learned nothing"

    def left_out(self, name: str) -> str:
        """Return how `evaluator.metric` was timed, where that is not as others' runs were."""
        return self.elsewhere.get(name.partition(".")[0], "")

    def timed(self, evaluator: str) -> bool:
        """Say whether an evaluator timed anything, by the units of what it returns."""
        scalars = self.evaluators.get(evaluator, {}).get("scalars", {})
        return any(one.get("unit") in TIMES for one in scalars.values())

    def timed_code(self, evaluator: str) -> frozenset[str]:
        """Return the hashes of the code that an evaluator timed and was: the model's and its own.

        What the model was trained by does not matter to its speed.
        """
        told = self.evaluators[evaluator]
        model = told.get("built", self.provenance.get("spec", {}).get("code"))
        return frozenset(filter(None, (told.get("ran", told.get("code")), model)))

    def partners(self, name: str) -> list[str]:
        """Return the other runs whose records the evaluator of `evaluator.metric` read."""
        evaluator = name.partition(".")[0]
        read = [
            key
            for argument, keys in self.records.items()
            if argument.partition(".")[0] == evaluator
            for key in keys
        ]
        return [key for key in dict.fromkeys(read) if key != self.key]

    def read(self, name: str) -> set[str]:
        """Return those of its partners from which `evaluator.metric` is, as not every metric is."""
        others = self.records.get(f"{name.partition('.')[0]}.others", ())
        return {*self.partners(name)}.difference(() if OF_OTHERS.search(name) else others)

    def array(self, name: str) -> Any:
        """Return the array `evaluator.name` (a list, or a mapping of lists), or None."""
        evaluator, _, metric = name.partition(".")
        return self.evaluators.get(evaluator, {}).get("arrays", {}).get(metric)

    def beyond(self, control: "EvaluatedRun", name: str) -> "EvaluatedRun":
        """Return this measure with `evaluator.name`, a number or an array, less a control's."""
        evaluator, _, metric = name.partition(".")
        told: EvaluatorRecord = {**self.evaluators.get(evaluator, {})}
        value, other = self.number(name), control.number(name)
        if value is not None and other is not None:
            scalar: ScalarRecord = {**told["scalars"][metric], "value": value - other}
            told["scalars"] = {**told["scalars"], metric: scalar}
        ours, theirs = self.array(name), control.array(name)
        if ours is not None and theirs is not None:
            if len(ours) != len(theirs):
                raise ReportingError(
                    f"{self.path} and {control.path} measured {len(ours)} and {len(theirs)} "
                    "examples; measure both runs on the same data."
                )
            apart = [
                None if None in pair else pair[0] - pair[1]
                for pair in zip(ours, theirs, strict=True)
            ]
            told["arrays"] = {**told["arrays"], metric: apart}
        return replace(self, evaluators={**self.evaluators, evaluator: told})

    def _scalar(self, name: str) -> ScalarRecord | None:
        evaluator, _, metric = name.partition(">")[0].partition(".")
        return self.evaluators.get(evaluator, {}).get("scalars", {}).get(metric)

    def setting(self, key: str) -> Any:
        """Return a setting of the run by dotted key (`data.train`), or None when it has none.

        The completed options of the data are among the labels; everything else is in the spec.
        """
        spec = self.provenance.get("spec", {})
        for node in ({**spec.get("run", {}), **self.run}, spec):
            value: Any = node
            for part in key.split("."):
                value = value.get(part) if isinstance(value, Mapping) else None
            if value is not None:
                return value
        return None


class Measures:
    """The measures of one scale, by (experiment, variant), in the order of their seeds."""

    def __init__(self, measures: Iterable[EvaluatedRun]) -> None:
        """Group measures; ReportingError when two files claim the same run."""
        self.groups: dict[tuple[str, str], list[EvaluatedRun]] = {}
        for measure in measures:
            key = (str(measure.run["experiment"]), str(measure.run["variant"]))
            group = self.groups.setdefault(key, [])
            for other in group:
                if other.seed == measure.seed:
                    raise ReportingError(
                        f"{measure.path} and {other.path} measure the same seed; give one of them."
                    )
            group.append(measure)
        for key, group in self.groups.items():
            group = timed_alike(sorted(group, key=lambda measure: measure.seed))
            self.groups[key] = [_with_chance(one, group) for one in group]

    def of(self, experiment: str, variant: str) -> list[EvaluatedRun]:
        """Return the measures of a variant by seed; empty when it was not run."""
        return self.groups.get((experiment, variant), [])

    @classmethod
    def read(cls, measures: Iterable[Path], runs: Iterable[Path] = ()) -> "Measures":
        """Read measures files, and the run.json files that say where they come from."""
        return cls(read_measures(measures, runs))


def read_measures(measures: Iterable[Path], runs: Iterable[Path] = ()) -> list[EvaluatedRun]:
    """Read measures files, with the run.json files of their runs."""
    provenance = {run.get("identity"): run for run in map(read_json, runs)}
    return [read_measure(path, provenance) for path in measures]


def timed_alike(group: list[EvaluatedRun]) -> list[EvaluatedRun]:
    """Return the measures of a variant, with the timings of one kind of machine, by one code.

    Speeds on a CPU and on a GPU have no mean. It is the CPU where a run has one, so that the rows
    of a table are alike; else the kind of most runs. Of code it is the newest.
    """
    group = [*group]
    for name in {name: None for measure in group for name in measure.evaluators}:
        timed = [measure for measure in group if measure.timed(name)]
        devices = Counter(measure.provenance.get("device") for measure in timed)
        usual = max(devices, key=lambda one: (one == "cpu", devices[one]), default=None)
        here = [measure for measure in timed if measure.provenance.get("device") == usual]
        newest = max(here, key=lambda it: _in_use(it.timed_code(name)), default=None)
        for at, one in enumerate(group):
            if one.timed(name) and one.provenance.get("device") != usual:
                group[at] = _without(one, name, "on another kind of machine")
            elif newest and one.timed(name) and not comparable([(one, name), (newest, name)]):
                group[at] = _without(one, name, BY)
    return group


def _with_chance(run: EvaluatedRun, group: Iterable[EvaluatedRun]) -> EvaluatedRun:
    """Return a run with `xi_<pair>_chance` beside each `xi_<pair>`: xi of a random order.

    It is the mean performance of the other runs where they first agree with this one more than a
    random order does. Of correlations there is none: by chance they are 0.
    """
    of_seed, evaluators = {one.key: one for one in group}, dict(run.evaluators)
    for name, told in run.evaluators.items():
        others = [of_seed.get(key) for key in run.records.get(f"{name}.others", ())]
        curves = [one.array(f"{name}.performance_curve") for one in others if one]
        along = told.get("arrays", {}).get("alpha_hat_curve")
        if not along or not all(curves) or not others or len(curves) < len(others):
            continue
        found: dict[str, ScalarRecord] = {}
        performed = [sum(point) / len(point) for point in zip(*curves, strict=True)]
        for metric, xi in told["scalars"].items():
            chance = run.number(f"{name}.{metric.removeprefix('xi_')}_chance")
            if metric.startswith("xi_") and chance is not None:
                beyond = (at for at, agreed in enumerate(along) if agreed > chance)
                if (first := next(beyond, None)) is not None:
                    found[f"{metric}_chance"] = {**xi, "value": performed[first]}
        evaluators[name] = {**told, "scalars": {**told["scalars"], **found}}
    return replace(run, evaluators=evaluators)


def usual_device(runs: Iterable[Sequence[EvaluatedRun]]) -> str:
    """Return what most runs, or groups of runs, were trained on; of as many, a CPU.

    A CPU and a GPU add up in other orders, from which training makes other models: no number mixes
    them. A group that does counts for neither.
    """
    devices = [{device_of(run) for run in group} for group in runs]
    counts = Counter(one.pop() for one in devices if len(one) == 1)
    return max(counts, key=lambda device: (counts[device], device == CPU), default=CPU)


def by_usual_device(
    runs: Iterable[EvaluatedRun], among: Iterable[EvaluatedRun] | None = None
) -> tuple[list[EvaluatedRun], list[EvaluatedRun]]:
    """Return the runs of the device that most of `among` (else of them) are of, and the others."""
    runs = list(runs)
    device = usual_device([run] for run in (runs if among is None else among))
    own = [run for run in runs if device_of(run) == device]
    return own, [run for run in runs if device_of(run) != device]


def device_of(run: EvaluatedRun) -> str:
    """Return what a run was trained on: `cpu`, or the name of a GPU."""
    return str(run.provenance.get("device", CPU))


def comparable(timings: Iterable[tuple[EvaluatedRun, str]]) -> bool:
    """Say whether timings are by code that was in use at one time, of each its measure and name.

    A proof that new code computes what the old did says nothing of its speed.
    """
    codes = {measure.timed_code(name.partition(".")[0]) for measure, name in timings}
    begun, left = _in_use({code for both in codes for code in both})
    return len(codes) <= 1 or begun < left


def _in_use(codes: Iterable[str]) -> tuple[str, str]:
    """Return the dates from and until which all of some code was in use."""
    lines = Equivalents.read(ROOT)
    begun, left = zip(ALWAYS, *map(lines.current, codes), strict=True)
    return max(begun), min(left)


def _without(measure: EvaluatedRun, name: str, why: str) -> EvaluatedRun:
    others = {one: told for one, told in measure.evaluators.items() if one != name}
    return replace(measure, evaluators=others, elsewhere={**measure.elsewhere, name: why})


def read_measure(path: Path, provenance: Mapping[Any, RunRecord]) -> EvaluatedRun:
    """Read one measures file; ReportingError names the file when its schema or a key is wrong."""
    content = read_json(path)
    return measure_of(path, content, provenance.get(content.get("identity"), {}))


def measure_of(path: Path, content: MeasuresRecord, run: RunRecord) -> EvaluatedRun:
    """Return the measures in the content of a file, with the run that they are of.

    Raises ReportingError when its schema or a key is wrong.
    """
    if content.get("schema") != 1:
        raise ReportingError(f"{path}: expected schema 1; measure this run again.")
    missing = {"identity", "run", "evaluators"} - set(content)
    missing |= {"experiment", "variant", "seed"} - set(content.get("run", {}))
    if missing:
        raise ReportingError(f"{path}: {', '.join(sorted(missing))} missing; measure it again.")
    kept = {name: _kept(told) for name, told in content["evaluators"].items()}
    return EvaluatedRun(
        path,
        content["identity"],
        content["run"],
        kept,
        run,
        content.get("records", {}),
        losses=content.get("losses", {}),
    )


def _kept(told: EvaluatorRecord) -> EvaluatorRecord:
    """Return what an evaluator found, without what its newer code does not give any more."""
    dropped = Equivalents.read(ROOT).dropped(told.get("code", ""))
    if not dropped:
        return told
    scalars, arrays = told.get("scalars", {}), told.get("arrays", {})
    return {
        **told,
        "scalars": {name: it for name, it in scalars.items() if name not in dropped},
        "arrays": {name: it for name, it in arrays.items() if name not in dropped},
    }


def numbers_of(behind: Iterable[EvaluatedRun], name: str) -> list[float]:
    """Return `evaluator.metric` of those runs that have a value."""
    return [value for run in behind if (value := run.number(name)) is not None]


def partners(behind: Iterable[tuple[EvaluatedRun, str]]) -> list[str]:
    """Return the runs that others were compared with; of each of these its measure and the name.

    They are `<experiment>/<variant>/seed-<n>`: the runs whose records the evaluators read.
    """
    return sorted({key for measure, name in behind for key in measure.partners(name)})


def crossed(behind: Iterable[tuple[EvaluatedRun, str]]) -> bool:
    """Say whether the values of several seeds are of the same trainings, each beside the others.

    Then they are not independent. Of each run its measure and the name are given. A value of a run
    is of the trainings whose records were read for it; two runs of a variant share one where they
    read the same, or one reads the other's.
    """
    groups: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(dict)
    for measure, name in behind:
        groups[measure.run["variant"], name][measure.key] = {measure.key, *measure.read(name)}
    counts = (Counter(key for read in group.values() for key in read) for group in groups.values())
    return any(count > 1 for each in counts for count in each.values())


def provenance(measure: EvaluatedRun) -> RunOrigin:
    """Return where a run comes from: its labels, code, data, commit and hardware.

    With `earlier`, where there is anything to say of that.
    """
    run = measure.provenance
    known = ("code", "commit", "dirty", "torch", "cuda", "python", "cpu", "device", "finished")
    labels = {
        name: dict(measure.run).get(name) for name in ("experiment", "variant", "seed", "scale")
    }
    spec = run.get("spec", {})
    settings = {
        "data": spec.get("data", {}).get("digest"),
        "precision": spec.get("training", {}).get("precision"),
    }
    mark = {"earlier": said} if (said := earlier(run)) else {}
    origin = {**labels, **settings, **{name: dict(run).get(name) for name in known}, **mark}
    return cast(RunOrigin, origin)


def ran(run: RunRecord) -> set[str]:
    """Return the hashes of the code that trained a run, by its `run.json`: several if resumed."""
    segments = [run.get("began", {}), *run.get("continuations", ())]
    return {run["code"], *(one["code"] for one in segments if "code" in one)}


def earlier(run: RunRecord) -> str:
    """Return what is to be said of a run by other code than the newest of those that do the same.

    Nothing where that makes the same bits.
    """
    if "code" not in run:
        return ""
    lines = Equivalents.read(ROOT)
    chains = [lines.chain(code, lines.newest(run["spec"]["code"])) for code in ran(run)]
    verdict = max((worst(one or ()) for one in chains), key=VERDICTS.index)
    return f"{BY}, {EARLIER[verdict]}" if verdict in EARLIER else ""
