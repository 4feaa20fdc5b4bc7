"""Whether the budget and the resources of jobs allow what runs cost, and what was planned of it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workflow.planning.cost import Cost, Estimate
from workflow.planning.plan import Plan, named
from workflow.planning.settings import Resources
from workflow.runtime.atomic import write_atomically
from workflow.runtime.errors import InputError
from workflow.runtime.integrity import read_verified, with_checksum


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
    """Return a warning for each variant that may not be trained within the time of its job."""
    warnings = {}
    for name, asked, one in _asked(plan, costs):
        hours = asked.runtime / 60
        if one.seconds > 3600 * hours:
            warnings[name] = (
                f"Warning: a run of {name} takes about "
                f"{_hours(one.seconds / 3600)} hours ({one.source}), and resources.runtime "
                f"gives each attempt at it {_hours(hours)}; raise that or --retries, or make "
                f"the model smaller (heads, layers, width) or the training shorter."
            )
    return list(warnings.values())


def too_large(plan: Plan, costs: Iterable[Cost]) -> list[str]:
    """Return a warning for each variant that was measured to need the memory of its job, or more.

    Nine tenths of it, as no two runs take the same.
    """
    warnings = {}
    for name, asked, one in _asked(plan, costs):
        if one.source == "measured" and one.memory > 0.9 * asked.memory:
            warnings[name] = (
                f"Warning: a run of {name} took up to {one.memory / 1000:.1f} GB ({one.source}), "
                f"and resources.memory asks for {asked.memory / 1000:g}; raise that."
            )
    return list(warnings.values())


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
                runs[key] = {**asdict(one), "at": at}
    write_atomically(file, with_checksum({"schema": 1, "runs": runs}, indent=1, sort_keys=True))


def load_plan(file: Path) -> dict[str, Any]:
    """Return what each run was planned to take, by its key, as `save_plan` wrote it; {} before."""
    return dict(read_verified(file)["runs"]) if file.is_file() else {}


def plan_file(plan: Plan) -> Path:
    """Return the file in which `save_plan` keeps what the runs of a scale were planned to take."""
    return Path(plan.folder) / "plan.json"


def _hours(hours: float) -> str:
    return f"{hours:.2g}" if hours < 10 else f"{hours:.0f}"
