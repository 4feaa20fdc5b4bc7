"""A table as the page shows it: every cell with its address, and every number in full below."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from workflow.definitions.cells import row_name
from workflow.definitions.tables import Metric, Tables
from workflow.reporting.cells import Cell, LongForm, RunOrigin, records, text
from workflow.reporting.page.marks import Mark
from workflow.reporting.page.runs import addresses
from workflow.reporting.tables import layout
from workflow.reporting.tables.names import number_of


class PlacedCell(Cell):
    """A cell with its address."""

    place: str
    """`<paper>/<table>/<row>/<column>`; behind it each of its numbers has its metric."""


class ShownCell(NamedTuple):
    """What is shown of a row in a column."""

    address: str
    ours: str
    paper: str
    marks: list[Mark]
    link: str
    """To the entry of its runs, else to its first number in full."""
    runs: list[str]
    """Their entries."""
    seeds: list[int]


class ShownRow(NamedTuple):
    """A row of which anything was run."""

    labels: tuple[str, ...]
    cells: list[ShownCell | None]
    """None where there is no such cell."""
    words: str
    """Of its verdicts, for the search."""
    quoted: bool
    """Whether all that it shows is."""


class ShownLine(NamedTuple):
    """A number in full, as texts."""

    address: str
    """Nothing where another line of the same metric has it."""
    cell: str
    """The address of the one that shows it."""
    row: str
    column: str
    metric: str
    ours: str
    spread: str
    counted: str
    """Over how many runs or examples."""
    interval: str
    paper: str
    mark: Mark | None
    why: str
    beside: list[str]
    """The variants whose records were read for it."""


@dataclass(frozen=True)
class ShownTable:
    """A table with its rows, its numbers in full, and its notes."""

    name: str
    address: str
    title: str
    number: str
    """Of the paper's own table or section, as `Table 6.1`; nothing of another table."""
    own: bool
    """Whether it is the paper's, and not beyond it: it has a number, or shows a printed one."""
    caption: str
    source: str
    """The key of the paper that it is of."""
    labels: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[ShownRow]
    lines: Sequence[ShownLine]
    notes: Sequence[str]
    identities: Collection[str]
    """Of all runs behind it."""

    @property
    def run(self) -> bool:
        """Whether it shows anything of ours."""
        return any(not row.quoted for row in self.rows)

    @property
    def example(self) -> str:
        """The address of its first number that a training is behind; nothing without one."""
        cells = (cell for row in self.rows for cell in row.cells if cell and cell.runs)
        return next((cell.address for cell in cells), "")


def shown(paper: str, definitions: Tables, name: str, table: LongForm) -> ShownTable:
    """Return what the page shows of a table."""
    definition, grid = definitions["tables"][name], layout.grid(definitions, name, table)
    address, runs = f"{paper}/{name}", table.about.get("runs", {})
    rows = {row_name(row): row["id"] for row in definition["rows"]}
    columns = {str(column["label"]): column["id"] for column in definition["columns"]}
    cells: list[PlacedCell] = [
        {**cell, "place": f"{address}/{rows[cell['row']]}/{columns[cell['column']]}"}
        for cell in records(table.cells)
    ]
    return ShownTable(
        name=name,
        address=address,
        title=definition["title"],
        number=(number := number_of(definition["title"])),
        own=bool(number) or any(cell["expected"] for cell in cells),
        caption=f"{grid.caption} {grid.caution}".strip(),
        source=definition["source"],
        labels=grid.labels,
        columns=grid.columns,
        rows=list(_rows(definitions["metrics"], grid, cells, runs)),
        lines=list(_lines(definitions["metrics"], cells)),
        notes=grid.notes,
        identities=set(runs),
    )


def _rows(
    metrics: Mapping[str, Metric],
    grid: layout.Grid,
    cells: Iterable[PlacedCell],
    runs: Mapping[str, RunOrigin],
) -> Iterator[ShownRow]:
    """Yield the rows of which anything was run."""
    here: dict[tuple[str, str], list[PlacedCell]] = {}
    for cell in cells:
        here.setdefault((cell["row"], cell["column"]), []).append(cell)
    for labels, texts in grid.lines:
        row: list[ShownCell | None] = []
        for shown in texts:
            behind = here.get((shown["row"], shown["column"]))
            if not behind:
                row.append(None)
                continue
            place = behind[0]["place"]
            linked = addresses((run for cell in behind for run in cell["runs"]), runs)
            row.append(
                ShownCell(
                    address=place,
                    ours=shown["ours"],
                    paper=shown["paper"],
                    marks=_marks(metrics, behind),
                    link=linked[0] if linked else f"{place}/{behind[0]['metric']}",
                    runs=linked,
                    seeds=sorted({seed for cell in behind for seed in cell["seeds"]}),
                )
            )
        words = dict.fromkeys(mark.word for one in row if one for mark in one.marks)
        quoted = "quoted" in words and not any(one.runs for one in row if one)
        yield ShownRow(labels, row, "|".join(words), quoted)


def _marks(metrics: Mapping[str, Metric], behind: Iterable[Cell]) -> list[Mark]:
    """Return a cell's verdicts, one of all its numbers where they are the same."""
    judged = [
        Mark(cell["verdict"], metrics[cell["metric"]]["label"], cell["formerly"])
        for cell in behind
        if cell["expected"] or cell["verdict"] == "quoted"
    ]
    alike = {(mark.word, mark.former) for mark in judged}
    return [Mark(word, former=former) for word, former in alike] if len(alike) == 1 else judged


def _lines(metrics: Mapping[str, Metric], cells: Sequence[PlacedCell]) -> Iterator[ShownLine]:
    """Yield the numbers in full."""
    addressed = set()
    spreads: dict[str, set[str]] = {}
    for cell in cells:
        spreads.setdefault(f"{cell['place']}/{cell['metric']}", set()).add(cell["spread_over"])
    for cell in cells:
        own = f"{cell['place']}/{cell['metric']}"
        metric, unit, over = metrics[cell["metric"]]["label"], cell["unit"], cell["spread_over"]
        unit = f" ({unit})" if unit and unit != metric else ""
        several = len(spreads[own]) > 1
        known = cell["ci_low"] is not None and cell["ci_high"] is not None
        yield ShownLine(
            address="" if own in addressed else own,
            cell=cell["place"],
            row=cell["row"],
            column=cell["column"],
            metric=f"{metric}{unit}" + (f", over {over}" if several else ""),
            ours=text(cell["mean"]),
            spread=f"{text(cell['std'])} over {over}" if cell["std"] is not None else "",
            counted=text(cell["n"]),
            interval=f"{text(cell['ci_low'])} to {text(cell['ci_high'])}" if known else "",
            paper=f"{cell['expected']} ({cell['source']})" if cell["expected"] else "",
            mark=Mark(cell["verdict"], former=cell["formerly"]) if cell["expected"] else None,
            why=cell["note"],
            beside=[*dict.fromkeys(run.rpartition("/")[0] for run in cell["partners"])],
        )
        addressed.add(own)


def not_run(cells: pd.DataFrame) -> list[str]:
    """Return the cells without a run: a row's name where it has none at all, else each cell."""
    missing = (cells["verdict"] == "not run").groupby([cells["row"], cells["column"]], sort=False)
    absent = missing.all()
    whole = absent.groupby("row", sort=False).transform("all")[absent].reset_index(name="whole")
    lines = whole.itertuples(index=False)
    return [*dict.fromkeys(row if alone else f"{row}, {column}" for row, column, alone in lines)]
