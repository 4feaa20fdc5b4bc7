"""What the jobs that Snakemake would run cost, by experiment, and whether the budget allows it."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from model.store.checksums import read_sealed, sealed
from model.store.files import write_atomically
from workflow.errors import InputError
from workflow.planning.estimate import Estimate, Estimator
from workflow.planning.plan import Plan, Run, named
from workflow.planning.settings import Resources

TRAIN = ("train", "train_locally")


@dataclass(frozen=True)
class Job:
    """A job that Snakemake would run."""

    rule: str
    wildcards: Mapping[str, str]


@dataclass
class Cost:
    """What an experiment's jobs will take; other jobs (data, tables) stand under an empty name."""

    experiment: str
    jobs: int = 0
    runs: dict[str, Estimate] = field(default_factory=dict)
    """each run to train by its key"""

    @property
    def hours(self) -> float:
        """GPU-hours, or core-hours without a GPU."""
        return sum(one.units for one in self.runs.values()) / 3600

    @property
    def disk(self) -> float:
        """In MB."""
        return sum(one.disk for one in self.runs.values())

    @property
    def memory(self) -> float:
        """Of the largest run, in MB."""
        return max((one.memory for one in self.runs.values()), default=0)

    def wall(self, parallel: int) -> float:
        """Return hours with so many runs at once, none of which waits for another."""
        seconds = [one.seconds for one in self.runs.values()]
        return max(sum(seconds) / parallel, max(seconds, default=0)) / 3600


def uses_gpu(device: str) -> bool:
    """Return whether training would use a GPU; `auto` looks for one on this machine."""
    return device == "cuda" or (device == "auto" and shutil.which("nvidia-smi") is not None)


def trained(plan: Plan, job: Job) -> Run | None:
    """Return the run that a job trains, None of another job."""
    if job.rule not in TRAIN:
        return None
    told = job.wildcards
    return plan.run(told["experiment"], told["variant"], int(told["seed"]))


def costs(plan: Plan, jobs: Iterable[Job], estimator: Estimator) -> list[Cost]:
    """Return the cost of each experiment with jobs, the dearest first, other jobs last."""
    found: dict[str, Cost] = {}
    for job in jobs:
        name = job.wildcards.get("experiment", "")
        cost = found.setdefault(name, Cost(name))
        cost.jobs += 1
        if run := trained(plan, job):
            cost.runs[run.key] = estimator.estimate(run)
    return sorted(found.values(), key=lambda cost: (not cost.experiment, -cost.hours))


def allowance(plan: Plan) -> float | None:
    """Return the hours that the configuration allows, None where it sets no budget."""
    budget = plan.config.get("budget")
    return budget["gpu_hours"] if budget else None


def check_budget(plan: Plan, found: Iterable[Cost], unit: str) -> None:
    """Raise InputError when the jobs exceed the budget, with what to leave out."""
    allowed = allowance(plan)
    dear = [cost for cost in found if cost.hours > 0]
    total = sum(cost.hours for cost in dear)
    if allowed is None or total <= allowed:
        return
    listed = ", ".join(f"{cost.experiment} {_hours(cost.hours)}" for cost in dear)
    raise InputError(
        f"these jobs need about {_hours(total)} {unit}, and budget.gpu_hours allows "
        f"{allowed:g}: nothing was started. Leave experiments out (config: experiments), the "
        f"dearest first: {listed}; or raise the budget (make plan has the details)"
    )


def too_long(plan: Plan, found: Iterable[Cost]) -> list[str]:
    """Return a warning for each variant that may not be trained within the time of its job."""
    warnings = {}
    for name, asked, one in _asked(plan, found):
        hours = asked.runtime / 60
        if one.seconds > 3600 * hours:
            warnings[name] = (
                f"Warning: a run of {name} takes about "
                f"{_hours(one.seconds / 3600)} hours ({one.source}), and resources.runtime "
                f"gives each attempt at it {_hours(hours)}; raise that or --retries, or make "
                f"the model smaller (heads, layers, width) or the training shorter."
            )
    return list(warnings.values())


def too_large(plan: Plan, found: Iterable[Cost]) -> list[str]:
    """Return a warning for each variant that was measured to need the memory of its job, or more.

    Nine tenths of it, as no two runs take the same.
    """
    warnings = {}
    for name, asked, one in _asked(plan, found):
        if one.source == "measured" and one.memory > 0.9 * asked.memory:
            warnings[name] = (
                f"Warning: a run of {name} took up to {one.memory / 1000:.1f} GB ({one.source}), "
                f"and resources.memory asks for {asked.memory / 1000:g}; raise that."
            )
    return list(warnings.values())


def _asked(plan: Plan, found: Iterable[Cost]) -> Iterator[tuple[str, Resources, Estimate]]:
    """Yield each run's experiment/variant, what its job asks for, and what it will take."""
    for cost in found:
        for key, one in cost.runs.items():
            run = plan.run(*named(key))
            yield f"{run.experiment.name}/{run.variant}", run.settings.resources, one


def remember(plan: Plan, found: Iterable[Cost]) -> None:
    """Write what each run is planned to take, for the report to set against what it took.

    Plans of runs that are not to be trained now are kept.
    """
    file = plan_file(plan)
    runs = recall(file)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    for cost in found:
        for key, one in cost.runs.items():
            if one.source != "store":
                runs[key] = {**asdict(one), "at": at}
    write_atomically(file, sealed({"schema": 1, "runs": runs}, indent=1, sort_keys=True))


def recall(file: Path) -> dict[str, Any]:
    """Return what each run was planned to take, by its key, as `remember` wrote it; {} before."""
    return dict(read_sealed(file)["runs"]) if file.is_file() else {}


def plan_file(plan: Plan) -> Path:
    """Return the file in which `remember` keeps what the runs of a scale were planned to take."""
    return Path(plan.folder) / "plan.json"


def _hours(hours: float) -> str:
    return f"{hours:.2g}" if hours < 10 else f"{hours:.0f}"
