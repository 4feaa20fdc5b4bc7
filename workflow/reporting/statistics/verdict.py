"""The verdict on a number beside the paper's: one pure function, with its tolerance as data.

The tolerance (see `RULE`) answers one question: could the paper's number be one more training of
the same model?  The spread of the runs themselves never widens it, or an unstable model would pass
more easily than a stable one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from workflow.definitions.expected import Printed
from workflow.definitions.tables import Rule

ComparedWord = Literal["reproduced", "within, one seed", "within, seeds apart", "near", "differs"]
Word = Literal[ComparedWord, "wide tolerance", "second reading", "not comparable", "not run"]
COMPARED: tuple[ComparedWord, ...] = get_args(ComparedWord)
"""The verdicts proper, the best first."""
JUDGED: tuple[Word, ...] = (*COMPARED, "wide tolerance")
"""The verdicts that are counted; the last is none, as the tolerance confirms nothing."""
RANKED = ("not run", "not comparable", "second reading", "wide tolerance", *COMPARED)
"""Of one number with several verdicts that of the last counts."""
WORDS: tuple[Word, ...] = get_args(Word)
NEAR = 2
"""`near` reaches to this many tolerances."""
WIDE = 0.1
"""A tolerance that is a larger part of the printed value confirms nothing."""
CHANCE = 3
"""Nor does one that reaches what says nothing of a model in this many steps."""
RULE = (
    "A number of ours is `reproduced` within one tolerance of the printed one, `near` within "
    f"{NEAR}, else it `differs`. The tolerance is `2 * sqrt(sampling^2 + seed_std^2 * (1 + 1/n))` "
    "plus half a unit of the last printed digit: `sampling` is the standard error at the size of "
    "the test set, n our number of runs, and `seed_std` the spread over trainings, a fixed rule of "
    "the metric in `tolerances.json`. Where only seeds are missing for `reproduced`, what is "
    "trained is `within, one seed`; where the standard error of our mean over seeds exceeds the "
    "tolerance, `within, seeds apart`. There is no verdict where a random order, or a crossing at "
    "most checkpoints, would be within the tolerance too (`wide tolerance`), and only `differs` "
    f"where the tolerance is wider than {100 * WIDE:.0f} % of the printed value, or than one in "
    f"{CHANCE} of its distance to these; nor on a `second reading` of what is compared by "
    "another. What is read at a crossing is compared as all that lies between the checkpoint "
    "before and that one, and half of that counts to the width of its tolerance. Where a later "
    "tolerance changed a verdict, the earlier one stands behind `was`."
)
"""The rule as a reader sees it."""
Between = tuple[float, float]
"""Two ends, in any order."""


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
    between: Between | None = None
    """The values at the checkpoints before and at a crossing, where it is read at one."""


@dataclass(frozen=True)
class Tolerance:
    """The fixed rule of one metric."""

    seed_std: float
    """Standard deviation over trainings, in the metric's unit; 0 where nothing is trained."""
    sampling: Literal["none", "binomial", "examples"] = "none"
    """Sampling error at the test size: of a proportion, of a mean over examples, or none."""
    full: float = 1.0
    """What a proportion of 1 is in the metric's unit (100 for %)."""
    wide: bool = False
    """Whether nearly any run meets it, whatever the numbers are."""

    @classmethod
    def of(cls, rule: Rule, row: str = "") -> "Tolerance":
        """Read a rule of `tables.yaml`, as it is for a row; what is for people is left."""
        seed_std = rule.get("by_row", {}).get(row, rule["seed_std"])
        names = {one.name for one in fields(cls)}
        known: Any = {name: value for name, value in rule.items() if name in names}
        return cls(**{**known, "seed_std": seed_std})

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
    """One of the words, why, and the tolerance where one was applied."""

    word: Word
    reason: str
    tolerance: float | None = None


def judge(
    ours: Ours,
    printed: Printed,
    tolerance: Tolerance | None,
    hindrances: Sequence[str] = (),
    blind: Sequence[Between] = (),
    second_reading: bool = False,
) -> Verdict:
    """Return the verdict on one cell.

    Args:
        ours: our value over runs.
        printed: the paper's number.
        tolerance: the rule of the metric, None where there is none.
        hindrances: the reasons why the numbers can't be compared (demo scale, overlay, reduced or
            stand-in data, another quantity); any one of them settles it, whatever the numbers are.
        blind: values that say nothing of a model: of a random order, of a crossing at each
            checkpoint. A tolerance that more than half of them meet is wide. One that, with half
            of what lies between checkpoints, is more than `WIDE` of the printed value, or that more
            than half of them meet within `CHANCE` of it, can show a difference and nothing else;
            but not one of rounding alone, as an exact count has.
        second_reading: whether another reading of the same number is the one that counts.
    """
    verdict = _judged(ours, printed, tolerance, hindrances)
    if second_reading and printed.text and verdict.word != "not run":
        reason = f"another reading is compared; by this one {verdict.word}"
        return replace(verdict, word="second reading", reason=f"{reason}: {verdict.reason}")
    width = verdict.tolerance
    if tolerance is None or width is None or printed.value is None:
        return verdict
    far = [abs(_distance(printed.value, one)) for one in blind]
    met = sum(one <= width for one in far)
    reason = ""
    if 2 * met > len(blind) or tolerance.wide:
        reason = f"also met by {met} of {len(blind)} blind values" if blind else "by its rule"
    elif verdict.word != "differs" and width > printed.rounding:
        apart = max(ours.between) - min(ours.between) if ours.between else 0
        reach = width + apart / 2
        most = WIDE * abs(printed.value)
        if reach > most:
            reason = f"wider than {100 * WIDE:.0f} % of the printed value"
            reason += " with what lies between" * (width <= most)
        elif 2 * sum(one <= CHANCE * reach for one in far) > len(blind):
            reason = f"most blind values are within {CHANCE} tolerances"
    if reason:
        return replace(verdict, word="wide tolerance", reason=f"{verdict.reason}; {reason}")
    return verdict


def _judged(
    ours: Ours, printed: Printed, tolerance: Tolerance | None, hindrances: Sequence[str]
) -> Verdict:
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
    difference = 0.0 - _distance(printed.value, ours.between or (ours.mean, ours.mean))
    said = f"difference {difference:+.3g}, tolerance {width:.3g}"
    if ours.between:
        said = f"between checkpoints of {min(ours.between):.4g} and {max(ours.between):.4g}; {said}"
    slack = 1e-9 * max(1.0, abs(printed.value))
    if abs(difference) > NEAR * width + slack:
        return Verdict("differs", said, width)
    if abs(difference) > width + slack:
        return Verdict("near", said, width)
    if not tolerance.seed_std:
        return Verdict("reproduced", said, width)
    if ours.runs < 2 or ours.std is None:
        return Verdict("within, one seed", said, width)
    if ours.std / math.sqrt(ours.runs) > width:
        return Verdict("within, seeds apart", said, width)
    return Verdict("reproduced", said, width)


def _distance(value: float, between: Between) -> float:
    """Return how far a value is above or below two ends; 0 between them."""
    return value - min(max(value, min(between)), max(between))
