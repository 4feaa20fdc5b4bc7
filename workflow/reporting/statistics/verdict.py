"""The verdict on a number beside the paper's: one pure function, with its tolerance as data.

The tolerance (see `RULE`) answers one question: could the paper's number be one more training of
the same model?  The spread of the runs themselves never widens it, or an unstable model would pass
more easily than a stable one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workflow.definitions.expected import Printed

Word = Literal["reproduced", "close", "differs", "not comparable", "not run"]
WORDS: tuple[Word, ...] = ("reproduced", "close", "differs", "not comparable", "not run")
CLOSE = 2
"""`close` reaches to this many tolerances."""
RULE = (
    "A number of ours is `reproduced` within one tolerance of the printed one, `close` within "
    f"{CLOSE}, else it `differs`. The tolerance is `2 * sqrt(sampling^2 + seed_std^2 * (1 + 1/n))` "
    "plus half a unit of the last printed digit: `sampling` is the standard error at the size of "
    "the test set, n our number of runs, and `seed_std` the spread over trainings, a fixed rule of "
    "the metric in `tolerances.json`. What is trained is at most `close` with one seed, or where "
    "the standard error of our mean over seeds exceeds the tolerance."
)
"""The rule as a reader sees it."""


@dataclass(frozen=True)
class Ours:
    """A metric of ours over the runs of one variant."""

    runs: int
    """Number of runs (seeds); 0 when nothing was run."""
    mean: float | str | None = None
    """Mean over runs (or the best run's value), in the paper's unit; text is shown, not scored."""
    std: float | None = None
    """Standard deviation over runs; None with fewer than two."""
    statistic: str = "mean"
    """What `mean` is: `mean`, `max` (best of the runs) or `single`."""
    examples: int | None = None
    """Number of test examples behind each run's value."""


@dataclass(frozen=True)
class Tolerance:
    """The fixed rule of one metric."""

    seed_std: float
    """Standard deviation over trainings, in the metric's unit; 0 where nothing is trained."""
    sampling: Literal["none", "binomial", "examples"] = "none"
    """Sampling error at the test size: of a proportion, of a mean over examples, or none."""
    full: float = 1.0
    """What a proportion of 1 is in the metric's unit (100 for %)."""

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> "Tolerance":
        """Read a rule of `tables.yaml`; `because` is for people."""
        return cls(**{key: value for key, value in rule.items() if key != "because"})

    def width(self, ours: Ours, printed: Printed) -> float:
        """Return the largest difference that still counts as reproduced.

        Raises ValueError when the rule needs a test size or a printed spread that is not there.
        """
        sampling = 0.0
        if self.sampling != "none" and not ours.examples:
            raise ValueError(f"sampling {self.sampling!r} needs the number of test examples")
        if self.sampling == "binomial":
            share = min(max((printed.value or 0.0) / self.full, 0.0), 1.0)
            sampling = self.full * math.sqrt(share * (1.0 - share) / (ours.examples or 1))
        elif self.sampling == "examples":
            if printed.std is None:
                raise ValueError("sampling 'examples' needs the spread that the paper prints")
            sampling = printed.std / math.sqrt(ours.examples or 1)
        seeds = self.seed_std * math.sqrt(1.0 + 1.0 / max(ours.runs, 1))
        return 2.0 * math.hypot(sampling, seeds) + printed.rounding


@dataclass(frozen=True)
class Verdict:
    """One of the five words, why, and the tolerance where one was applied."""

    word: Word
    reason: str
    tolerance: float | None = None

    def met_by(self, value: float, printed: Printed) -> bool:
        """Return whether a value, such as that of chance, lies within the tolerance applied."""
        if self.tolerance is None or printed.value is None:
            return False
        return abs(value - printed.value) <= self.tolerance


def judge(
    ours: Ours, printed: Printed, tolerance: Tolerance | None, hindrances: Sequence[str] = ()
) -> Verdict:
    """Return the verdict on one cell.

    `hindrances` are the reasons why the numbers can't be compared (demo scale, overlay, reduced or
    stand-in data, another quantity); any one of them settles it, whatever the numbers are.
    """
    if ours.runs == 0 or ours.mean is None:
        return Verdict("not run", "no run of this cell")
    if not printed.text:
        return Verdict("not comparable", "the paper prints no value")
    if hindrances:
        return Verdict("not comparable", "; ".join(hindrances))
    if printed.value is None or isinstance(ours.mean, str):
        return Verdict("not comparable", "text is shown, not scored")
    if tolerance is None:
        return Verdict("not comparable", "no tolerance is fixed for this metric")
    if (ours.statistic == "max") != (printed.statistic == "max"):
        return Verdict(
            "not comparable", f"ours is a {ours.statistic}, the paper's a {printed.statistic}"
        )
    if not math.isfinite(ours.mean):
        return Verdict("differs", "our value is not a finite number")
    try:
        width = tolerance.width(ours, printed)
    except ValueError as error:
        return Verdict("not comparable", str(error))
    difference = ours.mean - printed.value
    said = f"difference {difference:+.3g}, tolerance {width:.3g}"
    slack = 1e-9 * max(1.0, abs(printed.value))
    if abs(difference) > CLOSE * width + slack:
        return Verdict("differs", said, width)
    if abs(difference) > width + slack:
        return Verdict("close", said, width)
    if not tolerance.seed_std:
        return Verdict("reproduced", said, width)
    if ours.runs < 2 or ours.std is None:
        return Verdict("close", f"{said}; one seed cannot be reproduced", width)
    if ours.std / math.sqrt(ours.runs) > width:
        return Verdict("close", f"{said}; the seeds differ by more than that", width)
    return Verdict("reproduced", said, width)
