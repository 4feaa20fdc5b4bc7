"""Whether what two sides computed is the same: the same bits, the same to rounding, or different.

A difference is rounding where it is at most `FACTOR` times what the machine makes by itself, with
another number of threads, another library, or weights changed by a rounding; or a few roundings.
Discrete choices (arg max, top-k, samples, beams) then differ only where they tie.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from model.training.checkpointer import HistoryRow
from workflow.equivalence.side import CLOCKS, Json, leaves
from workflow.planning.equivalents import TIMES

ComparisonVerdict = Literal["same bits", "same to rounding", "different"]
ORDER: tuple[ComparisonVerdict, ...] = ("same bits", "same to rounding", "different")
FACTOR = 4
"""How many times what the machine makes by itself a difference may be."""
EPSILON = {"fp32": 2.0**-23, "bf16": 2.0**-8}
ROUNDINGS = {"fp32": 64, "bf16": 4}
"""How many roundings of a precision a difference may be, relative to what is compared."""
ALONG = {"fp32": 1.0, "bf16": 2.0**-10}
"""How far an update may be longer or shorter along the other: rounding in bf16 is large, and has no
direction."""
SPREAD = 6
"""How many standard deviations it may be so by chance, where each number differs in a direction of
its own."""
RESULTS = ("scalars", "arrays")
SMALL = 1e-3
"""A tensor that changes by less, relative to the largest of its sort, is compared with this much of
that: where a gradient is 0 in exact arithmetic, it is nothing but rounding."""


@dataclass(frozen=True)
class ResultComparison:
    """How two results compare.

    Attributes:
        verdict: of the two.
        difference: the largest one, relative to what is compared.
        bound: what it may be.
        place: where that is.
    """

    verdict: ComparisonVerdict
    difference: float = 0.0
    bound: float = 0.0
    place: str = ""


def worst(findings: Iterable[ResultComparison]) -> ResultComparison:
    """Return the finding that decides: by its verdict, then by how much of its bound it takes."""

    def rank(one: ResultComparison) -> tuple[int, float]:
        return ORDER.index(one.verdict), one.difference / one.bound if one.bound else 0.0

    return max(findings, key=rank, default=ResultComparison("same bits"))


def updates(
    new: Any, old: Any, start: Any, noisy: Sequence[Any], precision: str
) -> ResultComparison:
    """Judge the states after one update from the same state.

    Args:
        new, old: states after the update.
        start: the state before, None for an unknown one.
        noisy: states that the old code makes on a machine that is a little different.
        precision: fp32 or bf16.
    """
    import torch

    before = dict(leaves(start)) if start is not None else {}
    ours, theirs = dict(leaves(new)), dict(leaves(old))
    others = [dict(leaves(state)) for state in noisy]
    if ours.keys() != theirs.keys():
        odd = sorted(ours.keys() ^ theirs.keys())
        return ResultComparison("different", np.inf, 0, f"{odd[0]} is in one state alone")
    found = [ResultComparison("same bits")]
    steps = {
        place: value.double() - _double(before.get(place), value)
        for place, value in theirs.items()
        if isinstance(value, torch.Tensor) and value.is_floating_point()
    }
    largest: dict[str, float] = {}
    for place, step in steps.items():
        largest[_sort(place)] = max(largest.get(_sort(place), 0.0), float(step.norm()))
    for place, value in theirs.items():
        mine = ours[place]
        if not isinstance(value, torch.Tensor):
            found.append(_plain(place, mine, value, [one.get(place) for one in others], precision))
        elif value.shape != mine.shape or value.dtype != mine.dtype:
            found.append(ResultComparison("different", np.inf, 0, place))
        elif not value.is_floating_point():
            same = torch.equal(value, mine)
            found.append(ResultComparison("same bits" if same else "different", np.inf, 0, place))
        elif not torch.equal(value, mine):
            step = steps[place]
            size = max(float(step.norm()), SMALL * largest[_sort(place)], 1e-30)
            stored = 2 * EPSILON["fp32"] * float(value.double().norm()) / size
            away = [(one[place].double() - value.double()) for one in others if place in one]
            noise = max((float(one.norm()) / size for one in away), default=0.0)
            apart = mine.double() - value.double()
            bound = max(FACTOR * noise, ROUNDINGS[precision] * EPSILON[precision], stored)
            difference = float(apart.norm()) / size
            along = abs(float((apart * step).sum())) / size**2
            shift = max((abs(float((one * step).sum())) / size**2 for one in away), default=0.0)
            chance = SPREAD * float((apart * step).norm()) / size**2
            straight = along <= max(FACTOR * shift, ALONG[precision], stored, chance)
            fine = difference <= bound and straight
            verdict: ComparisonVerdict = "same to rounding" if fine else "different"
            found.append(ResultComparison(verdict, difference, bound, place))
    return worst(found)


def _double(past: Any, value: Any) -> Any:
    return past.double() if hasattr(past, "double") else value.double() * 0


def _sort(place: str) -> str:
    """Return what a tensor of a state is: a weight, or which average of the optimiser."""
    first, *_, last = place.strip("/").split("/")
    return last if first == "optimizer" else first


def _plain(
    place: str, mine: Any, value: Any, noisy: Sequence[Any], precision: str
) -> ResultComparison:
    if mine == value or (mine != mine and value != value):
        return ResultComparison("same bits")
    if not isinstance(value, float) or not isinstance(mine, float):
        return ResultComparison("different", np.inf, 0, place)
    size = max(abs(value), 1e-30)
    noise = max((abs(one - value) for one in noisy if isinstance(one, float)), default=0.0) / size
    bound = max(FACTOR * noise, ROUNDINGS[precision] * EPSILON[precision])
    difference = abs(mine - value) / size
    return ResultComparison(
        "same to rounding" if difference <= bound else "different", difference, bound, place
    )


def results(new: Json, old: Json, noisy: Sequence[Json]) -> ResultComparison:
    """Judge what an evaluator makes of the same weights: every scalar and every array.

    What was timed is left out.
    """
    mine, theirs = _values(new), _values(old)
    others = [_values(one) for one in noisy]
    if mine.keys() != theirs.keys():
        odd = sorted(mine.keys() ^ theirs.keys())
        return ResultComparison("different", np.inf, 0, f"{odd[0]} is in one result alone")
    return worst(
        _lists(place, mine[place], value, [one[place] for one in others if place in one])
        for place, value in theirs.items()
    )


def compared(result: Json) -> bool:
    """Return whether anything of a result is compared: not where all of it was timed."""
    return bool(_values(result))


def gone(new: Json, old: Json) -> set[str]:
    """Return the scalars and arrays that the old code alone gives."""
    return {name for kind in RESULTS for name in old[kind].keys() - new[kind].keys()}


def without(result: Json, names: Collection[str]) -> Json:
    """Return a result without some scalars and arrays."""
    return {
        kind: {name: value for name, value in result[kind].items() if name not in names}
        for kind in RESULTS
    }


def _values(result: Json) -> dict[str, list[Any]]:
    found = {}
    scalars = result["scalars"]
    for name, scalar in scalars.items():
        if not _timed(name, scalars):
            for key, value in scalar.items():
                found[f"{name}.{key}"] = [value]
    for name, array in result["arrays"].items():
        if name not in CLOCKS:
            found[name] = [leaf for _, leaf in leaves(array)]
    return found


def _timed(name: str, scalars: Mapping[str, Json]) -> bool:
    """Whether a scalar was timed, by its unit, or is a ratio of such (`step_ratio` of `step`)."""
    names = (name, name.removesuffix("_ratio"))
    return any(scalars.get(one, {}).get("unit") in TIMES for one in names)


def _lists(
    place: str, mine: Sequence[Any], theirs: Sequence[Any], noisy: Sequence[Sequence[Any]]
) -> ResultComparison:
    if mine == theirs:
        return ResultComparison("same bits")
    apart, size = _apart(mine, theirs)
    noise = max((_apart(one, theirs)[0] for one in noisy), default=0.0)
    floor = ROUNDINGS["fp32"] * EPSILON["fp32"] * size
    bound = max(FACTOR * noise, floor)
    scale = max(size, 1e-30)
    verdict: ComparisonVerdict = "same to rounding" if apart <= bound else "different"
    return ResultComparison(verdict, apart / scale, bound / scale, place)


def _apart(mine: Sequence[Any], theirs: Sequence[Any]) -> tuple[float, float]:
    """Return how far two lists are apart, and the size of what they hold.

    That is the largest difference of numbers; of anything else, how many items differ.
    """
    if len(mine) != len(theirs):
        return np.inf, 1.0
    numbers = all(_is_number(one) for one in (*mine, *theirs))
    if numbers:
        a, b = np.array(mine, float), np.array(theirs, float)
        return float(np.abs(a - b).max(initial=0)), float(np.abs(b).max(initial=0))
    return float(sum(one != other for one, other in zip(mine, theirs, strict=True))), 0.0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def rows(new: Sequence[HistoryRow], old: Sequence[HistoryRow]) -> bool:
    """Return whether two histories are the same, the clock left out."""
    return [*map(_timeless, new)] == [*map(_timeless, old)]


def _timeless(row: HistoryRow) -> HistoryRow:
    return {name: value for name, value in row.items() if name not in CLOCKS}
