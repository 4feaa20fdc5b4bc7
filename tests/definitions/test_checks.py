"""Names inside a definition that refer to nothing are named, with the nearest that exists."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from workflow.definitions.cells import check_tables
from workflow.definitions.claims import check_claims
from workflow.definitions.explorer import check_explorer
from workflow.definitions.paper import Paper
from workflow.errors import InputError


def _metric(table: dict[str, Any]) -> None:
    table["columns"][0]["metrics"] = ["nlll"]


def _format(table: dict[str, Any]) -> None:
    table["columns"][2]["format"] = "{precision} ({precision_mean})"


def _row(table: dict[str, Any]) -> None:
    table["columns"][-1]["rows"] = ["uniform_sof"]


def _variant(table: dict[str, Any]) -> None:
    table["variant"] = "{rows}"


def _double(table: dict[str, Any]) -> None:
    table["rows"].append(table["rows"][0])


def _row_variant(table: dict[str, Any]) -> None:
    table["rows"][0]["variant"] = "{rows}"


def _template(table: dict[str, Any]) -> None:
    table["rows"][3]["printed"][0]["row"] = "{row"


def _same_label(table: dict[str, Any]) -> None:
    table["rows"][1]["label"] = "soft"


def _repeats(table: dict[str, Any]) -> None:
    table["repeats"] = "table_6_11"


def _repeats_itself(table: dict[str, Any]) -> None:
    table["repeats"] = "stack_language"


def _differs_row(table: dict[str, Any]) -> None:
    table["differs"][0]["rows"] = ["uniform_sof"]


def _differs_column(table: dict[str, Any]) -> None:
    table["differs"][0]["columns"] = ["recal"]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_differs_row, 'differs: unknown row "uniform_sof".*did you mean "uniform_soft"'),
        (_differs_column, 'differs: unknown column "recal".*did you mean "recall"'),
        (_repeats, 'repeats: unknown table "table_6_11".*did you mean "table_6_1"'),
        (_repeats_itself, 'repeats: unknown table "stack_language"'),
        (_metric, 'f.yaml: tables.stack_language, nll: unknown metric "nlll".*did you mean "nll"'),
        (_format, 'unknown metric "precision_mean"'),
        (_row, 'unknown row "uniform_sof".*did you mean "uniform_soft"'),
        (_variant, 'unknown part "rows".*did you mean "row"'),
        (_row_variant, 'unknown part "rows".*did you mean "row"'),
        (_template, '"{row" is not a template'),
        (_same_label, 'two rows are called "uniform: soft"; rename one'),
        (_double, 'two rows are called "uniform_soft"; rename one'),
    ],
)
def test_wrong_names(paper: Paper, damage: Callable[[dict[str, Any]], None], sentence: str) -> None:
    tables = copy.deepcopy(paper.tables)
    damage(tables["tables"]["stack_language"])
    with pytest.raises(InputError, match=sentence):
        check_tables(tables, "f.yaml")


def test_two_claims_with_one_id(paper: Paper) -> None:
    double = {"claims": [*paper.claims["claims"], paper.claims["claims"][0]]}
    with pytest.raises(InputError, match='two claims are called "tau_sst"'):
        check_claims(double, "f.yaml")


def test_a_printed_number_on_the_right_has_a_place(paper: Paper) -> None:
    claim = {**paper.claims["claims"][0], "right": {"printed": "left"}}
    claim.pop("printed", None)
    with pytest.raises(InputError, match="say in `printed` where it stands"):
        check_claims({"claims": [claim]}, "f.yaml")


def test_every_place_of_a_number_is_looked_up() -> None:
    paper = Paper("discrete_transformer")
    paper.check()
    gone = ("discrete2020", "Section 7.1 text", "Single Stream Discrete Transformer + reg 0.1")
    del paper.expected.values[(*gone, "stack language", "recall")]
    with pytest.raises(
        InputError,
        match=r"tables\.yaml: tables\.stack_language, \w+_discrete_penalty, recall: .*csv: no num",
    ):
        paper.check()


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (
            "figures",
            r"figures\.yaml: figures\.figure_6_1, SST, soft: .*no number at kinley2020, Table 6",
        ),
        ("claims", r"claims\.yaml: claim tau_sst, left: .*no number at kinley2020, Table 6\.11"),
    ],
)
def test_the_places_of_figures_and_claims_too(kind: str, sentence: str) -> None:
    paper = Paper("discrete_transformer")
    if kind == "figures":
        series = paper.figures["figures"]["figure_6_1"]["panels"][0]["series"][0]
        series["printed"] = {**series["printed"], "table": "Table 6.11"}
    else:
        paper.claims["claims"][0]["printed"]["left"]["table"] = "Table 6.11"
    with pytest.raises(InputError, match=sentence):
        paper.check()


@pytest.mark.parametrize(
    ("task", "changes", "sentence"),
    [
        ("sentiment", {"classes": None}, 'tasks.sentiment: the key "classes" is missing'),
        ("arithmetic", {"classes": None}, 'tasks.arithmetic: the key "classes" is missing'),
        ("stack_language", {"classes": ["a", "b"]}, 'language: the key "classes" is not for kind'),
        ("stack_language", {"words": 5}, 'stack_language: the key "words" is not for kind next'),
    ],
)
def test_the_keys_of_an_explored_task_fit_its_kind(
    task: str, changes: dict[str, Any], sentence: str
) -> None:
    explorer = copy.deepcopy(Paper("discrete_transformer").explorer)
    changed = {**explorer["tasks"][task], **changes}
    explorer["tasks"][task] = {k: v for k, v in changed.items() if v is not None}
    with pytest.raises(InputError, match=f"^explorer.yaml: .*{sentence}"):
        check_explorer(explorer, "explorer.yaml")
