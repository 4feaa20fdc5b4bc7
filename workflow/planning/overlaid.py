"""What an overlay changes of the runs behind a result, told by their settings."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from workflow.datasets.kinds.own_files import named
from workflow.planning.plan import Plan, Run
from workflow.planning.settings import NAMING

TOLD = ("data", "model", "objective", "training", "evaluators")
"""Settings that decide a number."""
EXAMPLES = "examples of each split"
"""What a limit changes, as no setting says it."""
SettingChanges = Mapping[str, list[Any]]
"""Before and after by dotted key, None for what is absent."""


def overlaid(plan: Plan, runs: Iterable[Run]) -> dict[str, SettingChanges]:
    """Return what an overlay changes of runs, by `<experiment>/<variant>`; no run that it keeps."""
    each = {f"{run.experiment.name}/{run.variant}": run for run in runs}
    found = {name: changes(plan, run) for name, run in each.items()}
    return {name: changed for name, changed in found.items() if changed}


def changes(plan: Plan, run: Run) -> dict[str, list[Any]]:
    """Return what an overlay changes of a run; keys of a parent begin with `parents.<name>.`."""
    found: dict[str, list[Any]] = {}
    if plan.limit:
        found[EXAMPLES] = ["all", plan.limit]
    if (run.experiment.overlay or plan.limit) and not run.experiment.like:
        stated = replace(run.experiment, overlay={}).resolve(run.variant, plan.config["scale"])
        for name in TOLD:
            before, after = (getattr(of, name) for of in (stated, run.settings))
            found |= _differences(name, before, named(after) if name == "data" else after)
    for name, parent in plan.parents(run).items():
        found |= {f"parents.{name}.{key}": pair for key, pair in changes(plan, parent).items()}
    return found


def _differences(key: str, before: Any, after: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yield where two settings differ, key by key; another part or dataset as a whole."""
    if before == after:
        return
    both = isinstance(before, Mapping) and isinstance(after, Mapping)
    if not both or any(before.get(name) != after.get(name) for name in NAMING):
        yield key, [before, after]
        return
    for name in dict.fromkeys((*before, *after)):
        yield from _differences(f"{key}.{name}", before.get(name), after.get(name))
