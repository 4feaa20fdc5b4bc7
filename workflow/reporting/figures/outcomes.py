"""How often runs reach an outcome, against a setting: stacked bars of counted runs."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, Series, seeds
from workflow.reporting.figures.style import INK, MUTED, OTHERS, footnote, grid, nothing
from workflow.reporting.statistics.intervals import exact
from workflow.runtime.errors import ReportingError

COLORS = (OTHERS[2][0], OTHERS[1][0], MUTED)
"""Of at most three outcomes."""


def draw(panels: Sequence[Panel], axis: str, measures: Mapping[str, str]) -> Figure:
    """Draw of each series of the first panel the share of runs with each outcome, and its count.

    One outcome alone has its exact 95 % interval, as few runs say less than many.

    Args:
        panels: one, whose series are the settings, from top to bottom.
        axis: what the settings are, with its unit.
        measures: label of each `evaluator.metric`, whose values are 0 and 1; one of them is 1.

    Raises ReportingError for a run that has no such measure.
    """
    drawn = panels[0].drawn
    if not drawn:
        return nothing(panels)
    figure, (axes,) = grid(1, 1, 0.35 * len(drawn) + 1.3)
    left = [0.0] * len(drawn)
    for (measure, name), color in zip(measures.items(), COLORS, strict=False):
        counts = [count(series, measure) for series in drawn]
        widths = [100 * ones / n for ones, n in counts]
        bars = axes.barh(range(len(drawn)), widths, 0.7, left, color=color, label=name)
        axes.bar_label(
            bars, [str(ones or "") for ones, _ in counts], label_type="center", color="w"
        )
        left = [start + width for start, width in zip(left, widths, strict=True)]
    if len(measures) == 1:
        for at, one in enumerate(counts):
            axes.plot([100 * end for end in exact(*one)], [at + 0.25] * 2, color=INK)
    names = [f"{series.label} ({len(series.behind)} runs)" for series in drawn]
    axes.set_yticks(range(len(drawn)), names)
    axes.set_ylim(len(drawn) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 100)
    axes.set_xlabel("runs (%); numbers: runs")
    axes.set_ylabel(axis)
    figure.legend(loc="outside upper center", ncols=len(measures))
    about = " Lines: exact 95 % intervals (Clopper-Pearson)." if len(measures) == 1 else ""
    footnote(figure, panels, f"{seeds(drawn)}.".capitalize() + about)
    return figure


def count(series: Series, measure: str) -> tuple[int, int]:
    """Return in how many runs the measure is 1, and the number of runs; ReportingError for none."""
    outcomes = []
    for one in series.behind:
        outcome = one.outcome(measure)
        if outcome is None:
            raise ReportingError(
                f"{one.path}: there is no value of {measure}; correct the name, or measure the run "
                "again."
            )
        outcomes.append(outcome)
    return sum(outcomes), len(outcomes)
