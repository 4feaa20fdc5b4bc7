"""A table in its paper's own layout: ours with its spread, the paper's beside it, the verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from workflow.definitions.cells import cells, format_of, metrics_of, row_name
from workflow.definitions.tables import Metric, Tables
from workflow.reporting.overlaid import CAPTION, on_other_data, overlaid
from workflow.reporting.statistics.cells import IDENTITY, UNDEFINED, Cell, value_of
from workflow.reporting.statistics.verdict import Between
from workflow.reporting.tables import marks
from workflow.reporting.tables.footnotes import (
    MARK,
    differing,
    failed,
    not_run,
    other_devices,
    refused,
    runs_behind,
    trained_on,
    unequal,
)

Kind = Literal["label", "ours", "paper", "verdict"]
MISSING, NOT_RUN = "–", "not run"
NO_ROW = "None of its rows was run; they stand in the CSV, with what the paper prints."
IN_CSV = "What the paper prints there stands in the CSV."


class Box(NamedTuple):
    """What a reader sees of a cell in one of its sub-columns."""

    text: str
    kind: Kind
    marks: str = ""
    """Of verdicts, in place of their words."""
    words: frozenset[str] = frozenset()
    """Those behind the marks."""


@dataclass(frozen=True)
class Grid:
    """A table's boxes: label columns, then per column ours, and where printed the paper's."""

    labels: tuple[str, ...]
    """Headers of the label columns."""
    columns: tuple[tuple[str, tuple[Kind, ...]], ...]
    """(label, kinds of its sub-columns) of each column."""
    rows: tuple[tuple[Box, ...], ...]
    """Of which anything was run, or that the paper quotes."""
    below: tuple[str, ...]
    """What an overlay changes, which rows were not run, how many runs are behind the cells, and how
    they were trained."""
    caption: str
    """The paper's; not that of a table with other data."""
    remarks: tuple[str, ...]
    """The notes of the table's definition, which hold for the data that it is about."""


@dataclass(frozen=True)
class Shown:
    """A value in a cell's format string.

    `{tau}` shows it with its spread, says of how many runs it is the best, and which value stood
    before it where it is read at a crossing; `{tau:mean}` shows it alone, `{tau:interval}` with its
    95 % interval. `{never:star}` is "*" where the value is above 0, and nothing else.
    """

    mean: float | str | None
    std: float | None
    digits: int
    low: float | None = None
    high: float | None = None
    best_of: int | None = None
    before: float | None = None
    """The value at the checkpoint before, where it is read at a crossing."""

    def __format__(self, how: str) -> str:
        """Return the rounded mean with what `how` asks for, as far as it is known; – where none."""
        if how == "star":
            return "*" if isinstance(self.mean, float) and self.mean > 0 else ""
        if not isinstance(self.mean, float):
            return self.mean or MISSING
        shown = self._rounded(self.mean)
        if how == "interval" and self.low is not None and self.high is not None:
            return f"{shown} [{self._rounded(self.low)}, {self._rounded(self.high)}]"
        if how == "mean":
            return shown
        shown += f"±{self._rounded(self.std)}" if self.std is not None else ""
        shown = f"{self._rounded(self.before)} to {shown}" if self.before is not None else shown
        return shown + (f" (best of {self.best_of})" if self.best_of else "")

    def _rounded(self, number: float) -> str:
        return f"{number:.{self.digits}f}"


@dataclass(frozen=True)
class Beside:
    """What a table's sidecar tells beside its cells, by their `key`."""

    difference: Mapping[tuple[str, ...], str]
    """To the scale that an overlay stands on."""
    between: Mapping[tuple[str, ...], Between]
    """What a value that is read at a crossing lies between."""
    formerly: Mapping[tuple[str, ...], str]
    """The verdict by the tolerance before, where it was another."""
    diverged: Mapping[tuple[str, ...], Sequence[str]]
    """Of the runs behind a value those whose loss rose in training, each with a sentence."""


def grid(
    definitions: Tables,
    name: str,
    given: Sequence[Cell],
    sidecar: Mapping[str, Any],
) -> Grid:
    """Lay out a table's cells; its sidecar has an overlay's differences and the runs behind.

    Rows of which nothing was run are named below the table, and not laid out.
    """
    table = definitions["tables"][name]
    beside = Beside(
        *(_told(sidecar, name) for name in ("difference", "between", "formerly", "diverged"))
    )
    main: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in given:
        if cell.spread_over == definitions["metrics"][cell.metric].get("spread_over", "runs"):
            main.setdefault(cell.place, []).append(cell)
    printed = {cell.column for cell in given if cell.expected}
    by_row, by_column = on_other_data(given, sidecar["cells"])
    columns: list[tuple[str, tuple[Kind, ...]]] = [
        (
            _label(column["label"], by_column.get(column["label"])),
            ("ours", "paper", "verdict") if column["label"] in printed else ("ours",),
        )
        for column in table["columns"]
    ]
    existing = {(row_name(row), column["label"]) for row, column in cells(table)}
    absent = {row_name(row) for row in table["rows"]}
    absent -= {cell.row for cell in given if cell.verdict != "not run"}
    rows = []
    for row in table["rows"]:
        if row_name(row) in absent:
            continue
        line = [Box(str(row["group"]), "label")] if "group" in row else []
        line.append(Box(_label(row["label"], by_row.get(row_name(row))), "label"))
        for column, (_, kinds) in zip(table["columns"], columns, strict=True):
            label = column["label"]
            if (row_name(row), label) not in existing:
                line += [Box("", kind) for kind in kinds]
                continue
            here = {
                metric: main[row_name(row), label, metric] for metric in metrics_of(row, column)
            }
            line += _boxes(definitions["metrics"], format_of(row, column), here, kinds, beside)
        rows.append(tuple(line))
    below = overlaid(sidecar["cells"])
    if "corpora" not in sidecar:  # whose notes say of each what is missing
        if rows:
            missing = (row for row in table["rows"] if row_name(row) in absent)
            named = not_run((str(row.get("group", "")), str(row["label"])) for row in missing)
            printed_too = any(cell.expected for cell in given if cell.row in absent)
            below.append(f"{named} {IN_CSV}" if printed_too else named)
        said = (runs_behind(given), unequal(given), trained_on(sidecar["runs"]))
        below += [formerly] if (formerly := _formerly(sidecar)) else []
        below.append(" ".join(filter(None, said)))
    made = sidecar["cells"]
    below += [*other_devices(made), *refused(made), *differing(made), *failed(made)]
    other = by_row or by_column
    return Grid(
        labels=tuple(table["labels"]),
        columns=tuple(columns),
        rows=tuple(rows),
        below=tuple(filter(None, below)),
        caption=CAPTION if other else str(table["caption"]),
        remarks=() if other else tuple(map(str, table.get("notes", []))),
    )


def _label(label: object, data: str | None) -> str:
    """Return the label of a row or column with the other data that it is on."""
    return f"{label} ({data})" if data else str(label)


def _boxes(
    metrics: Mapping[str, Metric],
    form: str,
    here: Mapping[str, Sequence[Cell]],
    kinds: Sequence[Kind],
    beside: Beside,
) -> list[Box]:
    """Return the boxes of one place: ours, the paper's, the verdicts."""
    first = {metric: cells[0] for metric, cells in here.items()}
    ours = form.format_map(
        {name: _shown(metrics[name], it, beside.between.get(it.key)) for name, it in first.items()}
    )
    if all(it.verdict == "not run" for it in first.values()):
        ours = NOT_RUN
    elif all(it.mean == UNDEFINED for it in first.values()):
        ours = MISSING
    if any(it.key in beside.diverged for it in first.values()):
        ours += f" {MARK}".rstrip()
    changes = [beside.difference.get(it.key) for it in first.values()]
    if any(changes):
        ours += f" [Δ {', '.join(change for change in changes if change)}]"
    theirs = form.format_map({name: _printed(cells) for name, cells in here.items()})
    theirs = theirs.replace(f" ({MISSING})", "")
    theirs += "*" if any(it.flag == "starred" for it in first.values()) else ""
    judged = {
        name: {it.source: _verdict(it, beside) for it in cells if it.expected}
        for name, cells in here.items()
    }
    words = frozenset(word for by_source in judged.values() for word in by_source.values())
    said = "; ".join(
        part for name, words in judged.items() for part in _verdicts(metrics[name]["label"], words)
    )
    boxes: dict[Kind, Box] = {
        "ours": Box(ours, "ours"),
        "paper": Box(theirs if words else "", "paper"),
        "verdict": Box(
            "".join(words) if len(words) == 1 else said, "verdict", marks.of(judged), words
        ),
    }
    return [boxes[kind] for kind in kinds]


def _told(sidecar: Mapping[str, Any], name: str) -> dict[tuple[str, ...], Any]:
    """Return what a table's sidecar tells of cells under a name, by their `key`."""
    return {
        tuple(cell[part] for part in IDENTITY): cell[name]
        for cell in sidecar["cells"]
        if cell.get(name)
    }


def _verdict(cell: Cell, beside: Beside) -> str:
    """Return a cell's verdict, with the one that a former tolerance gave where it was another."""
    former = beside.formerly.get(cell.key)
    return f"{cell.verdict} (was {former})" if former else cell.verdict


def _formerly(sidecar: Mapping[str, Any]) -> str:
    """Say until when verdicts of this table were others."""
    rules = sidecar["tolerances"]
    shown = [cell["metric"] for cell in sidecar["cells"] if cell.get("formerly")]
    days = sorted({rules[metric]["formerly"]["until"] for metric in shown})
    return f"“was”: by the tolerances until {', '.join(days)}, see the CSV." if days else ""


def _shown(metric: Metric, cell: Cell, between: Between | None = None) -> Shown:
    """Return our value; it has no deviation of 0 where no training changes the metric (a count)."""
    fixed = metric.get("tolerance", {}).get("seed_std") == 0
    std = None if fixed and cell.std == 0 else cell.std
    best_of = cell.n if cell.statistic == "max" else None
    shown = Shown(cell.mean, std, int(metric["digits"]), cell.ci_low, cell.ci_high, best_of)
    return replace(shown, before=between[0]) if between and between[0] != between[1] else shown


def _verdicts(label: str, by_source: Mapping[str, str]) -> list[str]:
    """Return a metric's verdict, or one a text where they differ."""
    words = set(by_source.values())
    if len(words) > 1:
        return [f"{label} ({source}): {word}" for source, word in by_source.items()]
    return [f"{label}: {word}" for word in words]


def _printed(cells: Sequence[Cell]) -> Shown:
    """Return what the texts print: one number with its digits, or each where they disagree."""
    number = " / ".join(dict.fromkeys(it.expected for it in cells if it.expected))
    return Shown(value_of(number), cells[0].expected_std, len(number.partition(".")[2]))


def notes(shown: Grid) -> list[str]:
    """Return what stands below a table: what was not run, its runs, spreads and readings."""
    return [*shown.below, *shown.remarks]
