"""Means, spreads and 95 % intervals, over runs or over examples, and of fractions of runs."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from workflow.runtime.errors import ReportingError

LEVEL = 0.95
Interval = tuple[float, float]


def spread(values: Sequence[float]) -> float | None:
    """Return the sample standard deviation, or None with fewer than two values."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def pooled(deviations: Sequence[float | None]) -> float | None:
    """Return the standard deviation within runs of equal size; None where none has one."""
    variances = [std**2 for std in deviations if std is not None]
    return math.sqrt(sum(variances) / len(variances)) if variances else None


def interval(
    mean: float, std: float | None, n: int, level: float = LEVEL
) -> tuple[float, float] | None:
    """Return Student's interval of a mean of `n` values, or None with fewer than two."""
    if std is None or n < 2:
        return None
    half = float(special.stdtrit(n - 1, 0.5 + level / 2)) * std / math.sqrt(n)
    return mean - half, mean + half


def apart(one: Sequence[float], other: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Return Student's interval of the difference of two means, one - other.

    Both samples are taken to spread alike, so that a single value has an interval beside two or
    more others; None with fewer than three values, or without any spread. Source: Welch (1938),
    The significance of the difference between two means when the population variances are unequal,
    of equal ones.
    """
    n, m = len(one), len(other)
    squares = sum(float(np.var(values)) * len(values) for values in (one, other))
    if n + m < 3 or not squares:
        return None
    error = math.sqrt(squares / (n + m - 2) * (1 / n + 1 / m))
    half = float(special.stdtrit(n + m - 2, 0.5 + level / 2)) * error
    difference = float(np.mean(one)) - float(np.mean(other))
    return difference - half, difference + half


def prediction(values: Sequence[float], more: int = 1) -> tuple[float, float] | None:
    """Return Student's 95 % interval of the mean of `more` values, None with fewer than two values.

    It is mean ± t s sqrt(1/more + 1/n), t of n - 1 degrees of freedom. Source: Hahn and Meeker
    (1991), Statistical Intervals.
    """
    std, n = spread(values), len(values)
    if std is None:
        return None
    mean = float(np.mean(values))
    half = float(special.stdtrit(n - 1, 0.5 + LEVEL / 2)) * std * math.sqrt(1 / more + 1 / n)
    return mean - half, mean + half


def joined(
    mean: float, one: tuple[float, float], other: tuple[float, float]
) -> tuple[float, float]:
    """Return the interval of a mean that varies for two independent reasons, each with its own.

    The half-widths add as squares. Source: Howe (1974), Approximate confidence limits on the mean
    of X + Y where X and Y are two tabled independent random variables.
    """
    low = mean - math.hypot(mean - one[0], mean - other[0])
    return low, mean + math.hypot(one[1] - mean, other[1] - mean)


def exact(successes: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the exact interval of a proportion, `successes` out of `n` (at least 1).

    Whatever the proportion is, at most 2.5 % of samples put it beyond either end of that of 95 %;
    with few runs Wilson's interval does so more often (4 of 4 against one half: 6.3 %). Source:
    Clopper and Pearson (1934), The use of confidence or fiducial limits.
    """
    tail = (1 - level) / 2
    low = special.betaincinv(successes, n - successes + 1, tail) if successes else 0.0
    high = special.betaincinv(successes + 1, n - successes, 1 - tail) if successes < n else 1.0
    return float(low), float(high)


def wilson(successes: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion, `successes` out of `n` (at least 1).

    Its ends are the proportions p with |successes/n - p| = z sqrt(p (1 - p) / n).  Source: Newcombe
    (1998), Two-sided confidence intervals for the single proportion, method 3.
    """
    z = float(special.ndtri(0.5 + level / 2))
    share, weight = successes / n, z * z / n
    middle = share + weight / 2
    half = z * math.sqrt(share * (1 - share) / n + weight / (4 * n))
    low = (middle - half) / (1 + weight) if successes else 0.0
    high = (middle + half) / (1 + weight) if successes < n else 1.0
    return low, high


def newcombe(
    left: tuple[int, int], right: tuple[int, int], level: float = LEVEL
) -> tuple[float, float]:
    """Return the interval of the difference of two independent proportions, left - right.

    Each side is (successes, n).  It is the hybrid score interval, made of both sides' Wilson
    intervals.  Source: Newcombe (1998), Interval estimation for the difference between independent
    proportions, method 10.
    """
    one, other = left[0] / left[1], right[0] / right[1]
    (one_low, one_high), (other_low, other_high) = (wilson(*side, level) for side in (left, right))
    below = math.hypot(one - one_low, other_high - other)
    above = math.hypot(one_high - one, other - other_low)
    return one - other - below, one - other + above


def fisher(left: tuple[int, int], right: tuple[int, int]) -> float:
    """Return the p of two proportions being equal: twice the smaller tail of Fisher's exact test.

    Each side is (successes, n). Whatever the proportion is, at most 5 % of samples have a p of .05
    or less. Source: Fisher (1935), The logic of inductive inference.
    """
    (count, n), (other, m) = left, right
    both = count + other
    ways = {
        k: math.comb(n, k) * math.comb(m, both - k)
        for k in range(max(0, both - m), min(n, both) + 1)
    }
    below = sum(number for k, number in ways.items() if k <= count)
    above = sum(number for k, number in ways.items() if k >= count)
    return min(1.0, 2 * min(below, above) / math.comb(n + m, both))


def common(by_seed: np.ndarray) -> float | None:
    """Return which part of the variance of a mean over seeds all seeds have in common.

    `by_seed` is what varies, (seeds, samples). The part is what would be left of the variance with
    endless seeds: the mean covariance of two seeds beside the variance of the mean. None with one
    seed. Source: Searle, Casella and McCulloch (1992), Variance Components, of a two-way layout.
    """
    seeds = len(by_seed)
    if seeds < 2:
        return None
    covariances = np.cov(by_seed)
    total = float(covariances.sum())
    if total <= 0:
        return 0.0
    pairs = (total - float(np.trace(covariances))) / (seeds * (seeds - 1))
    return min(1.0, max(0.0, pairs / (total / seeds**2)))


def significance(at: Callable[[float], Interval], decides: Callable[[Interval], bool]) -> float:
    """Return the smallest p for which the interval of level 1 - p decides; 1 where none does.

    Args:
        at: the interval of a level; one of a lower level lies within it.
        decides: whether an interval leaves out what it has to.
    """
    least, most = math.log(1e-15), 0.0
    if not decides(at(0.0)):
        return 1.0
    for _ in range(60):
        middle = (least + most) / 2
        least, most = (least, middle) if decides(at(-math.expm1(middle))) else (middle, most)
    return math.exp(most)


def numbers(values: Sequence[float | None]) -> np.ndarray:
    """Return values as floats, a missing one (null in JSON) as NaN."""
    return np.array([math.nan if value is None else value for value in values], dtype=float)


def over_seeds(arrays: Sequence[Sequence[float | None]]) -> np.ndarray:
    """Average per-example arrays (one a seed, equal lengths) over seeds, example by example.

    An example that is missing (null) in any seed is left out.  Raises ReportingError when the
    lengths differ: then the runs were not measured on the same examples.
    """
    lengths = {len(array) for array in arrays}
    if len(lengths) != 1:
        raise ReportingError(
            f"The runs of a variant measured different numbers of examples ({sorted(lengths)}); "
            "measure all of them on the same data."
        )
    means = np.mean([numbers(array) for array in arrays], axis=0)
    return means[~np.isnan(means)]
