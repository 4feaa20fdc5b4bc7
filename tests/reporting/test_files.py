"""Texts in CSV and in Markdown, whatever they hold."""

from pathlib import Path

import pytest

from workflow.files import (
    csv_text,
    fold_sidecars,
    markdown_cell,
    read_csv,
    read_sidecar,
    write_sidecar,
)
from workflow.runtime.errors import UserError


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3|cmd", "'-2+3|cmd"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("'=1", "''=1"),
        ("-1.5", "-1.5"),
        ("-1e-05", "-1e-05"),
        ("+RIL (dense) +Residual", "+RIL (dense) +Residual"),
        ("'tis", "'tis"),
    ],
)
def test_a_text_is_no_formula_in_csv_and_is_read_as_it_was(tmp_path, text, written):
    file = tmp_path / "table.csv"
    file.write_text(csv_text(["label"], [{"label": text}]), encoding="utf-8")
    assert file.read_text(encoding="utf-8") == f"label\n{written}\n"
    assert read_csv(file) == [{"label": text}]


def test_numbers_are_written_as_they_are():
    assert csv_text(["value"], [{"value": -1.5}, {"value": "-inf"}]) == "value\n-1.5\n-inf\n"


def test_a_text_stays_in_its_cell_of_a_markdown_table():
    assert markdown_cell("two\r\n lines | one cell") == "two lines \\| one cell"


def test_what_is_told_of_a_file_is_found_from_its_own_folder(tmp_path, monkeypatch):
    (folder := tmp_path / "paper").mkdir()
    (folder / "table.csv").write_text("label\n")
    write_sidecar(folder / "table", {"paper": "paper"}, ["csv"])
    fold_sidecars(tmp_path, ["csv"])
    monkeypatch.chdir(folder)
    assert read_sidecar(Path("table.csv"))["paper"] == "paper"
    with pytest.raises(UserError, match="does not exist"):
        read_sidecar(Path("/other.csv"))
