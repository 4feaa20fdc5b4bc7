"""How all figures look: colour-blind-safe colours that differ in grey, with marks of their own."""

import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from workflow.reporting.figures.panels import Panel, not_run
from workflow.runtime.errors import ReportingError

DrawableT = TypeVar("DrawableT")
Look = Mapping[str, Any]
LOOKS: tuple[Look, ...] = (
    {"color": "#08306b", "linestyle": "-", "marker": "o"},
    {"color": "#b3472d", "linestyle": "--", "marker": "s"},
    {"color": "#2fa58f", "linestyle": "-.", "marker": "^"},
    {"color": "#e3a33c", "linestyle": ":", "marker": "D"},
    {"color": "#1861f2", "linestyle": (0, (7, 1.5)), "marker": "v"},
    {"color": "#9966cc", "linestyle": (0, (4, 1, 1, 1, 1, 1)), "marker": "P"},
    {"color": "#a1b8e6", "linestyle": (0, (2.5, 1)), "marker": "X"},
)
"""Line style and marker tell series apart without any colour.

The first go from dark to light in grey, and so do the others.
"""
IN_GREY = 4
"""How many lines of one pair of axes can be told apart in grey."""


SETTINGS: Any = {
    "figure.dpi": 150,
    "savefig.dpi": 150,
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "saccade",
    # Words of data may have a $.
    "text.parse_math": False,
}


@contextmanager
def styled() -> Iterator[None]:
    """Apply the settings inside the block only, and close every figure at its end."""
    with plt.rc_context(SETTINGS):
        try:
            yield
        finally:
            plt.close("all")


def looks(drawn: Collection[DrawableT], where: str) -> Iterator[tuple[Look, DrawableT]]:
    """Return what one pair of axes shows, each with its look; ReportingError for too many.

    `where` names the axes in the sentence.
    """
    refuse_many(drawn, where)
    return zip(LOOKS, drawn, strict=False)


def refuse_many(drawn: Collection[Any], where: str) -> None:
    """Raise ReportingError where one pair of axes has more lines than can be told apart in grey."""
    if len(drawn) > IN_GREY:
        raise ReportingError(
            f"{where} has {len(drawn)} lines, and only {IN_GREY} can be told apart in grey; "
            "draw fewer of them, or split them over two panels."
        )


def looks_by_label(labels: Iterable[str]) -> Mapping[str, Look]:
    """Return each label's look, the same in all panels of a figure; ReportingError for too many."""
    names = list(dict.fromkeys(labels))
    if len(names) > len(LOOKS):
        raise ReportingError(
            f"the figure's series have {len(names)} labels, and there are {len(LOOKS)} looks; "
            "draw fewer of them, or split them over two figures."
        )
    return dict(zip(names, LOOKS, strict=False))


def grid(
    count: int, columns: int, height: float, width: float | None = None
) -> tuple[Figure, list[Axes]]:
    """Return a figure with axes for `count` panels in rows of `columns`.

    Each is `height` and `width` inches; as wide as there is room, unless told.
    """
    columns = min(columns, max(count, 1))
    rows = -(-count // columns)
    size = ((width or (5.5 if columns == 1 else 3.7)) * columns, height * rows)
    figure, all_axes = plt.subplots(
        rows, columns, figsize=size, layout="constrained", squeeze=False
    )
    for axes in all_axes.flat[count:]:
        say(axes, "")
    return figure, list(all_axes.flat[:count])


def legend_below(axes: Axes, **more: Any) -> None:
    """Write the legend below the axes."""
    below: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.18)}
    axes.legend(**below, **more, fontsize=7.5)


def say(axes: Axes, text: str) -> None:
    """Write a sentence in the place of a panel that has nothing to draw."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    place: Any = {"ha": "center", "va": "center", "transform": axes.transAxes}
    axes.text(0.5, 0.5, text, color="#444444", wrap=True, **place)


def footnote(figure: Figure, panels: Sequence[Panel], about: str = "") -> None:
    """Write a small line below the whole figure: what it is `about`, and what was not run."""
    if text := f"{about} {not_run(panels)}".strip():
        figure.text(0.01, -0.01, text, ha="left", va="top", fontsize=7, color="#444444", wrap=True)


def nothing(panels: Sequence[Panel]) -> Figure:
    """Return a small figure that says of all its panels that they were not run."""
    figure, (axes,) = grid(1, 1, 0.6)
    say(axes, "not run")
    footnote(figure, panels)
    return figure


def rendered(figure: Figure, kind: str) -> bytes:
    """Return the figure as `pdf`, `png` or `svg`, equal bytes for an equal figure."""
    for axes in figure.findobj(Axes):
        _parse_powers(axes)
    buffer = io.BytesIO()
    undated = {"pdf": "CreationDate", "png": "Software", "svg": "Date"}
    figure.savefig(buffer, format=kind, metadata={undated[kind]: None}, bbox_inches="tight")
    return slim(buffer.getvalue()) if kind == "svg" else buffer.getvalue()


def _parse_powers(axes: Any) -> None:
    """Let the numbers of logarithmic axes be powers, which Matplotlib writes in its markup."""
    for axis in (axes.xaxis, axes.yaxis):
        if isinstance(axis.get_major_formatter(), LogFormatter):
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                tick.label1.set_parse_math(True)
                tick.label2.set_parse_math(True)  # right of a bar of colours


def slim(svg: bytes) -> bytes:
    """Return an SVG without indents and names of its groups, its places to a tenth of a point.

    Characters that XML does not allow are replaced.
    """
    svg = _NO_XML.sub("\N{REPLACEMENT CHARACTER}".encode(), svg)
    svg = re.sub(rb"\s*\n\s*", b"\n", svg)
    svg = re.sub(rb' id="[A-Za-z0-9.]+_\d+"', b"", svg)
    return re.sub(rb'(?<= )(d|x|y)="[^"]*"', lambda it: _ROUGH.sub(_rounded, it[0]), svg)


_NO_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
_ROUGH = re.compile(rb"\d+\.\d{2,}")


def _rounded(number: re.Match[bytes]) -> bytes:
    return b"%.8g" % round(float(number[0]), 1)
