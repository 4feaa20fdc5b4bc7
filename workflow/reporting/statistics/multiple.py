"""What stands of many tests at once: corrections for their number."""

from collections.abc import Sequence

from workflow.reporting.statistics.intervals import LEVEL


def after_holm(ps: Sequence[float]) -> list[bool]:
    """Return which tests stand where the chance of any false one is at most 5 % (Holm 1979).

    The k-th smallest of m p is compared with .05 / (m - k + 1); after the first that is larger none
    stands.
    """
    found, m = [False] * len(ps), len(ps)
    for rank, place in enumerate(sorted(range(m), key=ps.__getitem__)):
        if ps[place] > (1 - LEVEL) / (m - rank):
            break
        found[place] = True
    return found


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
