"""The cells of a table as a frame: one shape between measures and pages.

A row is a number of ours beside a printed one. Layouts, pages and counts are made of the frame, CSV
and sidecar are written from it, and `read_table` returns it again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any, TypedDict, cast, get_type_hints

import pandas as pd

from workflow.datasets.kinds.recipe import Recipe
from workflow.definitions.tables import MetricTolerance
from workflow.files import csv_text, read_csv, read_sidecar

IDENTITY = ("source", "row", "column", "metric", "spread_over")
"""What tells a cell from all others of its table."""
NUMBERS = ("expected_std", "mean", "std", "ci_low", "ci_high")
"""Columns whose numbers are rounded where a cell is made."""


class WrittenCell(TypedDict):
    """The columns of a table's CSV."""

    paper: str
    source: str
    """Key of the paper that prints the number."""
    table: str
    row: str
    """As a reader sees it, with its group; so is `column`."""
    column: str
    metric: str
    unit: str
    statistic: str
    """What `mean` is: `mean`, `max` (the best of the runs) or `single`."""
    spread_over: str
    """What `std`, `n` and the interval are over: `runs` or `examples`."""
    expected: str
    """As printed, as `expected_std` is; nothing where the paper prints nothing."""
    expected_std: float | None
    flag: str
    mean: float | str | None
    """Of ours; a text, such as a list of words, is shown and not scored."""
    std: float | None
    n: int | None
    ci_low: float | None
    ci_high: float | None
    verdict: str
    note: str


class OtherDevice(TypedDict):
    """What runs of another device than a cell's have."""

    device: str
    mean: float
    n: int
    difference: float
    interval: tuple[float, float] | None
    """Of the difference; nothing where too few runs have one."""
    runs: list[str]
    measures: list[str]


class Cell(WrittenCell):
    """A row of the frame, by column; the sidecar says of it what the CSV does not."""

    measure: str
    """`evaluator.metric`."""
    corpus: str | None
    """In a table of corpora, the digest of the data."""
    difference: str | None
    """Of an overlay's value to that of the scale that it stands on."""
    seeds: list[int]
    """Of the runs behind it, as `runs` are their identities and `measures` their files."""
    runs: list[str]
    measures: list[str]
    partners: list[str]
    """The runs whose records were read, as `<experiment>/<variant>/seed-<n>`."""
    tolerance: float | None
    """The largest difference that counts as reproduced, where a rule was applied."""
    formerly: str
    """The verdict by the tolerance before, where it was another."""
    between: list[float]
    """The values at the checkpoints before and at a crossing, where it is read at one."""
    impossible: list[str]
    """A sentence on each run whose value is left out; `diverged`, on each whose loss rose."""
    diverged: list[str]
    because: str
    """Why it differs, as `failed` says why its runs failed."""
    failed: str
    overlaid: dict[str, list[Any]]
    """Before and after by setting that an overlay changes."""
    other_devices: list[OtherDevice]


WRITTEN = tuple(get_type_hints(WrittenCell))
SCHEMA = get_type_hints(Cell)
"""The columns of the frame in their order, with the types of their values."""
BEHIND = tuple(name for name in SCHEMA if name not in WRITTEN)
OF_RUNS = (*IDENTITY, "measure", "difference", "seeds", "runs", "measures", "partners")
OF_CORPORA = (*IDENTITY[:-1], "corpus", "difference")
"""What the sidecar says of every cell; other columns of `BEHIND` stand there if they have any."""
_KINDS = {name: getattr(kind, "__origin__", kind) for name, kind in SCHEMA.items()}
_EMPTY = {name: None if isinstance(None, kind) else kind for name, kind in _KINDS.items()}


class RunOrigin(TypedDict, total=False):
    """Where a run behind a table, a figure or a claim comes from, as far as it is read."""

    experiment: str
    variant: str
    seed: int
    scale: str
    data: str | None
    """The digest."""
    precision: str | None
    commit: str | None
    cpu: str | None
    device: str | None
    earlier: str
    """What is to be said of the code that trained it, if anything."""


class Facts(TypedDict, total=False):
    """What a table says of a corpus; or its `recipe` and why it is `missing`."""

    recipe: Recipe | None
    form: str
    digest: str
    splits: dict[str, dict[str, int]]
    vocabulary_size: int
    vocabulary_sizes: dict[str, int]
    """By side; some corpora alone have them."""
    statistics: dict[str, object]
    missing: str
    stated: Recipe
    """The recipe in whose place an overlay puts this one."""


class TableAbout(TypedDict, total=False):
    """What the sidecar says of a table as a whole."""

    schema: int
    paper: str
    table: str
    scale: str
    base: str | None
    """The scale that an overlay's differences are to."""
    repeats: str | None
    tolerances: dict[str, MetricTolerance]
    """By metric."""
    runs: dict[str, RunOrigin]
    """By identity."""
    corpora: dict[str, Facts]
    """By row, in the place of runs."""


class TableSidecar(TableAbout):
    """What the sidecar says of a table, and under `cells` of each, as far as it has any."""

    cells: list[Cell]


@dataclass(frozen=True)
class LongForm:
    """A table in long form."""

    cells: pd.DataFrame
    """With the columns of `SCHEMA`."""
    about: TableAbout


def record(**columns: Any) -> Cell:
    """Return a row of the frame: numbers are rounded, columns that are not given are empty."""
    row = {name: empty() if empty else None for name, empty in _EMPTY.items()} | columns
    return cast(Cell, row | {name: six_digits(row[name]) for name in NUMBERS})


def frame(records: Iterable[Cell]) -> pd.DataFrame:
    """Return the cells of a table; TypeError where a record is not as `SCHEMA` says."""
    rows = list(records)
    for row in rows:
        if row.keys() != SCHEMA.keys():
            raise TypeError(f"columns of a cell: {', '.join(row)}; expected {', '.join(SCHEMA)}")
        for name, value in row.items():
            if not isinstance(value, _KINDS[name]):
                raise TypeError(f"{name} of a cell is {value!r}; expected {SCHEMA[name]}")
    return pd.DataFrame(rows, columns=[*SCHEMA], dtype=object)


def records(cells: pd.DataFrame) -> list[Cell]:
    """Return the rows of a frame, each by column."""
    rows = cells.to_numpy().tolist()
    return cast(list[Cell], [dict(zip(cells.columns, row, strict=True)) for row in rows])


def key_of(cell: Cell) -> tuple[str, ...]:
    """Return what tells a cell from all others of its table."""
    return tuple(str(value) for name, value in cell.items() if name in IDENTITY)


def csv_of(cells: pd.DataFrame) -> str:
    """Return the cells of a table as CSV text, a value that is missing as an empty one."""
    return csv_text(WRITTEN, records(cells[[*WRITTEN]].map(text)))


def sidecar_of(table: LongForm) -> TableSidecar:
    """Return what the sidecar of a table says: of the table, and under `cells` of each."""
    always = OF_CORPORA if "corpora" in table.about else OF_RUNS
    entries = [
        {
            name: value
            for name, value in cell.items()
            if name in always or (name in BEHIND and value)
        }
        for cell in records(table.cells)
    ]
    return {**table.about, "cells": cast(list[Cell], entries)}


def read_table(path: Path) -> LongForm:
    """Read a table by its CSV, published or not.

    Raises ReportingError when it is missing, Damaged when one of its files was changed.
    """
    lines = read_csv(path)
    about = read_sidecar(path)
    entries = about.pop("cells")
    del about["files"]
    return LongForm(
        frame(starmap(_read, zip(lines, entries, strict=True))), cast(TableAbout, about)
    )


def _read(line: Mapping[str, str], entry: Cell) -> Cell:
    n = int(line["n"]) if line.get("n") else None
    behind = {name: value for name, value in entry.items() if name in BEHIND}
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
