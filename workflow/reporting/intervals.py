"""Means, spreads and 95 % intervals, over runs or over examples."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from workflow.reporting.files import ReportingError

LEVEL = 0.95


def spread(values: Sequence[float]) -> float | None:
    """Return the sample standard deviation, or None with fewer than two values."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def interval(mean: float, std: float | None, n: int) -> tuple[float, float] | None:
    """Return Student's 95 % interval of a mean of `n` values, or None with fewer than two."""
    if std is None or n < 2:
        return None
    half = float(stats.t.ppf(0.5 + LEVEL / 2, n - 1)) * std / math.sqrt(n)
    return mean - half, mean + half


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
