"""The run that a name means: one of the results, of the store, or published with its weights."""

import re
from pathlib import Path

from workflow import PUBLISHED
from workflow.planning.plan import Plan, named
from workflow.reporting.explorer.shown import ExplorerRun
from workflow.reporting.publication.current import planned
from workflow.reporting.publication.results import published, with_staleness
from workflow.reporting.publication.weights import published_runs
from workflow.runtime.errors import InputError, unknown
from workflow.scripts.job import check_run_code


def find(plan: Plan, name: str) -> ExplorerRun:
    """Return a run by `<experiment>/<variant>/seed-<n>` or by its identity.

    Raises UserError where there is none, or its code has changed since it was trained.
    """
    if not re.fullmatch(r"[\w-]+/[\w-]+/seed-\d+|[0-9a-f]{16}", name):
        raise InputError(f'RUN="{name}": write <experiment>/<variant>/seed-<n>, or an identity')
    runs = Path(plan.folder) / "runs"
    for folder in (runs / name, Path(plan.results) / "store" / name / "result"):
        if (folder / "run.json").is_file():
            run = ExplorerRun.of(folder / "run.json")
            check_run_code(run.record["spec"])
            return run
    folder = PUBLISHED / plan.scale
    kept = published_runs(folder, with_staleness(published(folder), planned(plan)))
    by_name = {one.record["identity"]: one for one in kept} | {one.key: one for one in kept}
    if name not in by_name:
        if "/" in name and is_planned(plan, name):
            raise InputError(
                f'RUN="{name}" is not trained here at scale {plan.scale}; make run '
                f"SCALE={plan.scale} ONLY={plan.folder}/measures/{name}.json trains it"
            )
        here = {str(path.parent.relative_to(runs)) for path in runs.glob("*/*/*/run.json")}
        raise unknown("RUN", f"run of scale {plan.scale}", name, {*here, *by_name})
    return by_name[name]


def is_planned(plan: Plan, name: str) -> bool:
    """Whether a scale would run what a name means."""
    experiment, variant, seed = named(name)
    return experiment in plan.experiments and any(
        run.seed == seed for run in plan.runs(experiment, [variant])
    )
