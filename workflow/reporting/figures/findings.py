"""The sentence that a figure's data say, which is its title; of single runs nothing is said."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from statistics import fmean

import numpy as np

from workflow.reporting.figures.mechanisms import differences
from workflow.reporting.figures.panels import Panel, ShownMeasure
from workflow.reporting.figures.rankings import ranks
from workflow.reporting.measures import EvaluatedRun, numbers_of
from workflow.reporting.statistics.intervals import LEVEL, Interval

FEW = 2
"""Fewer runs than these say nothing."""


def counts(panels: Sequence[Panel], measure: str, said: str) -> str:
    """Say in how many runs of each panel, or of each series of one panel, a measure is 1.

    Runs without a value are not counted.
    """
    groups = [(panel.label, panel.drawn) for panel in panels]
    if len(panels) == 1:
        groups = [(series.label, [series]) for series in panels[0].drawn]
    found: list[str] = []
    for name, group in groups:
        distinct = {run.key: run for series in group for run in series.behind}
        values = numbers_of(distinct.values(), measure)
        if len(values) >= FEW:
            runs = "" if found else " runs"
            found.append(f"{sum(values):g} of {len(values)}{runs} ({name})")
    return f"{said} in {listed(found)}" if found else ""


def means(panels: Sequence[Panel], measure: str, said: str) -> str:
    """Say the mean over runs, in %, of a measure that is a fraction, the highest first."""
    found = {}
    for panel in panels:
        for series in panel.drawn:
            values = numbers_of(series.behind, measure)
            if len(values) >= FEW:
                found[panel.label] = 100 * fmean(values)
    ordered = sorted(found, key=lambda name: -found[name])
    return f"{said}: {listed([f'{name} {found[name]:.0f} %' for name in ordered])}" if found else ""


def against(panels: Sequence[Panel], baseline: str, measure: str, said: str) -> str:
    """Say which series differ from the baseline, by the intervals over seeds of both.

    Together they are wrong in at most 5 % (Bonferroni).
    """
    sides: Mapping[str, dict[str, list[str]]] = {"higher": {}, "lower": {}, "undecided": {}}
    tasks = {frozenset(series.variant for series in panel.series): panel for panel in panels[::-1]}

    def compared(level: float) -> list[tuple[str, str, Interval]]:
        return [
            (name, panel.label, ends)
            for panel in list(tasks.values())[::-1]
            for name, (_, ends) in differences(panel, baseline, {"measure": measure}, level).items()
            if ends
        ]

    tried = len(compared(LEVEL))
    for name, label, ends in compared(1 - (1 - LEVEL) / max(tried, 1)):
        side = "higher" if ends[0] > 0 else "lower" if ends[1] < 0 else "undecided"
        sides[side].setdefault(name, []).append(label)
    decided = [side for side in ("higher", "lower") if sides[side]]
    parts = []
    for side in decided or ["undecided"]:
        of_side = sides[side].items()
        everywhere = len(tasks)
        names = [
            f"{name} ({', '.join(at)})" * (len(at) < everywhere) or name for name, at in of_side
        ]
        if names:
            parts.append(f"{side} with {listed(names)}")
    rest = ["the others undecided"] if decided and sides["undecided"] else []
    corrected = f", corrected for {tried} comparisons" * (tried > 1)
    about = f"{said}, compared with {baseline}{corrected}"
    return f"{about}: {'; '.join(parts + rest)}" if parts else ""


def along(panels: Sequence[Panel], baseline: str, x: str, measure: str, said: str) -> str:
    """Say at which points every seed of a series is above the baseline's, and at which below.

    `x` and `measure` are arrays; a point counts where it is so in all panels that have the series.
    """
    signs: dict[str, dict[float, set[float]]] = {}
    for panel in panels:
        of = {one.label: {run.seed: run for run in one.behind} for one in panel.drawn}
        before = of.pop(baseline, {})
        for name, runs in of.items():
            for seed in runs if min(len(runs), len(before)) >= FEW else ():
                if seed in before:
                    ours, theirs = (_curve(side[seed], x, measure) for side in (runs, before))
                    for point in {*ours} & {*theirs}:
                        side = float(np.sign(ours[point] - theirs[point]))
                        signs.setdefault(name, {}).setdefault(point, set()).add(side)
    parts = []
    for word, side in (("more", 1.0), ("fewer", -1.0)):
        at = {name: [p for p in sorted(of) if of[p] == {side}] for name, of in signs.items()}
        names = [
            f"{name} ({_ranges(points, sorted(signs[name]))})"
            for name, points in at.items()
            if points
        ]
        parts += [f"{word} with {listed(names)}"] if names else []
    return f"{said}, every run compared with {baseline}: {'; '.join(parts)}" if parts else ""


def _curve(run: EvaluatedRun, x: str, measure: str) -> Mapping[float, float]:
    return dict(zip(run.array(x) or (), run.array(measure) or (), strict=True))


def _ranges(points: Sequence[float], every: Sequence[float]) -> str:
    """Return points as ranges (`1 to 3, 5`) of those that there are."""
    groups = groupby(points, key=lambda point: every.index(point) - points.index(point))
    ends = [[*group] for _, group in groups]
    return ", ".join(f"{g[0]:g}" + f" to {g[-1]:g}" * (len(g) > 1) for g in ends)


def survey(panels: Sequence[Panel], baseline: str, measures: Mapping[str, ShownMeasure]) -> str:
    """Say how often series are better and worse than the baseline, and which are not shown worse.

    Also how often where all comparisons together are wrong in at most 5 % (Bonferroni). A series is
    better somewhere by these intervals, and shown worse nowhere by those of 95 %: it may be worse
    where little was run.
    """

    def compared(level: float) -> list[tuple[str, Interval]]:
        return [
            (name, ends)
            for panel in panels
            for name, (_, ends) in differences(
                panel, baseline, measures[panel.label], level
            ).items()
            if ends
        ]

    each = compared(LEVEL)
    together = compared(1 - (1 - LEVEL) / max(len(each), 1))
    up, surely_up = ([name for name, ends in of if ends[0] > 0] for of in (each, together))
    down, surely_down = ([name for name, ends in of if ends[1] < 0] for of in (each, together))
    gains = [name for name in dict.fromkeys(surely_up) if name not in down]
    return (
        f"Of {len(each)} comparisons with {baseline}, {len(up)} are better and {len(down)} worse, "
        f"corrected for their number {len(surely_up)} and {len(surely_down)}, the others "
        f"undecided; better in a panel, corrected, and shown worse in none: "
        f"{listed(gains) or 'none'}"
        if each
        else ""
    )


def best(
    panels: Sequence[Panel], methods: Mapping[str, str], measures: Sequence[ShownMeasure]
) -> str:
    """Say for how many models each measure has the truth's best method as its best."""
    truth, *others = measures
    told = [panel.drawn[0] for panel in panels if panel.drawn and len(panel.drawn[0].behind) >= FEW]
    found = []
    for other in others:
        pairs = [[ranks(series, one, methods) for one in (truth, other)] for series in told]
        known = [pair for pair in pairs if all(pair)]
        same = sum(next(iter(one)) == next(iter(two)) for one, two in known)
        if known:
            found.append(f"{other['label']} in {same} of {len(known)} models")
    return (
        f"The best method by {truth['label']} is also the best by {listed(found)}" if found else ""
    )


def listed(names: Sequence[str]) -> str:
    """Return names with commas, and `and` before the last."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""
