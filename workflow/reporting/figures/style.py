"""How all figures look: colour-blind-safe colours that differ in grey, with marks of their own."""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

Look = Mapping[str, Any]
LOOKS: tuple[Look, ...] = (
    {"color": "#08306b", "linestyle": "-", "marker": "o"},
    {"color": "#b3472d", "linestyle": "--", "marker": "s"},
    {"color": "#2fa58f", "linestyle": "-.", "marker": "^"},
    {"color": "#e3a33c", "linestyle": ":", "marker": "D"},
)
"""Dark to light in grey; line style and marker tell series apart without any colour."""

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
}


@contextmanager
def styled() -> Iterator[None]:
    """Apply the settings inside the block only, and close every figure at its end."""
    with plt.rc_context(SETTINGS):
        try:
            yield
        finally:
            plt.close("all")


def say(axes: Axes, text: str) -> None:
    """Write a sentence in the place of a panel that has nothing to draw."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    place: Any = {"ha": "center", "va": "center", "transform": axes.transAxes}
    axes.text(0.5, 0.5, text, color="#444444", wrap=True, **place)


def footnote(figure: Figure, text: str) -> None:
    """Write a small line below the whole figure, if there is anything to say."""
    if text:
        figure.text(0.01, -0.01, text, ha="left", va="top", fontsize=7, color="#444444", wrap=True)


def rendered(figure: Figure, kind: str) -> bytes:
    """Return the figure as `pdf` or `png`, equal bytes for an equal figure."""
    buffer = io.BytesIO()
    metadata = {"CreationDate": None} if kind == "pdf" else {"Software": None}
    figure.savefig(buffer, format=kind, metadata=metadata, bbox_inches="tight")
    return buffer.getvalue()
