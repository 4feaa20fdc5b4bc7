"""A figure as the page shows it: a vector drawing, and its data as CSV."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import quote

from markupsafe import Markup

from workflow.files import csv_text, read_sidecar
from workflow.reporting.tables.names import number_of

SAFE = " /:;=,()'*+-._~!@$?[]{}|^`\n"
"""What a data address of an SVG needs not escape."""
COLUMNS = ("panel", "series", "x", "y")


@dataclass(frozen=True)
class ShownFigure:
    """A drawing with what is said of it."""

    name: str
    address: str
    title: str
    caption: str
    image: Markup
    width: int
    height: int
    """In pixels."""
    data: str
    """The numbers that it shows, as CSV."""
    not_run: Sequence[str]
    identities: Collection[str]
    """Of all runs behind it."""


def shown(paper: str, name: str, file: Path) -> ShownFigure:
    """Return what the page shows of a figure, from its `.svg` and the sidecar beside it."""
    sidecar = read_sidecar(file)
    svg = file.read_text(encoding="utf-8")
    svg = svg[svg.index("<svg") :]
    width, height = (_pixels(svg, side) for side in ("width", "height"))
    lines = [dict(zip(COLUMNS, row, strict=True)) for row in sidecar["data"]]
    return ShownFigure(
        name=name,
        address=f"{paper}/{name}",
        title=sidecar["title"],
        caption=sidecar["caption"],
        image=Markup("data:image/svg+xml,") + quote(svg, safe=SAFE),
        width=width,
        height=height,
        data=csv_text(COLUMNS, lines),
        not_run=sidecar["not_run"],
        identities=set(sidecar["runs"]),
    )


def _pixels(svg: str, side: str) -> int:
    """Return a side of an SVG, which is stated in points."""
    found = re.search(rf' {side}="([\d.]+)pt"', svg)
    return round(float(found[1]) * 96 / 72) if found else 0


def named(title: str, keys: Sequence[str]) -> str:
    """Return the paper of a figure without a table: the one that its title names, or the first."""
    return next((key for key in keys if f"({key})" in title), keys[0])


class OfRuns(Protocol):
    """A table or a figure."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def title(self) -> str:
        """What it is called; first the paper's number of it, where it has one."""

    @property
    def identities(self) -> Collection[str]:
        """Of all runs behind it."""


class Table(OfRuns, Protocol):
    """A table."""

    @property
    def own(self) -> bool:
        """Whether it is the paper's, and not beyond it."""


FigureT = TypeVar("FigureT", bound=OfRuns)


def placed(
    figures: Iterable[FigureT], tables: Sequence[Table]
) -> tuple[Mapping[str, list[FigureT]], list[FigureT]]:
    """Return the figures by the table that they belong to, and those that belong to none.

    It is the table of which most runs are the figure's; of several one of the paper's own, and of
    these the one with the fewest others. A figure that is called by the paper's number of it
    belongs only to a table with this number.
    """
    beside: dict[str, list[FigureT]] = {table.name: [] for table in tables}
    alone = []
    for figure in figures:
        number = number_of(figure.title)
        among = [table for table in tables if not number or number_of(table.title) == number]
        shared = {table.name: len({*table.identities} & {*figure.identities}) for table in among}
        others = {table.name: len({*table.identities} - {*figure.identities}) for table in among}
        best = max(among, key=lambda it: (shared[it.name], it.own, -others[it.name]), default=None)
        if best and shared[best.name]:
            beside[best.name].append(figure)
        else:
            alone.append(figure)
    return beside, alone
