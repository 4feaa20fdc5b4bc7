"""The papers' numbers, and that the definitions point only to numbers that are there."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.reporting.synthetic import one_run, plan_of
from workflow.definitions.cells import cells, table_places, table_runs
from workflow.definitions.claims import claim_runs
from workflow.definitions.expected import COLUMNS, ExpectedValues
from workflow.definitions.figures import figure_runs
from workflow.definitions.paper import Paper
from workflow.files import read_csv
from workflow.reporting.measures import Measures
from workflow.reporting.tables.corpus_tables import COLUMNS as CORPUS_COLUMNS
from workflow.reporting.tables.tabulating import tabulate
from workflow.runtime.errors import InputError, ReportingError

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
    with pytest.raises(ReportingError, match=r'no number at .*SST2.*did you mean "kinley2020, Tab'):
        paper.expected.at(place, "accuracy")


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["a,b"], "the header must be"),
        (["kinley2020,T,r,c,m,1,,,%,,", "kinley2020,T,r,c,m,2,,,%,,"], "line 3: .* stands twice"),
        (["kinley2020,T,r,c,m,1,,means,%,,", ""], 'line 2: unknown statistic "means".*"mean"'),
        (["kinley2020,T,r,c,m,1,,,%,missprint,", ""], 'line 2: unknown flag "missprint".*"mispr'),
        (["kinley2020,T,r,c,m,1,o,,%,,", ""], 'line 2: std "o" is not a number'),
    ],
)
def test_broken_files_are_refused(tmp_path: Path, lines: list[str], sentence: str) -> None:
    header = [",".join(COLUMNS)] if len(lines) > 1 else ["a,b"]
    path = tmp_path / "expected.csv"
    path.write_text("\n".join([*header, *lines]) + "\n")
    with pytest.raises(InputError, match=sentence):
        ExpectedValues(path)


def shown(paper: Paper) -> set[tuple[str, ...]]:
    """Return the places of all numbers that a table of the paper shows, of data alone too."""
    found = table_places(paper.tables)
    places = {(*map(str, place.values()), metric) for _, place, metric in found}
    for table in paper.corpora["tables"].values():
        for row in table["rows"]:
            if place := row.get("printed", table.get("printed")):
                labels = (CORPUS_COLUMNS[column].label for column in table["columns"])
                places |= {(*place.values(), row["label"], label, label) for label in labels}
    return places


@pytest.mark.parametrize("paper", Paper.all(), ids=lambda paper: paper.name)
def test_every_printed_number_stands_in_a_table(paper: Paper) -> None:
    printed = {place for place, it in paper.expected.values.items() if it.printed.text}
    assert printed - shown(paper) == set()


def test_roles_and_bounds_that_no_run_can_be_held_against(tmp_path: Path) -> None:
    """`Tables 3 to 5` of weissenborn2019 name roles by numbers of their own; 300 is a bound."""
    found = {}
    for name in ("table_3", "table_4", "table_5"):
        tabulate(Paper("role_interaction"), name, "lite", Measures([]), tmp_path / name)
        lines = [one for one in read_csv(tmp_path / f"{name}.csv") if one["expected"]]
        assert {one["verdict"] for one in lines} == {"not run"}
        found[name] = {one["row"]: one["expected"] for one in lines}
    assert [len(one) for one in found.values()] == [13, 6, 17]
    assert found["table_3"]["the paper's role 13"] == "10087"
    assert found["table_4"]["the paper's roles 8, 11"] == "article in nominative"
    assert sum(map(int, found["table_5"].values())) == 34109
    copying = one_run("copying", 0, {"copied_at": 42})
    labels = {"experiment": "permutation_function", "variant": "copying", "seed": 0}
    run = replace(copying, run=labels, evaluators={"copying": copying.evaluators["probe"]})
    path = tmp_path / "function"
    tabulate(Paper("attention_learning"), "permutation_function", "lite", Measures([run]), path)
    (line,) = [one for one in read_csv(path.with_suffix(".csv")) if one["expected"]]
    assert (line["expected"], line["mean"], line["verdict"]) == ("300", "42", "not comparable")


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
        ("text_classification", f"{corpus}_{name}{untrained}")
        for untrained in ("", "_untrained")
        for corpus in ("sst", "imdb", "newsgroups", "ag_news")
        for name in ("soft", "discrete", "two_stream")
    ]
    rows = [{**row, "quoted": True} for row in paper.tables["tables"]["table_6_1"]["rows"]]
    table = {**paper.tables["tables"]["table_6_1"], "rows": rows}
    assert table_runs(table) == []
    assert len(table_runs(paper.tables["tables"]["stack_language"])) == 11
    assert len(figure_runs(paper.figures["figures"]["figure_2"])) == 3
    assert len(figure_runs(paper.figures["figures"]["figure_6_1"])) == 12
    claims = claim_runs(paper.claims)
    sides = [(one["experiment"], one[side]) for one in paper.claims["claims"] for side in SIDES]
    named = [
        (experiment, side[key])
        for experiment, side in sides
        for key in ("variant", "beyond")
        if key in side
    ]
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
            experiment, variant = plan.experiments[claim["experiment"]], claim[side].get("variant")
            if variant in experiment.variants("lite"):
                assert len(experiment.seeds(variant, "lite")) > 1, claim["id"]
