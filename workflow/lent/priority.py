"""Which runs are packed for a lent GPU, and which of them are worth most for its time.

A run is worth, for each claim that is not decided yet, one over the planned minutes that both of
its sides take; a published run is worth nothing more.
"""

import fnmatch
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from workflow import PUBLISHED
from workflow.definitions.claims import claim_runs
from workflow.files import read_json
from workflow.lent.program import PackedJob
from workflow.planning.estimator import Estimator
from workflow.planning.identity import ResolvedSpec
from workflow.planning.plan import Plan, Run
from workflow.planning.targets import Targets
from workflow.runtime.errors import InputError, unknown

OPEN = ("undecided", "not run")
"""Verdicts of claims that a run helps to decide."""
BESIDE = 5.0
"""Seconds that a run takes beside its updates."""


def chosen(plan: Plan, patterns: Sequence[str]) -> list[Run]:
    """Return the runs of a plan that patterns name, each once.

    Raises InputError for a pattern that names none.
    """
    runs = [run for name in plan.experiments for run in plan.runs(name)]
    found: dict[str, Run] = {}
    if not patterns:
        raise InputError('no runs for the bundle; name some: make bundle RUNS="stack_language/*"')
    for pattern in patterns:
        mine = [run for run in runs if any(fnmatch.fnmatch(n, pattern) for n in names(run))]
        if not mine:
            of = pattern.partition("/")[0]
            variants = {names(run)[1] for run in runs if run.experiment.name == of}
            known = variants or {run.experiment.name for run in runs}
            raise unknown(f"scale {plan.scale}", "run", pattern, known)
        found |= {run.key: run for run in mine}
    return list(found.values())


def names(run: Run) -> tuple[str, str, str]:
    """Return what a run can be chosen by: experiment, variant and seed, or less."""
    return run.experiment.name, f"{run.experiment.name}/{run.variant}", run.key


def with_parents(plan: Plan, runs: Iterable[Run]) -> Iterator[Run]:
    """Yield runs, each after those that it starts from."""
    for run in runs:
        yield from with_parents(plan, plan.parents(run).values())
        yield run


@dataclass
class QueuedRun:
    """A run that is to be trained."""

    run: Run
    spec: ResolvedSpec
    minutes: float
    parents: list["QueuedRun"]
    """those that it waits for"""
    worth: float = 0.0
    """claims for a planned minute"""
    jobs: list[PackedJob] = field(default_factory=list)


def planned(run: Run, estimator: Estimator) -> float:
    """Return the seconds that a run is expected to take on a GPU."""
    return estimator.estimate(run).seconds + BESIDE


def lineage(one: QueuedRun) -> Iterator[QueuedRun]:
    """Yield a run after those that it waits for."""
    for parent in one.parents:
        yield from lineage(parent)
    yield one


def open_claims(plan: Plan) -> list[list[str]]:
    """Return the variants of each claim that is not decided yet, as `<experiment>/<variant>`."""
    found = []
    for name, paper in Targets(plan).papers.items():
        path = PUBLISHED / plan.scale / "claims" / f"{name}.json"
        told = read_json(path)["claims"] if path.is_file() else []
        decided = {claim["id"] for claim in told if claim["verdict"] not in OPEN}
        for claim in paper.claims["claims"]:
            if claim["id"] not in decided:
                found.append(
                    [f"{experiment}/{one}" for experiment, one in claim_runs({"claims": [claim]})]
                )
    return found


def published(plan: Plan) -> set[str]:
    """Return the identities of the scale's published runs that count: these decide nothing anew."""
    index = PUBLISHED / plan.scale / "index.json"
    runs = read_json(index)["runs"] if index.is_file() else {}
    return {run["identity"] for run in runs.values() if not run["stale"]}


def prioritise(runs: Sequence[QueuedRun], claims: Iterable[Sequence[str]]) -> None:
    """Let runs be worth, for each claim that they help to decide, one for the minutes that takes.

    A seed of a claim takes the minutes of both sides, so these stand beside each other.
    """
    for claim in claims:
        mine = [one for one in runs if names(one.run)[1] in claim]
        for seed in {one.run.seed for one in mine}:
            both = [one for one in mine if one.run.seed == seed]
            for one in both:
                one.worth += 1 / max(sum(it.minutes for it in both), 1e-6)
