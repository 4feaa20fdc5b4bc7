"""What the jobs of a plan cost together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from workflow.datasets.fetched.sources import Source
from workflow.planning.estimator import Estimate, Estimator
from workflow.planning.plan import Plan, Run

TRAIN = ("train", "train_locally")
"""The rules that train."""


@dataclass(frozen=True)
class Job:
    """A job that Snakemake would run."""

    rule: str
    wildcards: Mapping[str, str]


@dataclass
class Cost:
    """What jobs take: of an experiment, or of a row of a table."""

    runs: dict[str, Estimate] = field(default_factory=dict)
    """Each run to train by its key."""
    jobs: int = 0
    files: dict[str, Source] = field(default_factory=dict)
    """Each file to fetch by its name."""

    @property
    def seconds(self) -> float:
        """One run after another."""
        return sum(run.seconds for run in self.runs.values())

    @property
    def hours(self) -> float:
        """GPU-hours, or core-hours without a GPU."""
        return sum(run.units for run in self.runs.values()) / 3600

    @property
    def disk(self) -> float:
        """In MB."""
        return sum(run.disk for run in self.runs.values())

    @property
    def memory(self) -> float:
        """Of the largest run, in MB."""
        return max((run.memory for run in self.runs.values()), default=0)

    @property
    def longest(self) -> float:
        """Seconds of the longest run."""
        return max((run.seconds for run in self.runs.values()), default=0)

    def wall(self, parallel: int) -> float:
        """Return hours with so many runs at once, none of which waits for another."""
        return max(self.seconds / parallel, self.longest) / 3600

    def __str__(self) -> str:
        """Return it in words, such as `3 runs, 1.2 h, 0.4 GB, download 6 MB`."""
        parts = []
        if runs := self.runs.values():
            hours = self.seconds / 3600
            time = f"{_short(hours)} h" if hours >= 1 else f"{60 * hours:.0f} min"
            measured = all(run.source == "measured" for run in runs)
            parts.append(f"{len(runs)} run{'s' * (len(runs) > 1)}")
            parts.append(time if measured else f"about {time}")
            parts.append(f"{self.memory / 1000:.1f} GB")
        size = sum(file.bytes for file in self.files.values() if not file.by_hand) / 1e6
        parts.append(f"download {_short(size)} MB" if size else "no download")
        by_hand = sorted(file.name for file in self.files.values() if file.by_hand)
        parts += [f"by hand {', '.join(by_hand)}"] if by_hand else []
        return ", ".join(parts)

    def __add__(self, other: "Cost") -> "Cost":
        """Return what both take; a run or file of both counts once."""
        files = self.files | other.files
        return Cost(self.runs | other.runs, self.jobs + other.jobs, files)


def _short(number: float) -> str:
    return f"{number:.2g}" if number < 10 else f"{number:,.0f}"


def run_of(plan: Plan, job: Job) -> Run | None:
    """Return the run that a job is about, None of a job of data or results."""
    if "seed" not in job.wildcards:
        return None
    labels = job.wildcards
    return plan.run(labels["experiment"], labels["variant"], int(labels["seed"]))


def trained(plan: Plan, job: Job) -> Run | None:
    """Return the run that a job trains, None of another job."""
    return run_of(plan, job) if job.rule in TRAIN else None


def by_experiment(jobs: Iterable[Job], estimator: Estimator) -> dict[str, Cost]:
    """Return the cost of each experiment with jobs, the dearest first.

    Other jobs (data, tables, figures) come last, under an empty name.
    """
    costs: dict[str, Cost] = {}
    for job in jobs:
        cost = costs.setdefault(job.wildcards.get("experiment", ""), Cost())
        cost.jobs += 1
        if run := trained(estimator.plan, job):
            cost.runs[run.key] = estimator.estimate(run)
    return dict(sorted(costs.items(), key=lambda pair: (not pair[0], -pair[1].hours)))
