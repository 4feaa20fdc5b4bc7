"""The papers' numbers, and that the definitions point only to numbers that are there."""

from collections import Counter
from pathlib import Path

import pytest

from tests.reporting.synthetic import plan_of
from workflow.definitions.cells import cells, table_runs
from workflow.definitions.claims import claim_runs
from workflow.definitions.expected import COLUMNS, ExpectedValues
from workflow.definitions.figures import figure_runs
from workflow.definitions.paper import Paper
from workflow.errors import InputError, ReportingError

SIDES = ("left", "right")


def test_every_table_of_both_texts_is_there(paper: Paper) -> None:
    sources = Counter(place[0] for place in paper.expected.values)
    assert sources == {"kinley2020": 69, "discrete2020": 34}
    tables = {place[:2] for place in paper.expected.values}
    assert {("kinley2020", f"Table 6.{n}") for n in range(1, 6)} <= tables
    assert {("discrete2020", f"Table {n}") for n in range(1, 4)} <= tables


def test_numbers_are_as_printed(paper: Paper) -> None:
    place = {"source": "kinley2020", "table": "Table 6.1", "row": "SST", "column": "TRANSFORMER"}
    tau = paper.expected.at(place, "Kendall tau attention-gradient")
    assert (tau.printed.text, tau.printed.value, tau.printed.std) == ("0.69", 0.69, 0.11)
    assert tau.printed.rounding == pytest.approx(0.005)


def test_a_place_without_a_number_is_named(paper: Paper) -> None:
    place = {"source": "kinley2020", "table": "Table 6.1", "row": "SST2", "column": "TRANSFORMER"}
    with pytest.raises(
        ReportingError, match=r'no number at .*SST2.*did you mean "kinley2020, Table 6.1'
    ):
        paper.expected.at(place, "accuracy")


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["a,b"], "the header must be"),
        (["kinley2020,T,r,c,m,1,,,%,,", "kinley2020,T,r,c,m,2,,,%,,"], "line 3: .* stands twice"),
        (["kinley2020,T,r,c,m,1,,means,%,,", ""], 'line 2: unknown statistic "means".*"mean"'),
        (
            ["kinley2020,T,r,c,m,1,,,%,missprint,", ""],
            'line 2: unknown flag "missprint".*"misprint"',
        ),
        (["kinley2020,T,r,c,m,1,o,,%,,", ""], 'line 2: std "o" is not a number'),
    ],
)
def test_broken_files_are_refused(tmp_path: Path, lines: list[str], sentence: str) -> None:
    header = [",".join(COLUMNS)] if len(lines) > 1 else ["a,b"]
    path = tmp_path / "expected.csv"
    path.write_text("\n".join([*header, *lines]) + "\n")
    with pytest.raises(InputError, match=sentence):
        ExpectedValues(path)


def test_table_6_1_uses_all_numbers_of_its_table(paper: Paper) -> None:
    table = paper.tables["tables"]["table_6_1"]
    used = {
        (row["label"], column["label"])
        for row, column in cells(table)
        if column.get("printed") != []
    }
    printed = {place[2:4] for place in paper.expected.values if place[1] == "Table 6.1"}
    assert used == printed


def test_needs_name_each_run_once_and_nothing_that_is_quoted(paper: Paper) -> None:
    assert table_runs(paper.tables["tables"]["table_6_1"]) == [
        ("text_classification", f"{corpus}_{name}")
        for corpus in ("sst", "imdb", "newsgroups", "ag_news")
        for name in ("soft", "discrete", "two_stream")
    ]
    rows = [{**row, "quoted": True} for row in paper.tables["tables"]["table_6_1"]["rows"]]
    table = {**paper.tables["tables"]["table_6_1"], "rows": rows}
    assert table_runs(table) == []
    assert len(table_runs(paper.tables["tables"]["stack_language"])) == 8
    assert len(figure_runs(paper.figures["figures"]["figure_2"])) == 3
    assert len(figure_runs(paper.figures["figures"]["figure_6_1"])) == 12
    claims = claim_runs(paper.claims)
    sides = [(one["experiment"], one[side]) for one in paper.claims["claims"] for side in SIDES]
    named = [(experiment, side["variant"]) for experiment, side in sides if "variant" in side]
    assert len(claims) == len(set(claims)) < len(named)
    assert set(claims) == set(named)


def test_an_unknown_paper_or_table_is_named_with_the_nearest(paper: Paper) -> None:
    with pytest.raises(ReportingError, match=r'no paper "discrete_transfomer".*discrete_transform'):
        Paper("discrete_transfomer")
    with pytest.raises(ReportingError, match='no "table_61"; did you mean "table_6_1"'):
        paper.definition("tables", "table_61")


@pytest.mark.parametrize("paper", Paper.all(), ids=lambda paper: paper.name)
def test_every_claim_has_the_seeds_to_be_decided(paper: Paper) -> None:
    plan = plan_of(Path("results"))
    for claim in paper.claims["claims"]:
        for side in ("left", "right"):
            if "variant" in claim[side]:
                experiment = plan.experiments[claim["experiment"]]
                assert len(experiment.seeds(claim[side]["variant"], "lite")) > 1, claim["id"]
