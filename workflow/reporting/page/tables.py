"""A table as the page shows it: every cell with its address, and every number in full below."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from workflow.definitions.cells import row_name
from workflow.definitions.tables import Tables
from workflow.reporting.page.marks import Mark
from workflow.reporting.page.runs import addresses
from workflow.reporting.statistics.cells import Cell, text
from workflow.reporting.tables import layout

Told = Mapping[str, Any]
"""A cell's entry in its table's sidecar."""


@dataclass(frozen=True)
class ShownCell:
    """What stands in one row and column, and where it leads."""

    address: str
    """`<paper>/<table>/<row>/<column>`; of each of its numbers the metric follows."""
    ours: str
    paper: str
    """What the paper prints, or nothing."""
    marks: Sequence[Mark]
    link: str
    """The entry of the runs behind it, else its first number in full."""
    runs: Sequence[str]
    """The entries of all runs behind it."""
    seeds: Sequence[int]


class ShownRow(NamedTuple):
    """A row: what it is called, and its cells; None where there is no such cell."""

    labels: Sequence[str]
    cells: Sequence[ShownCell | None]

    @property
    def words(self) -> str:
        """The verdicts in it, for the filter."""
        found = [mark.word for cell in self.cells if cell for mark in cell.marks]
        return "|".join(dict.fromkeys(found))


class Line(NamedTuple):
    """A number in full."""

    address: str
    """Nothing where another line of the same metric has it."""
    cell: str
    """The address of the cell that shows it."""
    row: str
    column: str
    metric: str
    ours: str
    spread: str
    n: str
    interval: str
    paper: str
    mark: Mark | None
    why: str
    beside: Sequence[str]
    """The variants whose records were read for it, as `<experiment>/<variant>`."""


@dataclass(frozen=True)
class ShownTable:
    """A table with its rows, its numbers in full, and its notes."""

    name: str
    address: str
    title: str
    caption: str
    source: str
    """The key of the paper that it is of."""
    labels: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[ShownRow]
    lines: Sequence[Line]
    notes: Sequence[str]
    identities: Collection[str]
    """Of all runs behind it."""


def shown(
    paper: str,
    definitions: Tables,
    name: str,
    given: Sequence[Cell],
    sidecar: Mapping[str, Any],
) -> ShownTable:
    """Return what the page shows of a table."""
    table, grid = definitions["tables"][name], layout.grid(definitions, name, given, sidecar)
    told = list(zip(given, sidecar["cells"], strict=True))
    address = f"{paper}/{name}"
    return ShownTable(
        name=name,
        address=address,
        title=table["title"],
        caption=grid.caption,
        source=table["source"],
        labels=grid.labels,
        columns=[label for label, _ in grid.columns],
        rows=list(_rows(address, definitions, table, grid, told, sidecar.get("runs", {}))),
        lines=list(_lines(address, definitions, table, told)),
        notes=layout.notes(grid),
        identities=set(sidecar.get("runs", {})),
    )


def _rows(
    address: str,
    definitions: Mapping[str, Any],
    table: Mapping[str, Any],
    grid: layout.Grid,
    told: Sequence[tuple[Cell, Told]],
    runs: Mapping[str, Mapping[str, Any]],
) -> Iterator[ShownRow]:
    """Yield the rows of which anything was run, the cells of each beside what is told of them."""
    here: dict[tuple[str, str], list[tuple[Cell, Told]]] = {}
    for cell, entry in told:
        here.setdefault((cell.row, cell.column), []).append((cell, entry))
    run = {cell.row for cell, _ in told if cell.verdict != "not run"}
    rows = [row for row in table["rows"] if row_name(row) in run]
    for row, boxes in zip(rows, grid.rows, strict=True):
        labels = [box.text for box in boxes if box.kind == "label"]
        rest = iter(boxes[len(labels) :])
        cells: list[ShownCell | None] = []
        for column, (_, kinds) in zip(table["columns"], grid.columns, strict=True):
            texts = {kind: next(rest).text for kind in kinds}
            behind = here.get((row_name(row), column["label"]))
            if not behind:
                cells.append(None)
                continue
            place = f"{address}/{row['id']}/{column['id']}"
            used = (one for _, entry in behind for one in entry.get("runs", ()))
            linked = addresses(used, runs)
            first = f"{place}/{behind[0][0].metric}"
            cells.append(
                ShownCell(
                    address=place,
                    ours=texts["ours"],
                    paper=texts.get("paper", ""),
                    marks=_marks(definitions["metrics"], behind),
                    link=linked[0] if linked else first,
                    runs=linked,
                    seeds=sorted({seed for _, one in behind for seed in one.get("seeds", ())}),
                )
            )
        yield ShownRow(labels, cells)


def _marks(metrics: Mapping[str, Any], behind: Iterable[tuple[Cell, Told]]) -> list[Mark]:
    """Return a cell's verdicts, one of all its numbers where they are the same."""
    judged = [
        Mark(cell.verdict, metrics[cell.metric]["label"], told.get("formerly") or "")
        for cell, told in behind
        if cell.expected or cell.verdict == "quoted"
    ]
    alike = {(mark.word, mark.former) for mark in judged}
    return [Mark(word, former=former) for word, former in alike] if len(alike) == 1 else judged


def _lines(
    address: str,
    definitions: Mapping[str, Any],
    table: Mapping[str, Any],
    told: Iterable[tuple[Cell, Told]],
) -> Iterator[Line]:
    rows = {row_name(row): row["id"] for row in table["rows"]}
    columns = {str(column["label"]): column["id"] for column in table["columns"]}
    addressed = set()
    for cell, entry in told:
        place = f"{address}/{rows[cell.row]}/{columns[cell.column]}"
        own = f"{place}/{cell.metric}"
        metric = definitions["metrics"][cell.metric]["label"]
        unit = f" ({cell.unit})" if cell.unit and cell.unit != metric else ""
        other = own in addressed and not cell.expected
        known = cell.ci_low is not None and cell.ci_high is not None
        spread = f"{text(cell.std)} over {cell.spread_over}" if cell.std is not None else ""
        yield Line(
            address="" if own in addressed else own,
            cell=place,
            row=cell.row,
            column=cell.column,
            metric=f"{metric}{unit}" + (f", over {cell.spread_over}" if other else ""),
            ours=text(cell.mean),
            spread=spread,
            n="" if cell.n is None else str(cell.n),
            interval=f"{text(cell.ci_low)} to {text(cell.ci_high)}" if known else "",
            paper=f"{cell.expected} ({cell.source})" if cell.expected else "",
            mark=Mark(cell.verdict, former=entry.get("formerly") or "") if cell.expected else None,
            why=cell.note,
            beside=list(dict.fromkeys(one.rpartition("/")[0] for one in entry.get("partners", ()))),
        )
        addressed.add(own)


def not_run(cells: Sequence[Cell]) -> list[str]:
    """Return the cells without a run: a row's name where it has none at all, else each cell."""
    rows: dict[str, dict[str, bool]] = {}
    for cell in cells:
        columns = rows.setdefault(cell.row, {})
        columns[cell.column] = columns.get(cell.column, True) and cell.verdict == "not run"
    named = []
    for row, columns in rows.items():
        missing = [column for column, is_missing in columns.items() if is_missing]
        whole = len(missing) == len(columns)
        named += [row] if whole else [f"{row}, {column}" for column in missing]
    return named
