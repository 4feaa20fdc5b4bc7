"""Tables as GitHub shows them: one cell, marks with a legend, and at most twelve columns."""

from typing import Any

import pandas as pd
import pytest

from workflow.reporting.statistics.verdict import WORDS
from workflow.reporting.tables import marks
from workflow.reporting.tables.layout import EMPTY, Grid
from workflow.reporting.tables.long_form import QUOTED
from workflow.reporting.tables.markdown import MOST, WIDE, markdown


def shown(grid: Grid) -> str:
    table = {"title": "T", "caption": "C.", "notes": ["N."]}
    return markdown({"metrics": {}, "tables": {"t": table}}, "t", grid, "lite")


def compared(ours: str, paper: str, word: str) -> dict[str, Any]:
    """Return the texts of a number beside a printed one."""
    mark = marks.of({"m": {"source": word}})
    texts = {"ours": ours, "paper": paper, "verdict": word}
    return {**texts, "marks": mark, "words": frozenset({word})}


def laid_out(texts: list[dict[str, Any]], rows: list[tuple[str, ...]], columns: int) -> Grid:
    """Return a grid of texts, row by row."""
    labels, names = ("group", "row")[-len(rows[0]) :], tuple(f"c{n}" for n in range(columns))
    frame = pd.DataFrame(texts, dtype=object)
    return Grid(labels, names, (True,) * columns, tuple(rows), frame, (), "C.", ("N.",))


def one_column(*texts: dict[str, Any]) -> Grid:
    return laid_out([*texts], [(f"r{n}",) for n in range(len(texts))], 1)


def cells(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip(" ") for cell in line.split("|")[1:-1]] for line in lines]


def test_a_cell_has_ours_the_papers_and_a_mark() -> None:
    text = shown(one_column(compared("71±1", "72", "reproduced"), compared("9", "72", "differs")))
    assert cells(text)[2:] == [["r0", "71±1 [72]\u00a0✓"], ["r1", "9 [72]\u00a0✗"]]
    assert text.startswith("## T (scale lite)\n\nC.\n\n| row | c0 |\n| --- | --- |\n")
    assert text.endswith("\n\n[ ] the paper's · ✓ reproduced · ✗ differs\n\n- N.")


@pytest.mark.parametrize("word", [*WORDS, QUOTED])
def test_every_verdict_has_its_mark_and_legend(word: str) -> None:
    ours = {"not run": "not run", QUOTED: "–"}.get(word, "5")
    text = shown(one_column(compared(ours, "7", word)))
    (*_, (_, cell)) = cells(text)
    legend = text.split("\n\n")[3]
    blank, mark = word in ("not run", QUOTED), marks.MARKS.get(word, "")
    assert cell == f"{'' if blank else '5 '}[7]\u00a0{mark}".rstrip()
    said = {"not run": "blank, but for what is printed: not run", QUOTED: "[ ] the paper's"}
    assert legend.endswith(said.get(word, word)) and legend.count("·") == (word != QUOTED)


def test_several_verdicts_are_marked_in_their_order() -> None:
    judged = {"tau": {"a": "near (was differs)"}, "no": {}, "accuracy": {"a": "within, one seed"}}
    assert marks.of(judged) == "~ (was ✗) ≈"
    assert marks.of({"tau": {"a": "near", "b": "differs"}}) == "~/✗"
    assert marks.of({"tau": {"a": "near"}, "accuracy": {"b": "near"}}) == "~"
    assert marks.of({}) == ""


def test_the_legend_has_what_was_said_before() -> None:
    assert marks.legend({"near (was wide tolerance)", "second reading"}) == [
        "~ near",
        "– no verdict: wide tolerance or second reading",
    ]


def wide(rows: int, columns: int, text: str = "1") -> Grid:
    names = [(f"g{n // 2}", f"r{n}") for n in range(rows)]
    return laid_out([{**EMPTY, "ours": text}] * rows * columns, names, columns)


@pytest.mark.parametrize(
    ("rows", "columns", "text"),
    [(40, 31, "1"), (40, 11, "1"), (40, 9, "m" * 20), (3, 31, "m" * 40)],
)
def test_no_table_is_wider_than_a_page(rows: int, columns: int, text: str) -> None:
    made = shown(wide(rows, columns, text))
    parts = [cells(part) for part in made.split("\n\n") if part.startswith("|")]
    assert all(len(line) <= MOST for part in parts for line in part)
    assert all(sum(map(len, line)) <= WIDE for part in parts for line in part)
    assert sum(cell == text for part in parts for line in part for cell in line) == rows * columns
    assert len(parts) == 1 or made.count("\n### ") == len(parts)


def test_few_rows_of_many_columns_are_turned() -> None:
    first, _, *rest = cells(shown(wide(2, 20)))
    assert first == ["", "g0: r0", "g0: r1"]
    assert rest == [[f"c{n}", "1", "1"] for n in range(20)]


def test_a_group_is_named_once_in_every_part() -> None:
    made = shown(wide(40, 20))
    for part in (cells(part) for part in made.split("\n\n") if part.startswith("|")):
        assert [line[0] for line in part[2:6]] == ["g0", "", "g1", ""]
        assert [line[1] for line in part[2:6]] == ["r0", "r1", "r2", "r3"]


def test_pipes_are_escaped() -> None:
    assert "| r0 | a\\|b |" in shown(one_column({**EMPTY, "ours": "a|b"}))
