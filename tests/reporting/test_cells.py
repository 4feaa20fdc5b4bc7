"""The frame of cells: rounded once, where a cell is made, and the same when it is read again."""

import ast
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from tests.reporting.synthetic import one_run, toy, toy_table
from workflow import ROOT
from workflow.files import write_sidecar
from workflow.reporting.cells import (
    NUMBERS,
    SCHEMA,
    LongForm,
    csv_of,
    frame,
    read_table,
    record,
    sidecar_of,
    text,
)

FLOATS = st.none() | st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1)


def read_again(table: LongForm, folder: Path) -> LongForm:
    """Return a table that was written and read again."""
    (folder / "t.csv").write_text(csv_of(table.cells), encoding="utf-8", newline="")
    write_sidecar(folder / "t", sidecar_of(table), ["csv"])
    return read_table(folder / "t.csv")


@given(mean=FLOATS | st.integers(-(10**9), 10**9) | WORDS, numbers=st.tuples(*[FLOATS] * 4))
def test_a_cell_is_equal_to_what_is_read_of_its_csv(
    tmp_path_factory: pytest.TempPathFactory, mean: float | str | None, numbers: tuple[float, ...]
) -> None:
    others = dict(zip([name for name in NUMBERS if name != "mean"], numbers, strict=True))
    cell = record(row="a, b", mean=mean, n=3, **others)
    table = LongForm(frame([cell]), {"schema": 1})
    again = read_again(table, tmp_path_factory.mktemp("cells"))
    assert_frame_equal(again.cells, table.cells, check_exact=True)
    assert record(**cell) == cell


@pytest.mark.parametrize(
    ("mean", "rounded", "written"),
    [
        (12231782.0, 12231782.0, "12231782"),
        (1234567.25, 1234570.0, "1234570"),
        (0.12345678, 0.123457, "0.123457"),
        (123456.78, 123457.0, "123457"),
        (-3.0, -3.0, "-3"),
        (7, 7.0, "7"),
        ("that, this", "that, this", "that, this"),
        ("", None, ""),
        (None, None, ""),
    ],
)
def test_numbers_have_six_digits_and_whole_ones_all(
    mean: float | str | None, rounded: float | str | None, written: str
) -> None:
    cell = record(mean=mean)
    assert cell["mean"] == rounded and type(cell["mean"]) is type(rounded)
    assert text(rounded) == written
    assert text(1234567.25) == "1.23457e+06"
    assert record(std=0.12345678)["std"] == 0.123457


@pytest.mark.parametrize("faulty", [{"mean": [1.0]}, {"row": None}, {"n": 2.0}, {"rows": "a"}])
def test_a_frame_has_the_columns_and_types_of_its_schema(faulty: dict[str, Any]) -> None:
    assert [*frame([record()]).columns] == [*SCHEMA]
    with pytest.raises(TypeError, match="of a cell"):
        frame([{**record(), **faulty}])


@pytest.mark.parametrize("corpora", [False, True])
def test_what_is_said_of_cells_is_read_again(tmp_path: Path, corpora: bool) -> None:
    """A table of runs and one of corpora say other things of every cell."""
    diverged = {"between": [0.5, 0.75], "diverged": ["rose"], "overlaid": {"a.b": [1, None]}}
    behind = {"corpus": "d" * 8} if corpora else {"runs": ["1"], "seeds": [0], "measure": "a.b"}
    over = {"spread_over": "runs", "source": "s", "because": "so"}
    about = {"schema": 1, "corpora": {}} if corpora else {"schema": 1, "base": None}
    table = LongForm(frame([record(**behind, **over), record(**diverged, **over)]), about)
    first, second = sidecar_of(table)["cells"]
    assert ("runs" in second, "corpus" in second) == (not corpora, corpora)
    assert second["difference"] is None and "failed" not in second and "between" not in first
    again = read_again(table, tmp_path)
    assert_frame_equal(again.cells, table.cells)
    assert again.about == table.about


def test_a_table_over_runs_is_read_again(tmp_path: Path) -> None:
    metrics = {"m": {"measure": "probe.m", "label": "m", "digits": 2}}
    columns = [{"id": "m", "label": "m", "metrics": ["m"]}]
    made = toy_table(metrics, columns, [{"id": row, "label": row} for row in ("a", "b")])
    table = toy(made, [one_run("a", seed, {"m": seed / 3}) for seed in (0, 1)])
    again = read_again(table, tmp_path)
    assert_frame_equal(again.cells, table.cells)
    assert again.about == table.about
    assert isinstance(table.cells, pd.DataFrame) and [*table.cells["n"]] == [2, None]


@pytest.mark.parametrize("room", ["tables", "page", "publication"])
def test_no_class_but_the_frame_holds_a_value_of_a_cell(room: str) -> None:
    fields = [
        (path.name, part.target.id)
        for path in (ROOT / "workflow/reporting" / room).glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    ]
    assert fields and not {name for _, name in fields} & {"mean", "std", "n", "ci_low", "expected"}
