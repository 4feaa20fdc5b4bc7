"""How often a receptive field is exactly the true span, by the length of the span."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workflow.reporting.figures.panels import Panel, seeds, series_of
from workflow.reporting.figures.style import MUTED, WIDTH, footnote, looks, nothing, plt, say
from workflow.reporting.measures import EvaluatedRun

EVALUATOR = "receptive_field"


def draw(panels: Sequence[Panel]) -> Figure:
    """Draw per panel the fraction of exact fields against span length, and the number of spans.

    Lines are means over seeds and the shade runs from the lowest to the highest seed.
    """
    drawn = series_of(panels)
    if not drawn:
        return nothing(panels)
    figure, grid = plt.subplots(
        2,
        len(panels),
        figsize=(WIDTH, 3.9),
        layout="constrained",
        squeeze=False,
        sharex=True,
        sharey="row",
        gridspec_kw={"height_ratios": [3, 1]},
    )
    for column, panel in enumerate(panels):
        upper, lower = grid[0][column], grid[1][column]
        upper.set_title(panel.label)
        if panel.drawn:
            _exact(upper, panel)
            _counts(lower, panel.drawn[0].behind[0])
        else:
            say(upper, "not run")
            lower.set_axis_off()
    last = next(
        axes for axes, panel in zip(grid[0][::-1], panels[::-1], strict=True) if panel.drawn
    )
    last.legend()
    grid[0][0].set_ylabel("exact fields (fraction)")
    grid[1][0].set_ylabel("targets")
    about = f"Means over {seeds(drawn)}; shade: lowest to highest seed."
    footnote(figure, panels, about)
    return figure


def _exact(axes: Axes, panel: Panel) -> None:
    look_of = looks(series.label for series in panel.series)
    for series in panel.drawn:
        look = look_of[series.label]
        by_length: dict[int, list[float]] = {}
        for measure in series.behind:
            for length, exact, _ in _rows(measure):
                by_length.setdefault(length, []).append(exact)
        lengths = sorted(by_length)
        values = [by_length[length] for length in lengths]
        means = [float(np.mean(one)) for one in values]
        axes.plot(lengths, means, label=series.label, markersize=4, linewidth=1.3, **look)
        if len(series.behind) > 1:
            low, high = [min(one) for one in values], [max(one) for one in values]
            axes.fill_between(lengths, low, high, color=look["color"], alpha=0.15, linewidth=0)
    axes.set_ylim(-0.03, 1.03)


def _counts(axes: Axes, measure: EvaluatedRun) -> None:
    rows = _rows(measure)
    axes.bar([length for length, _, _ in rows], [count for _, _, count in rows], color=MUTED)
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("length of the true span (symbols)")


def _rows(measure: EvaluatedRun) -> list[tuple[int, float, int]]:
    """Return (span length, fraction exact, number of targets) of one run."""
    names = ("span_length", "exact", "count")
    columns = [measure.array(f"{EVALUATOR}.{name}") or [] for name in names]
    return list(zip(*columns, strict=True))
