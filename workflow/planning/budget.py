"""What is checked before any job: parts, budget and resources; and what was planned of it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict, cast

from workflow.planning.built import Refused, built, parameters
from workflow.planning.cost import Cost
from workflow.planning.estimator import Estimate, Estimator
from workflow.planning.nodes import is_node
from workflow.planning.plan import Plan, Run, named
from workflow.planning.resources import Resources
from workflow.runtime.atomic import write_atomically
from workflow.runtime.errors import InputError
from workflow.runtime.integrity import read_verified, with_checksum


class PlannedRun(TypedDict):
    """What a run was planned to take: an `Estimate`, and when it was made."""

    seconds: float
    units: float
    memory: float
    disk: float
    source: str
    at: str


def check_built(runs: Iterable[Run], estimator: Estimator) -> None:
    """Build what the jobs of runs build, and the user's mechanisms.

    Raises InputError for the first part that can't be built, or model that no machine holds; it
    names the file, the experiment and the key.
    """
    for name, node in estimator.plan.mechanisms.items():
        built(node, f"config: mechanisms.{name}")
    for settings in {id(run.settings): run.settings for run in runs}.values():
        measuring = {f"evaluators.{name}": node for name, node in settings.evaluators.items()}
        measuring |= {"record": settings.record} if settings.record else {}
        try:
            parameters(settings.model, estimator.data(settings.recipe).vocabulary)
            built(settings.objective, "objective")
            for key, node in measuring.items():
                for name, value in node.items():
                    if is_node(value):
                        built(value, f"{key}.{name}")
        except Refused as error:
            raise InputError(f"{settings.where}: {error}") from None


def allowance(plan: Plan) -> float | None:
    """Return the hours that the configuration allows, None where it sets no budget."""
    budget = plan.config.get("budget")
    return budget["gpu_hours"] if budget else None


def check_budget(plan: Plan, costs: Mapping[str, Cost], unit: str) -> None:
    """Raise InputError when the jobs exceed the budget, with what to leave out."""
    allowed = allowance(plan)
    dear = {name: cost.hours for name, cost in costs.items() if cost.hours > 0}
    total = sum(dear.values())
    if allowed is None or total <= allowed:
        return
    listed = ", ".join(f"{name} {_hours(hours)}" for name, hours in dear.items())
    raise InputError(
        f"these jobs need about {_hours(total)} {unit}, and budget.gpu_hours allows "
        f"{allowed:g}: nothing was started. Leave experiments out (config: experiments), the "
        f"dearest first: {listed}; or raise the budget (make plan has the details)"
    )


def too_long(plan: Plan, costs: Iterable[Cost]) -> list[str]:
    """Return a warning of the variants that may not be trained within the time of their jobs."""
    warnings = {}
    for name, asked, one in _asked(plan, costs):
        hours = asked.runtime / 60
        if one.seconds > 3600 * hours:
            warnings[name] = (
                one.seconds,
                f"Warning: a run of {name} takes about "
                f"{_hours(one.seconds / 3600)} hours ({one.source}), and resources.runtime "
                f"gives each attempt at it {_hours(hours)}; raise that or --retries, or make "
                f"the model smaller (heads, layers, width) or the training shorter.",
            )
    return _together(warnings)


def too_large(plan: Plan, costs: Iterable[Cost]) -> list[str]:
    """Return a warning of the variants that were measured to need the memory of their jobs.

    Nine tenths of it, as no two runs take the same.
    """
    warnings = {}
    for name, asked, one in _asked(plan, costs):
        if one.source == "measured" and one.memory > 0.9 * asked.memory:
            warnings[name] = (
                one.memory,
                f"Warning: a run of {name} took up to {one.memory / 1000:.1f} GB ({one.source}), "
                f"and resources.memory asks for {asked.memory / 1000:g}; raise that.",
            )
    return _together(warnings)


def _together(warnings: Mapping[str, tuple[float, str]]) -> list[str]:
    """Return the warning of the largest need, with how many variants have the same; or nothing."""
    if not warnings:
        return []
    worst = max(warnings, key=lambda name: warnings[name][0])
    others = Counter(name.partition("/")[0] for name in warnings if name != worst)
    each = ", ".join(f"{name} {count}" for name, count in others.most_common())
    more = f" The same holds for {others.total()} more variants: {each}." if others else ""
    return [warnings[worst][1] + more]


def _asked(plan: Plan, costs: Iterable[Cost]) -> Iterator[tuple[str, Resources, Estimate]]:
    """Yield each run's experiment/variant, what its job asks for, and what it will take."""
    for cost in costs:
        for key, one in cost.runs.items():
            run = plan.run(*named(key))
            yield f"{run.experiment.name}/{run.variant}", run.settings.resources, one


def save_plan(plan: Plan, costs: Iterable[Cost]) -> None:
    """Write what each run is planned to take, for the report to set against what it took.

    Plans of runs that are not to be trained now are kept.
    """
    file = plan_file(plan)
    runs = load_plan(file)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    for cost in costs:
        for key, one in cost.runs.items():
            if one.source != "store":
                runs[key] = cast(PlannedRun, {**asdict(one), "at": at})
    write_atomically(file, with_checksum({"schema": 1, "runs": runs}, indent=1, sort_keys=True))


def load_plan(file: Path) -> dict[str, PlannedRun]:
    """Return what each run was planned to take, by its key, as `save_plan` wrote it; {} before."""
    return dict(read_verified(file)["runs"]) if file.is_file() else {}


def plan_file(plan: Plan) -> Path:
    """Return the file in which `save_plan` keeps what the runs of a scale were planned to take."""
    return Path(plan.folder) / "plan.json"


def _hours(hours: float) -> str:
    return f"{hours:.2g}" if hours < 10 else f"{hours:,.0f}"
