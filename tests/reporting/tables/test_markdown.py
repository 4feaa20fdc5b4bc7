"""Tables as GitHub shows them: a column a metric, the paper's beside it, and a form that fits."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from workflow.reporting.cells import record
from workflow.reporting.statistics.verdict import WORDS
from workflow.reporting.tables import marks
from workflow.reporting.tables.layout import EMPTY, NO_ROW, Grid
from workflow.reporting.tables.long_form import QUOTED
from workflow.reporting.tables.markdown import MOST, WIDE, markdown
from workflow.reporting.tables.marks import counted


def shown(grid: Grid) -> str:
    table = {"title": "T", "caption": "C.", "notes": ["N."]}
    return markdown({"metrics": {}, "tables": {"t": table}}, "t", grid, "lite")


def compared(ours: str, paper: str, word: str) -> dict[str, Any]:
    """Return the texts of a number beside a printed one."""
    mark = marks.of({"m": {"source": word}} if word else {})
    texts = {"ours": ours, "paper": paper, "verdict": word}
    return {**EMPTY, **texts, "marks": mark, "words": frozenset({word} if word else ())}


def laid_out(texts: list[dict[str, Any]], rows: list[tuple[str, ...]], columns: int) -> Grid:
    """Return a grid of texts, row by row."""
    labels, names = ("group", "row")[-len(rows[0]) :], tuple(f"c{n}" for n in range(columns))
    frame = pd.DataFrame(texts, dtype=object)
    return Grid(labels, names, (True,) * columns, tuple(rows), frame, (), "C.", "", ("N.",))


def one_column(*texts: dict[str, Any]) -> Grid:
    return laid_out([*texts], [(f"r{n}",) for n in range(len(texts))], 1)


def cells(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip(" ") for cell in line.split("|")[1:-1]] for line in lines]


def test_ours_the_papers_and_the_mark_have_a_column_each() -> None:
    text = shown(one_column(compared("71±1", "72", "reproduced"), compared("9", "72", "differs")))
    assert cells(text)[2:] == [["r0", "71±1", "72", "✓"], ["r1", "9", "72", "✗"]]
    table = "| row | c0 | paper | mark |\n| --- | --: | --: | :-: |\n"
    assert text.startswith(f"## T (scale lite)\n\nC.\n\n{table}")
    legend = "paper: what it prints, with ours on the left · ✓ reproduced · ✗ differs"
    assert text.endswith(f"\n\n{legend}\n\n- N.")


@pytest.mark.parametrize("word", WORDS)
def test_every_verdict_has_its_mark_and_legend(word: str) -> None:
    ours = "not run" if word == "not run" else "5"
    text = shown(one_column(compared(ours, "7", word), compared("6", "", "")))
    ours = "" if word == "not run" else "5"
    assert cells(text)[2] == ["r0", ours, "7", marks.MARKS.get(word, "")]
    said = {"not run": " · blank: not run"} | dict.fromkeys(
        ("within, one seed", "within, seeds apart"), marks.ABOUT["≈"]
    )
    assert text.split("\n\n")[3].endswith(said.get(word, word))


def test_what_the_paper_quotes_is_folded_and_has_no_column_of_ours() -> None:
    quoted = compared("–", "7", QUOTED)
    text = shown(one_column(quoted, compared("5", "8", "differs"), quoted))
    own, _, folded = text.partition(
        "\n\n<details><summary>2 rows of other systems, as the paper quotes them</summary>\n\n"
    )
    assert cells(own)[2:] == [["r1", "5", "8", "✗"]]
    assert cells(folded) == [["row", "c0, paper"], ["---", "--:"], ["r0", "7"], ["r2", "7"]]
    text = shown(one_column(quoted))
    assert "<summary>1 row of other systems" in text and NO_ROW not in text


def test_a_column_of_ours_alone_says_so_beside_the_papers() -> None:
    absent, beside = compared("not run", "7", "not run"), compared("5", "7", "differs")
    texts = [absent, compared("6", "", "")]
    assert cells(shown(laid_out(texts, [("r",)], 2)))[0] == ["row", "c0, paper", "ours, c1"]
    assert cells(shown(laid_out([beside, texts[1]], [("r",)], 2)))[0] == [
        *("row", "c0", "paper", "mark", "c1")
    ]


def test_large_numbers_have_separators() -> None:
    assert cells(shown(one_column(compared("12231782", "9999", "differs"))))[2][1:3] == [
        *("12,231,782", "9999")
    ]


def test_a_metric_has_a_column() -> None:
    """A header of two, `a (b)`, is that of both; else the metrics' labels tell them apart."""
    both = [{**EMPTY, "ours": ours, "metric": m} for ours, m in (("1", "tau"), ("2", "acc"))]
    one = laid_out([{**EMPTY, "ours": "1 (2)", "numbers": both}], [("r",)], 1)
    assert cells(shown(one))[0] == ["row", "c0: τ", "c0: acc"]
    named = replace(one, columns=("size, micro (macro)",))
    assert cells(shown(named))[0] == ["row", "size, micro", "size: macro"]
    peers = replace(one, columns=("size / weight",))
    assert cells(shown(peers))[0] == ["row", "size", "weight"]


def test_models_become_rows_where_there_is_no_room_for_them() -> None:
    both = [{**EMPTY, "ours": "1", "metric": m} for m in ("tau", "m" * 20)]
    text = shown(laid_out([{**EMPTY, "numbers": both}] * 30, [(f"r{n}",) for n in range(6)], 5))
    assert cells(text)[0] == ["row", "", "τ", "m" * 20]
    assert cells(text)[2:4] == [["r0", "c0", "1", "1"], ["", "c1", "1", "1"]]


def test_each_number_beside_the_papers_has_a_row_where_there_is_no_room() -> None:
    rows = [(f"r{n}",) for n in range(5)]
    text = shown(laid_out([compared("m" * 30, "7", "near")] * 20, rows, 4))
    assert cells(text)[0] == ["row", "", "ours", "paper", "mark"] and len(cells(text)) == 22
    assert cells(text)[3] == ["", "c1", "m" * 30, "7", "~"]


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
    same = [cell == text for part in parts for line in part[2:] for cell in line]
    assert sum(same) >= rows * columns


def test_few_rows_of_many_columns_are_turned() -> None:
    first, _, *rest = cells(shown(wide(2, 20)))
    assert first == ["", "g0: r0", "g0: r1"]
    assert rest == [[f"c{n}", "1", "1"] for n in range(20)]


def test_pipes_are_escaped() -> None:
    assert "| r0 | a\\|b |" in shown(one_column({**EMPTY, "ours": "a|b"}))


def test_a_table_counts_its_verdicts() -> None:
    words = ["near", "within, seeds apart", "wide tolerance", "not comparable", "within, one seed"]
    cells = [
        record(row=f"r{at}", expected="1", verdict=word)
        for at, word in enumerate((*words, "not run", "quoted"))
    ]
    cells.append(record(row="r0", expected="2", verdict="not comparable"))  # of another paper
    said = "5 numbers beside the paper's: 2 within tolerance, 1 near, 2 without a verdict."
    assert counted([*cells, record(verdict="not comparable")]) == said
    assert counted([record(expected="1", verdict="not run")]) == ""
