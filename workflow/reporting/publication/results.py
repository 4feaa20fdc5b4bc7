"""Results: runs with what was measured on them, as a plan made them or as they were published."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from workflow.files import read_json
from workflow.planning.plan import Plan
from workflow.planning.run_files import EvaluatorRecord, MeasuresRecord, RunRecord
from workflow.reporting.measures import EvaluatedRun, measure_of
from workflow.reporting.publication.current import (
    OTHER_ON_GPU,
    Now,
    RunFeatures,
    on_gpu,
    outdated,
    traits,
)
from workflow.reporting.texts import FOLDER, put_back
from workflow.runtime.errors import ReportingError
from workflow.runtime.integrity import check_files
from workflow.runtime.json_lines import read_lines

INDEX = "index.json"
"""Tells of each published run, and the checksum of what is not sealed as a whole."""
RUNS = "runs"
"""The folder where runs are published: a line each, with its measures, a file an experiment."""
DIGITS = 4
"""Decimals kept of per-example arrays."""
WITHHELD = ("pictures",)
"""Per-example arrays that are published empty: photos belong to those who took them."""


@dataclass(frozen=True)
class RunResult:
    """A run with its measures."""

    path: Path
    """Of its measures; where they are published, `<file>#<line's key>`."""
    measures: MeasuresRecord
    run: RunRecord
    stale: str | None = None
    """Why it no longer counts, if so."""

    @property
    def identity(self) -> str:
        """The identity of the run."""
        return str(self.measures["identity"])

    @property
    def traits(self) -> RunFeatures:
        """What the run was made of."""
        evaluators = self.measures["evaluators"]
        return {**traits(self.run["spec"], evaluators), **on_gpu(self.run, evaluators)}

    @property
    def contents(self) -> str:
        """The digest of the data that the run was trained on."""
        return str(self.run["spec"]["data"]["digest"])

    @property
    def measure(self) -> EvaluatedRun:
        """What tables, figures and claims are made of."""
        return measure_of(self.path, self.measures, self.run)

    def read(self) -> set[tuple[str, str]]:
        """Return which runs' records its evaluators read, each with its argument."""
        records = self.measures.get("records", {})
        return {(argument, key) for argument, keys in records.items() for key in keys}

    @property
    def trained(self) -> dict[str, str]:
        """When, on what and with which commit the run was trained."""
        return {name: str(dict(self.run).get(name)) for name in ("finished", "device", "commit")}

    @property
    def again(self) -> str:
        """In the place of which other training the run is published, or nothing."""
        trainings = (self.trained, *self.run.get("replaces", ()))
        now, *earlier = (f"{one['device']}, {one['finished'][:10]}" for one in trainings)
        return f"{now}, in the place of {'; '.join(earlier)}" if earlier else ""

    def publishable(self, before: "RunResult | None" = None) -> "RunResult":
        """Return it with its per-example arrays rounded, those of photos empty.

        `replaces` of the run tells of other trainings of its identity that were published before.
        """
        evaluators: dict[str, EvaluatorRecord] = {
            evaluator: {**told, "arrays": _kept(told.get("arrays", {}))}
            for evaluator, told in self.measures["evaluators"].items()
        }
        measures: MeasuresRecord = {**self.measures, "evaluators": evaluators}
        run: RunRecord = {**self.run, "results": {**self.run["files"], **self.run["checkpoints"]}}
        del run["files"], run["checkpoints"]
        if before and before.identity == self.identity:
            earlier = [*before.run.get("replaces", [])]
            earlier += [before.trained] if before.trained != self.trained else []
            if earlier:
                run["replaces"] = earlier
        return replace(self, measures=measures, run=run)


def _kept(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: [""] * len(values) if name in WITHHELD else _round(values)
        for name, values in arrays.items()
    }


def _round(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, list):
        return [_round(item) for item in value]
    if isinstance(value, dict):
        return {key: _round(item) for key, item in value.items()}
    return value


def planned_runs(plan: Plan) -> list[str]:
    """Return the runs of a plan, as `<experiment>/<variant>/seed-<n>`."""
    return [run.key for experiment in plan.selected for run in plan.runs(experiment)]


def measures_of(plan: Plan, key: str) -> Path:
    """Return the file of a run's measures, which need not be there."""
    return Path(plan.folder) / "measures" / f"{key}.json"


def measured(plan: Plan, key: str) -> RunResult | None:
    """Return a run as it was measured, None where it was not.

    Whether it still counts today is not asked. Raises ReportingError when its run.json is missing
    or of another run than the measures.
    """
    path = measures_of(plan, key)
    run_path = Path(plan.folder) / "runs" / key / "run.json"
    if not path.is_file():
        return None
    result = RunResult(path, read_json(path), read_json(run_path))
    if result.measures.get("identity") != result.run.get("identity"):
        raise ReportingError(f"{path} and {run_path} are of different runs; run the job again.")
    return result


def given(plan: Plan, now: Now) -> dict[str, RunResult]:
    """Return the runs of a plan that were measured, by `<experiment>/<variant>/seed-<n>`.

    Left-overs of other seeds or variants are not looked at.

    Raises ReportingError when the measures of one are broken or don't count.
    """
    results = {key: result for key in planned_runs(plan) if (result := measured(plan, key))}
    for key, result in results.items():
        if reason := outdated(result.traits, now(key)):
            again = "run this scale again"
            if reason == OTHER_ON_GPU:  # which the store would still find
                again = f"make forget RUN={result.identity}, {again}"
            raise ReportingError(f"{result.path}: {reason}; {again}, then publish.")
    return results


def published(folder: Path) -> dict[str, RunResult]:
    """Return the runs published below `docs/reproduction/<scale>`; empty before the first time.

    Raises Damaged when a file or a line is not what was published.
    """
    if not (folder / INDEX).is_file():
        return {}
    index = read_json(folder / INDEX)
    known = index["runs"]
    results = {}
    for experiment, keys in by_experiment(known).items():
        runs = read_lines(lines_of(folder, RUNS, experiment), keys)
        file = lines_of(folder, FOLDER, experiment)
        listed = file.relative_to(folder).as_posix() in index["files"]
        texts = read_lines(file) if listed else {}
        for line, key in keys.items():
            run = runs[line]
            measures = put_back(run.pop("measures"), texts, file)
            place, stale = published_at(folder, key), known[key]["stale"]
            results[key] = RunResult(place, measures, cast(RunRecord, run), stale)
    check_files(folder, index["files"])
    return results


def by_experiment(keys: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return runs by experiment, and there by the key of their line, `<variant>/seed-<n>`."""
    found: dict[str, dict[str, str]] = {}
    for key in keys:
        experiment, _, line = key.partition("/")
        found.setdefault(experiment, {})[line] = key
    return found


def lines_of(folder: Path, kind: str, experiment: str) -> Path:
    """Return the file of the runs, or of the texts, of an experiment."""
    return folder / kind / f"{experiment}.jsonl"


def published_at(folder: Path, key: str) -> Path:
    """Return where a run and its measures are published: a file, # and the key of the line."""
    experiment, _, line = key.partition("/")
    return Path(f"{lines_of(folder, RUNS, experiment)}#{line}")


def key_at(place: str) -> str:
    """Return the run that is published at a place."""
    file, _, line = place.partition("#")
    return f"{Path(file).stem}/{line}"


def combine(old: Mapping[str, RunResult], new: Mapping[str, RunResult]) -> dict[str, RunResult]:
    """Return what is published once `new` has joined `old`; neither is changed.

    A run that is published already with the same identity and measuring code is kept as it is,
    unless its evaluators have read records of more runs now, or it is stale since it is of other
    code on a GPU.
    """
    merged = dict(old)
    for key, result in new.items():
        before = old.get(key)
        same = before is not None and (
            before.identity == result.identity
            and before.traits["measuring code"] == result.traits["measuring code"]
            and result.read() <= before.read()
            and before.stale != OTHER_ON_GPU
        )
        if not same:
            merged[key] = result.publishable(before)
    return dict(sorted(merged.items()))


def with_staleness(results: Mapping[str, RunResult], now: Now) -> dict[str, RunResult]:
    """Return the results with `stale` as it is today.

    A run is stale when its variant is gone or made of something else today, or when the data of a
    later run of the variant have other contents.
    """
    today = {key: replace(it, stale=outdated(it.traits, now(key))) for key, it in results.items()}
    latest: dict[str, tuple[str, str]] = {}
    for key, result in today.items():
        if not result.stale:
            made = (str(result.run.get("finished")), result.contents)
            latest[variant_of(key)] = max(made, latest.get(variant_of(key), made))
    for key, result in today.items():
        if not result.stale and result.contents != latest[variant_of(key)][1]:
            today[key] = replace(result, stale="of data with other contents")
    return today


def variant_of(key: str) -> str:
    """Return `<experiment>/<variant>` of a run."""
    return key.rpartition("/")[0]
