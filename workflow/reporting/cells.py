"""The cells of a table as a frame: one shape between measures and pages.

A row is a number of ours beside a printed one. Layouts, pages and counts are made of the frame, CSV
and sidecar are written from it, and `read_table` returns it again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any

import pandas as pd

from workflow.files import csv_text, read_csv, read_sidecar

Cell = Mapping[str, Any]
"""A row of the frame, by column."""
IDENTITY = ("source", "row", "column", "metric", "spread_over")
"""What tells a cell from all others of its table."""
NUMBERS = ("expected_std", "mean", "std", "ci_low", "ci_high")
"""Columns whose numbers are rounded where a cell is made."""
WRITTEN: Mapping[str, Any] = {
    **dict.fromkeys(("paper", "source", "table", "row", "column", "metric", "unit"), str),
    **{"statistic": str, "spread_over": str},
    **{"expected": str, "expected_std": float | None, "flag": str},
    **{"mean": float | str | None, "std": float | None, "n": int | None},
    **{"ci_low": float | None, "ci_high": float | None, "verdict": str, "note": str},
}
"""The columns of a table's CSV, with the types of their values.

source: key of the paper that prints the number.
row, column: as a reader sees them; a row with its group.
statistic: what `mean` is: `mean`, `max` (the best of the runs) or `single`.
spread_over: what `std`, `n` and the interval are over: `runs` or `examples`.
expected, expected_std: as printed; nothing where the paper prints nothing.
mean: of ours; a text, such as a list of words, is shown and not scored.
"""
BEHIND: Mapping[str, Any] = {
    **{"measure": str, "corpus": str | None, "difference": str | None},
    **dict.fromkeys(("seeds", "runs", "measures", "partners"), list),
    **{"formerly": str, "between": list, "impossible": list, "diverged": list},
    **{"because": str, "failed": str, "overlaid": dict, "other_devices": list},
}
"""What the sidecar says of each cell beside its `IDENTITY`, with the types.

measure: `evaluator.metric`.
corpus: in a table of corpora, the digest of the data.
difference: of an overlay's value to that of the scale that it stands on.
seeds, runs, measures: of the runs behind it: their seeds, identities and files.
partners: the runs whose records were read, as `<experiment>/<variant>/seed-<n>`.
formerly: the verdict by the tolerance before, where it was another.
between: the values at the checkpoints before and at a crossing, where it is read at one.
impossible, diverged: a sentence on each run whose value is left out, or whose loss rose.
because, failed: why it differs, and why its runs failed.
overlaid: before and after by setting that an overlay changes.
other_devices: what runs of other devices have.
"""
SCHEMA: Mapping[str, Any] = {**WRITTEN, **BEHIND}
"""The columns of the frame in their order."""
OF_RUNS = (*IDENTITY, "measure", "difference", "seeds", "runs", "measures", "partners")
OF_CORPORA = (*IDENTITY[:-1], "corpus", "difference")
"""What the sidecar says of every cell; other columns of `BEHIND` stand there if they have any."""
_EMPTY = {name: None if isinstance(None, kind) else kind for name, kind in SCHEMA.items()}


@dataclass(frozen=True)
class LongForm:
    """A table in long form."""

    cells: pd.DataFrame
    """With the columns of `SCHEMA`."""
    about: Mapping[str, Any]
    """What the sidecar says of the table as a whole."""


def record(**columns: Any) -> dict[str, Any]:
    """Return a row of the frame: numbers are rounded, columns that are not given are empty."""
    row = {name: empty() if empty else None for name, empty in _EMPTY.items()} | columns
    return row | {name: six_digits(row[name]) for name in NUMBERS}


def frame(records: Iterable[Cell]) -> pd.DataFrame:
    """Return the cells of a table; TypeError where a record is not as `SCHEMA` says."""
    rows = list(records)
    for row in rows:
        if row.keys() != SCHEMA.keys():
            raise TypeError(f"columns of a cell: {', '.join(row)}; expected {', '.join(SCHEMA)}")
        for name, kind in SCHEMA.items():
            if not isinstance(row[name], kind):
                raise TypeError(f"{name} of a cell is {row[name]!r}; expected {kind}")
    return pd.DataFrame(rows, columns=[*SCHEMA], dtype=object)


def records(cells: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame, each by column."""
    return [dict(zip(cells.columns, row, strict=True)) for row in cells.to_numpy().tolist()]


def key_of(cell: Cell) -> tuple[str, ...]:
    """Return what tells a cell from all others of its table."""
    return tuple(cell[name] for name in IDENTITY)


def csv_of(cells: pd.DataFrame) -> str:
    """Return the cells of a table as CSV text, a value that is missing as an empty one."""
    rows = records(cells[[*WRITTEN]])
    return csv_text([*WRITTEN], ({name: text(it[name]) for name in WRITTEN} for it in rows))


def sidecar_of(table: LongForm) -> dict[str, Any]:
    """Return what the sidecar of a table says: of the table, and under `cells` of each."""
    always = OF_CORPORA if "corpora" in table.about else OF_RUNS
    entries = [
        {
            name: cell[name]
            for name in (*IDENTITY, *BEHIND)
            if name in always or (name in BEHIND and cell[name])
        }
        for cell in records(table.cells)
    ]
    return {**table.about, "cells": entries}


def read_table(path: Path) -> LongForm:
    """Read a table by its CSV, published or not.

    Raises ReportingError when it is missing, Damaged when one of its files was changed.
    """
    lines = read_csv(path)
    about = read_sidecar(path)
    entries = about.pop("cells")
    del about["files"]
    return LongForm(frame(starmap(_read, zip(lines, entries, strict=True))), about)


def _read(line: Mapping[str, str], entry: Mapping[str, Any]) -> dict[str, Any]:
    n = int(line["n"]) if line.get("n") else None
    behind = {name: entry[name] for name in BEHIND if name in entry}
    return record(**{**line, "n": n, **behind})


def six_digits(value: float | str | None) -> float | str | None:
    """Return a value as its text says it: a number with the digits of `text`, None for ""."""
    return value_of(text(value))


def value_of(written: str) -> float | str | None:
    """Return the number that a text is, else the text; None for an empty one."""
    try:
        return float(written)
    except ValueError:
        return written or None


def text(value: float | str | None) -> str:
    """Return a value of a cell as text: whole numbers exactly, else six significant digits."""
    if value is None or isinstance(value, str):
        return value or ""
    return str(int(value)) if float(value).is_integer() else f"{value:.6g}"
