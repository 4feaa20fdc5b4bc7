"""How all figures look: one colour and mark a mechanism, and a size at which their type is read."""

import io
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from workflow.reporting.figures.panels import Panel, not_run
from workflow.runtime.errors import ReportingError

Look = Mapping[str, Any]
INK, MUTED, FAINT = "#1f2328", "#757c84", "#8b949e40"
"""Colours of text, of what is beside the matter, and of lines that guide the eye."""
MECHANISMS: Mapping[str, tuple[str, str | tuple[int, int, int]]] = {
    "softmax": ("#2f7ed8", "o"),
    "Gumbel": ("#d9541e", "s"),
    "1.5-entmax": ("#0a9d78", "^"),
    "top-k": ("#a67c00", "D"),
    "sparsemax": ("#9a5fd0", "v"),
    "α-entmax": ("#5f8f1f", "P"),
    "ReLA": ("#c244a0", "X"),
    "ASEntmax": ("#4f86a8", "<"),
    "SSMax": ("#7683d6", ">"),
    "softpick": ("#b5654a", "h"),
    "differential": ("#7d8187", "d"),
    "selective": ("#8a7d5c", "p"),
    "argmax without noise": ("#b06f12", "*"),
    "stick-breaking": ("#3f9e9e", "8"),
    "sink logit": ("#5b6ee1", "H"),
    "softmax-1": ("#4b86c8", (4, 1, 0)),
    "sigmoid": ("#b04a6f", (3, 1, 0)),
    "forgetting": ("#3d9142", (6, 1, 0)),
    "gated": ("#a8569b", (3, 1, 180)),
    "lightning indexer": ("#b5547a", (5, 1, 180)),
    "threshold relative": ("#5f8a5a", (4, 1, 45)),
    "threshold differential": ("#8f6f9e", (7, 1, 0)),
}
"""Colour and mark of a mechanism, in each figure; light enough for a dark page, and dark enough for
a white one."""
SAME = {"discrete": "Gumbel", "soft": "softmax"}
"""What papers call a mechanism."""
OTHERS = ((INK, "o"), ("#b07a3f", "s"), ("#2f97a5", "^"), ("#7d61d1", "D"), ("#c1156b", "v"))
"""Colours and marks of what is no mechanism, in the order in which it appears."""
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))
SHADES = LinearSegmentedColormap.from_list("saccade", ["#2f7ed800", "#2f7ed8"])
"""From nothing, which shows the page, to full."""
WIDTH, SMALL = 7.2, 8
"""Inches of a figure, which a page shows at its size, and points of the smallest type."""

SETTINGS: Any = {
    "figure.dpi": 150,
    "savefig.dpi": 150,
    "font.size": 9,
    "axes.titlesize": 9,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "saccade",
    # Words of data may have a $.
    "text.parse_math": False,
} | dict.fromkeys(
    ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK
)


@contextmanager
def styled() -> Iterator[None]:
    """Apply the settings inside the block only, and close every figure at its end."""
    with plt.rc_context(SETTINGS):
        try:
            yield
        finally:
            plt.close("all")


def looks(labels: Iterable[str]) -> Mapping[str, Look]:
    """Return each label's look; ReportingError for more labels than there are looks.

    A label that has a mechanism's name in it has its colour and mark; a second such label of a
    figure is dashed and hollow.
    """
    found: dict[str, Look] = {}
    others, taken = iter(OTHERS), Counter[str]()
    for label in dict.fromkeys(labels):
        color, marker = MECHANISMS.get(_mechanism(label)) or next(others, ("", ""))
        if not color or taken[color] == len(DASHES):
            raise ReportingError(f"{label}: no look is left for it; draw fewer lines in a figure.")
        face = "none" if taken[color] else color
        found[label] = {
            "color": color,
            "marker": marker,
            "markerfacecolor": face,
            "linestyle": DASHES[taken[color]],
        }
        taken[color] += 1
    return found


def _mechanism(label: str) -> str:
    names = {**{name: name for name in MECHANISMS}, **SAME}
    found = [part for part in names if part in label]
    return names[max(found, key=len)] if found else ""


def grid(
    count: int, columns: int, height: float, width: float = WIDTH, **more: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure with axes for `count` panels in rows of `columns`, each `height` inches."""
    columns = min(columns, max(count, 1))
    rows = -(-count // columns)
    figure, all_axes = plt.subplots(
        rows, columns, figsize=(width, height * rows), layout="constrained", squeeze=False, **more
    )
    for axes in all_axes.flat[count:]:
        say(axes, "")
    return figure, list(all_axes.flat[:count])


def name_ends(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write names right of the axes, each at the height of its line's end, moved apart.

    Args:
        axes: whose limits are set.
        ends: the last y, name and colour of each line.
    """
    height = axes.get_window_extent().height / SETTINGS["figure.dpi"]
    gap = 1.25 * SMALL / 72 / height
    to_axes = axes.transData + axes.transAxes.inverted()
    wanted = sorted((float(to_axes.transform((1, y))[1]), name, color) for y, name, color in ends)
    places: list[float] = []
    for at, (y, _, _) in enumerate(wanted):
        most = 1 - gap * (len(wanted) - 1 - at)
        places.append(max(min(y, most), places[-1] + gap if places else 0))
    for place, (_, name, color) in zip(places, wanted, strict=True):
        where: Any = {"transform": axes.transAxes, "va": "center", "color": color}
        axes.text(1.03, place, name, fontsize=SMALL, **where)


def say(axes: Axes, text: str) -> None:
    """Write a sentence in the place of a panel that has nothing to draw."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    place: Any = {"ha": "center", "va": "center", "transform": axes.transAxes}
    axes.text(0.5, 0.5, text, color=MUTED, wrap=True, **place)


def footnote(figure: Figure, panels: Sequence[Panel], about: str = "") -> None:
    """Write a small line below the whole figure: what it is `about`, and what was not run."""
    if text := f"{about} {not_run(panels)}".strip():
        lines = textwrap.wrap(text, int(figure.get_size_inches()[0] * 16))
        place: Any = {"x": 0.01, "ha": "left", "alpha": 0.75, "fontsize": SMALL}
        figure.supxlabel("\n".join(lines), **place)


def nothing(panels: Sequence[Panel]) -> Figure:
    """Return a small figure that says of all its panels that they were not run."""
    figure, (axes,) = grid(1, 1, 0.9)
    say(axes, "not run")
    footnote(figure, panels)
    return figure


def rendered(figure: Figure, kind: str) -> bytes:
    """Return the figure as `pdf`, `png` or `svg`, equal bytes for an equal figure.

    An SVG has no background, and its ink is light on a dark page.
    """
    for axes in figure.findobj(Axes):
        _parse_powers(axes)
    buffer = io.BytesIO()
    undated = {"pdf": "CreationDate", "png": "Software", "svg": "Date"}
    metadata: Any = {undated[kind]: None}
    figure.savefig(buffer, format=kind, metadata=metadata, transparent=kind == "svg")
    return _themed(slim(buffer.getvalue())) if kind == "svg" else buffer.getvalue()


def _parse_powers(axes: Any) -> None:
    """Let the numbers of logarithmic axes be powers, which Matplotlib writes in its markup."""
    for axis in (axes.xaxis, axes.yaxis):
        if isinstance(axis.get_major_formatter(), LogFormatter):
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                tick.label1.set_parse_math(True)
                tick.label2.set_parse_math(True)  # right of a bar of colours


def _themed(svg: bytes) -> bytes:
    """Return an SVG whose ink is the page's, light where the reader's pages are dark."""
    svg = svg.replace(INK.encode(), b"currentColor")
    style = f"svg{{color:{INK}}}@media(prefers-color-scheme:dark){{svg{{color:#e6edf3}}}}"
    return svg.replace(b"<defs>", f"<style>{style}</style><defs>".encode(), 1)


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
