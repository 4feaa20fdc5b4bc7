"""A table in its paper's own layout: ours with its spread, the paper's beside it, the verdict."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from string import Formatter
from typing import TypedDict, cast

import numpy as np
import pandas as pd

from workflow.definitions.cells import cells, format_of, metrics_of, row_name
from workflow.definitions.tables import Metric, TableRow, Tables
from workflow.reporting.cells import Cell, LongForm, records, value_of
from workflow.reporting.overlaid import CAPTION, on_other_data, overlaid
from workflow.reporting.statistics.aggregates import UNDEFINED
from workflow.reporting.tables import marks
from workflow.reporting.tables.footnotes import (
    MARK,
    ON_GPU,
    TWO_DEVICES,
    differing,
    failed,
    not_run,
    on_gpu,
    other_devices,
    refused,
    runs_behind,
    trained_on,
    unequal,
)

MISSING, NOT_RUN = "–", "not run"
NO_ROW = "None of its rows was run; they stand in the CSV, with what the paper prints."
IN_CSV = "What the paper prints there stands in the CSV."
TEXTS = ("ours", "paper", "verdict", "marks")
SEVERAL = re.compile(r" \((?=[^()]*\)$)| / ")
"""What stands between the numbers of a cell's format string."""


class CellTexts(TypedDict):
    """What a reader sees at a row and a column."""

    row: str
    """As cells have it, as `column` is."""
    column: str
    ours: str
    paper: str
    verdict: str
    marks: str
    """Of verdicts."""
    words: frozenset[str]
    """The verdicts."""
    metric: str
    """The label of its first metric."""
    numbers: Sequence["CellTexts"]
    """The same of each of its numbers, where it has several."""


EMPTY = CellTexts(
    row="",
    column="",
    ours="",
    paper="",
    verdict="",
    marks="",
    words=frozenset(),
    metric="",
    numbers=(),
)
"""What a reader sees where a row has no such column."""


@dataclass(frozen=True)
class Grid:
    """A table in its layout: texts by row and column."""

    labels: tuple[str, ...]
    """Headers of the label columns."""
    columns: tuple[str, ...]
    """Headers of the others."""
    compared: tuple[bool, ...]
    """Of each of these, whether the paper prints anything in it."""
    rows: tuple[tuple[str, ...], ...]
    """The labels of each row of which anything was run, or that the paper quotes."""
    texts: pd.DataFrame
    """A line for each row and column, see `CellTexts`."""
    below: tuple[str, ...]
    """What an overlay changes, which rows were not run, how many runs are behind the cells, and how
    they were trained."""
    caption: str
    """The paper's; not that of a table with other data."""
    caution: str
    """What a reader must know before rows are compared; shown with the table, never folded."""
    remarks: tuple[str, ...]
    """The notes of the table's definition, which hold for the data that it is about."""

    @property
    def lines(self) -> Iterator[tuple[tuple[str, ...], list[CellTexts]]]:
        """The labels of each row, with its texts, one for each column."""
        texts, width = cast(list[CellTexts], records(self.texts)), len(self.columns)
        for at, labels in enumerate(self.rows):
            yield labels, texts[at * width : (at + 1) * width]

    @property
    def ours(self) -> "Grid":
        """The same without the rows that have no number of ours."""
        of_row = self.texts["ours"].to_numpy().reshape(len(self.rows), len(self.columns))
        kept = [any(text not in ("", NOT_RUN, MISSING) for text in row) for row in of_row]
        rows = tuple(labels for labels, it in zip(self.rows, kept, strict=True) if it)
        return replace(self, rows=rows, texts=self.texts[np.repeat(kept, len(self.columns))])

    @property
    def notes(self) -> list[str]:
        """What stands below the table: what was not run, its runs, spreads and readings."""
        return [*self.below, *self.remarks]


def grid(definitions: Tables, name: str, table: LongForm) -> Grid:
    """Lay out a table.

    Rows of which nothing was run are named below the table, and not laid out.
    """
    definition, given = definitions["tables"][name], records(table.cells)
    by_row, by_column = on_other_data(table.cells)
    printed = {cell["column"] for cell in given if cell["expected"]}
    run = {cell["row"] for cell in given if cell["verdict"] != "not run"}
    rows = [row for row in definition["rows"] if row_name(row) in run]
    missing = [row for row in definition["rows"] if row_name(row) not in run]
    below = overlaid(given)
    if "corpora" not in table.about:  # whose notes say of each what is missing
        if rows:
            named = not_run((str(row.get("group", "")), str(row["label"])) for row in missing)
            printed_too = any(cell["expected"] for cell in given if cell["row"] not in run)
            below.append(f"{named} {IN_CSV}" if printed_too else named)
        below.append(_formerly(table))
        below += [runs_behind(table.cells), unequal(table.cells), trained_on(table.about["runs"])]
    below += [*other_devices(given), *refused(given), *differing(given), *failed(given)]
    other, gpu = by_row or by_column, on_gpu(table)
    return Grid(
        labels=tuple(definition["labels"]),
        columns=tuple(_label(it["label"], by_column) for it in definition["columns"]),
        compared=tuple(it["label"] in printed for it in definition["columns"]),
        rows=tuple(
            (
                *([str(row["group"])] if "group" in row else []),
                _label(row["label"], by_row, row_name(row)),
            )
            for row in rows
        ),
        texts=_texts(definitions, name, given, rows, gpu),
        below=tuple(filter(None, below)),
        caption=CAPTION if other else str(definition["caption"]),
        caution=TWO_DEVICES if gpu else "",
        remarks=() if other else tuple(map(str, definition.get("notes", []))),
    )


def _label(label: object, data: Mapping[str, str], name: str | None = None) -> str:
    """Return the label of a row or column with the other data that it is on, by its `name`."""
    other = data.get(str(label) if name is None else name)
    return f"{label} ({other})" if other else str(label)


def _texts(
    definitions: Tables,
    name: str,
    given: Sequence[Cell],
    rows: Sequence[TableRow],
    gpu: Collection[tuple[str, str, str]],
) -> pd.DataFrame:
    """Return the texts of some rows, see `Grid.texts`; `gpu` has what is marked, see `on_gpu`."""
    table, metrics = definitions["tables"][name], definitions["metrics"]
    here: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in given:
        if cell["spread_over"] == metrics[cell["metric"]].get("spread_over", "runs"):
            here.setdefault((cell["row"], cell["column"], cell["metric"]), []).append(cell)
    existing = {(row["id"], column["id"]) for row, column in cells(table)}
    lines = []
    for row, column in product(rows, table["columns"]):
        names = row_name(row), column["label"]
        texts: CellTexts = {**EMPTY, "row": names[0], "column": names[1]}
        if (row["id"], column["id"]) in existing:
            behind = {metric: here[*names, metric] for metric in metrics_of(row, column)}
            marked = {metric for metric in behind if (*names, metric) in gpu}
            texts = _text(metrics, format_of(row, column), behind, marked)
        lines.append(texts)
    return pd.DataFrame(lines, columns=[*EMPTY], dtype=object)


def _text(
    metrics: Mapping[str, Metric],
    form: str,
    here: Mapping[str, Sequence[Cell]],
    gpu: Collection[str] = (),
) -> CellTexts:
    """Return the texts of one place: ours, the paper's, the verdicts."""
    first = {metric: cells[0] for metric, cells in here.items()}
    ours = _filled(form, lambda name, how: _ours(metrics[name], first[name], how))
    if all(cell["verdict"] == "not run" for cell in first.values()):
        ours = NOT_RUN
    elif all(cell["mean"] == UNDEFINED for cell in first.values()):
        ours = MISSING
    if any(cell["diverged"] for cell in first.values()):
        ours += f" {MARK}".rstrip()
    if here.keys() & gpu:
        ours += f" {ON_GPU}"
    if changes := [cell["difference"] for cell in first.values() if cell["difference"]]:
        ours += f" [Δ {', '.join(changes)}]"
    paper = _filled(form, lambda name, how: _printed(here[name], how)).replace(f" ({MISSING})", "")
    paper += "*" if any(cell["flag"] == "starred" for cell in first.values()) else ""
    judged = {
        name: {cell["source"]: _verdict(cell) for cell in cells if cell["expected"]}
        for name, cells in here.items()
    }
    words = frozenset(word for by_source in judged.values() for word in by_source.values())
    verdicts = "; ".join(
        part for name, words in judged.items() for part in _verdicts(metrics[name]["label"], words)
    )
    name, cell = next(iter(first.items()))
    return {
        "row": cell["row"],
        "column": cell["column"],
        "ours": ours,
        "paper": paper if words else "",
        "verdict": "".join(words) if len(words) == 1 else verdicts,
        "marks": marks.of(judged),
        "words": words,
        "metric": metrics[name]["label"],
        "numbers": [
            _text(
                metrics, part, {it[1]: here[it[1]] for it in Formatter().parse(part) if it[1]}, gpu
            )
            for part in (parts(form) if len(here) > 1 else ())
            if part != form
        ],
    }


def parts(text: str) -> list[str]:
    """Return the parts of a format string, or of a label like it: `a (b)` and `a / b` have two."""
    several = SEVERAL.split(text)
    return [*several[:-1], several[-1].removesuffix(")")] if several[1:] else several


def _filled(form: str, value: Callable[[str, str], str]) -> str:
    """Return a cell's format string with values, of each its metric and what follows the colon."""
    parts = Formatter().parse(form)
    return "".join(text + (value(name, how or "") if name else "") for text, name, how, _ in parts)


def _verdict(cell: Cell) -> str:
    """Return a cell's verdict, with the one that a former tolerance gave where it was another."""
    return f"{cell['verdict']} (was {cell['formerly']})" if cell["formerly"] else cell["verdict"]


def _formerly(table: LongForm) -> str:
    """Say until when verdicts of this table were others."""
    metrics = table.cells.loc[table.cells["formerly"] != "", "metric"]
    days = sorted({table.about["tolerances"][it]["formerly"]["until"] for it in metrics})
    return f"“was”: by the tolerances until {', '.join(days)}, see the CSV." if days else ""


def _ours(metric: Metric, cell: Cell, how: str) -> str:
    """Return our value; it has no deviation of 0 where no training changes the metric (a count)."""
    fixed = metric.get("tolerance", {}).get("seed_std") == 0
    between = cell["between"]
    return shown(
        cell["mean"],
        None if fixed and cell["std"] == 0 else cell["std"],
        int(metric["digits"]),
        how,
        ends=(cell["ci_low"], cell["ci_high"]),
        best_of=cell["n"] if cell["statistic"] == "max" else None,
        before=between[0] if between and between[0] != between[1] else None,
    )


def _printed(cells: Sequence[Cell], how: str) -> str:
    """Return what the texts print: one number with its digits, or each where they disagree."""
    number = " / ".join(dict.fromkeys(cell["expected"] for cell in cells if cell["expected"]))
    digits = len(number.partition(".")[2])
    return shown(value_of(number), cells[0]["expected_std"], digits, how)


def _verdicts(label: str, by_source: Mapping[str, str]) -> list[str]:
    """Return a metric's verdict, or one a text where they differ."""
    words = set(by_source.values())
    if len(words) > 1:
        return [f"{label} ({source}): {word}" for source, word in by_source.items()]
    return [f"{label}: {word}" for word in words]


def shown(
    mean: float | str | None,
    std: float | None,
    digits: int,
    how: str = "",
    ends: tuple[float | None, float | None] = (None, None),
    best_of: int | None = None,
    before: float | None = None,
) -> str:
    """Return a value as a reader sees it; – where there is none.

    Args:
        mean: the value.
        std: its spread.
        digits: behind the point.
        how: what follows the metric in a format string. `{tau}` shows the value with its spread,
            of how many runs it is the best, and which value stood before it where it is read at a
            crossing; `{tau:mean}` shows it alone, `{tau:interval}` with its 95 % interval.
            `{never:star}` is "*" where the value is above 0, and nothing else.
        ends: of the interval.
        best_of: how many runs it is the best of.
        before: the value at the checkpoint before a crossing.
    """
    if how == "star":
        return "*" if isinstance(mean, float) and mean > 0 else ""
    if not isinstance(mean, float):
        return mean or MISSING
    text = f"{mean:.{digits}f}"
    low, high = ends
    if how == "interval" and low is not None and high is not None:
        return f"{text} [{low:.{digits}f}, {high:.{digits}f}]"
    if how == "mean":
        return text
    text += f"±{std:.{digits}f}" if std is not None else ""
    text = f"{before:.{digits}f} to {text}" if before is not None else text
    return text + (f" (best of {best_of})" if best_of else "")
