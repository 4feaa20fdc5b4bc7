"""What stands of many tests at once: corrections for their number."""

from collections.abc import Sequence

from workflow.reporting.statistics.intervals import LEVEL


def after_holm(ps: Sequence[float]) -> list[bool]:
    """Return which tests stand where the chance of any false one is at most 5 %; see `holm`."""
    return [p <= 1 - LEVEL for p in holm(ps)]


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p of each of several tests, corrected for their number (Holm 1979).

    The k-th smallest of m p is multiplied by m - k + 1; none is below a smaller one's, or above 1.
    """
    corrected, m, least = [1.0] * len(ps), len(ps), 0.0
    for rank, place in enumerate(sorted(range(m), key=ps.__getitem__)):
        corrected[place] = least = min(1.0, max(least, (m - rank) * ps[place]))
    return corrected


def after_benjamini_hochberg(ps: Sequence[float]) -> list[bool]:
    """Return which tests stand where at most 5 % of those that do are false on average.

    All up to the largest k with the k-th smallest of m p at most .05 k / m (Benjamini and Hochberg
    1995).
    """
    order, m = sorted(range(len(ps)), key=ps.__getitem__), len(ps)
    last = max(
        (k for k, place in enumerate(order, 1) if ps[place] <= (1 - LEVEL) * k / m), default=0
    )
    return [place in order[:last] for place in range(m)]
