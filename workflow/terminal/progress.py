"""How far Snakemake is: jobs that are done, the one that runs longest, and the time left."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from snakemake_interface_logger_plugins.common import LogEvent

LogRecord = Mapping[str, Any]
"""A record of Snakemake's log."""
STORED = "is in the store: nothing to train"
"""What the log of a training says that only copies a result."""
SETTLED, UNSEEN = 10, 2
"""Seconds before a time left is said, and jobs of which neither a plan nor one alike is known."""
SHORTER, LONGER = 3, 2
"""By how much a time left may be shorter or longer than the one said before."""


@dataclass
class RuleTime:
    """What the finished jobs of a rule took."""

    jobs: int = 0
    seconds: float = 0
    planned: float = 0
    """what was planned for those with a plan, in seconds"""
    of_planned: float = 0
    """what these took"""

    def add(self, seconds: float, planned: float | None) -> None:
        """Add a job."""
        self.jobs += 1
        self.seconds += seconds
        if planned:
            self.planned += planned
            self.of_planned += seconds


@dataclass
class JobProgress:
    """Follows the jobs of one invocation by what Snakemake logs."""

    clock: Callable[[], float] = time.time
    total: int = 0
    done: Counter[str] = field(default_factory=Counter)
    """finished jobs by rule"""
    names: list[str] = field(default_factory=list)
    """finished jobs"""
    failed: int = 0
    """attempts"""

    def __post_init__(self) -> None:
        self.began = self.clock()
        self._rules: dict[int, str] = {}
        self._planned: dict[int, float | None] = {}
        self._running: dict[int, tuple[str, float]] = {}
        self._spent: dict[str, RuleTime] = {}
        self._left_before: float | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self.clock() - self.began

    def expect(self, jobs: Iterable[tuple[int, str, float | None]]) -> None:
        """Take the jobs that will run: number, rule, and planned seconds where there is a plan."""
        for number, rule, planned in jobs:
            self._rules[number], self._planned[number] = _kind(rule), planned
        self.total = len(self._rules)

    def note(self, record: LogRecord) -> None:
        """Take what Snakemake says in a record of its log."""
        event = record.get("event")
        if event == LogEvent.JOB_INFO:
            number = record["jobid"]
            self._rules.setdefault(number, _kind(record["rule_name"]))
            self._running[number] = (named(record["rule_name"], record["wildcards"]), self.clock())
        elif event == LogEvent.JOB_ERROR:
            self.failed += self._running.pop(record["jobid"], None) is not None
        elif event == LogEvent.JOB_FINISHED:
            self._finish(record["job_id"])
        elif event == LogEvent.PROGRESS:
            self.total = record["total"]
        elif "expected" in record:
            self.expect(record["expected"])

    def _finish(self, number: int) -> None:
        if number in self._running:
            rule = self._rules.pop(number)
            name, begun = self._running.pop(number)
            self.names.append(name)
            seconds = self.clock() - begun
            self._spent.setdefault(rule, RuleTime()).add(seconds, self._planned.pop(number, None))
            self.done[rule] += 1

    def name(self, number: int) -> str | None:
        """Return the name of a running job."""
        return self._running[number][0] if number in self._running else None

    @property
    def line(self) -> str:
        """What is done, what runs longest, and the time left."""
        parts = [f"{self.done.total()} of {self.total} jobs done"]
        if (left := self.left) is not None:
            before = left if self._left_before is None else self._left_before
            left = self._left_before = min(max(left, before / SHORTER), before * LONGER)
            parts.append(f"about {duration(left)} left")
        if self._running:
            name, since = min(self._running.values(), key=lambda one: one[1])
            longest = f"longest {name} ({duration(self.clock() - since)})"
            parts.append(f"{len(self._running)} running, {longest}")
        return "; ".join(parts)

    @property
    def left(self) -> float | None:
        """Seconds that the other jobs will take, None before that can be said.

        Each job takes what its rule's jobs took so far, or what was planned for it, by the ratio of
        what was planned to what it took; as many run at once as did so far.
        """
        now = self.clock()
        running = {number: now - since for number, (_, since) in self._running.items()}
        busy = sum(running.values()) + sum(one.seconds for one in self._spent.values())
        unseen = sum(
            rule not in self._spent and not self._planned.get(number)
            for number, rule in self._rules.items()
        )
        if not self.done or self.elapsed < SETTLED or not busy:
            return None
        if unseen > max(UNSEEN, len(self._rules) / 10):
            return None
        remaining = [
            max(0.0, self._expected(number) - running.get(number, 0.0)) for number in self._rules
        ]
        return max([sum(remaining) * self.elapsed / busy, *remaining])

    def _expected(self, number: int) -> float:
        spent, planned = self._spent.get(self._rules[number], RuleTime()), self._planned.get(number)
        if planned is not None:
            return planned * spent.of_planned / spent.planned if spent.planned else planned
        alike = [spent] if spent.jobs else list(self._spent.values())
        return sum(one.seconds for one in alike) / sum(one.jobs for one in alike)


def _kind(rule: str) -> str:
    """Return the kind of a job: that of `results_toy_losses` is `results`."""
    return "results" if rule.startswith("results_") else rule


def named(rule: str, wildcards: Mapping[str, str] | None) -> str:
    """Return a job's name for people: `train toy/soft/seed-0`."""
    values = [f"seed-{v}" if name == "seed" else v for name, v in (wildcards or {}).items()]
    return f"{rule.removesuffix('_locally')} {'/'.join(values)}".strip()


def duration(seconds: float) -> str:
    """Return a duration with its two largest units: `40 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    for size, unit, smaller, below in ((86400, "d", 3600, "h"), (3600, "h", 60, "min")):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // smaller} {below}"
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"
