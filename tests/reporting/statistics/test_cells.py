"""A cell is what is read of its CSV: rounded once, where it is made."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow.reporting.statistics.cells import NUMBERS, Cell, read_cells, text, write_cells

FLOATS = st.none() | st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1)


@given(mean=FLOATS | st.integers(-(10**9), 10**9) | WORDS, numbers=st.tuples(*[FLOATS] * 4))
def test_a_cell_is_equal_to_what_is_read_of_its_csv(tmp_path_factory, mean, numbers):
    cell = Cell(row="a, b", mean=mean, n=3, **dict(zip(NUMBERS, numbers, strict=True)))
    path = tmp_path_factory.mktemp("cells") / "t.csv"
    path.write_text(write_cells([cell]), encoding="utf-8", newline="")
    assert read_cells(path) == [cell]
    assert replace(cell) == cell


@pytest.mark.parametrize(
    ("mean", "rounded", "written"),
    [
        (1234567.0, 1234567.0, "1234567"),
        (0.12345678, 0.123457, "0.123457"),
        (123456.78, 123457.0, "123457"),
        (7, 7.0, "7"),
        ("that, this", "that, this", "that, this"),
        ("", None, ""),
        (None, None, ""),
    ],
)
def test_numbers_have_six_digits_and_whole_ones_all(mean, rounded, written):
    assert Cell(mean=mean).mean == rounded
    assert text(rounded) == written
    assert Cell(std=0.12345678).std == 0.123457
