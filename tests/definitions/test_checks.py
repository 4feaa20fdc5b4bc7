"""Names inside a definition that refer to nothing are named, with the nearest that exists."""

import copy
from typing import Any

import pytest

from workflow.definitions.cells import check_tables
from workflow.definitions.claims import check_claims
from workflow.definitions.explorer import check_explorer
from workflow.definitions.paper import Paper
from workflow.runtime.errors import InputError


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        ("differs 0 rows", ["uniform_sof"], 'differs: unknown row "uniform_sof".*mean "uniform_so'),
        ("differs 0 columns", ["recal"], 'differs: unknown column "recal".*did you mean "recall"'),
        ("repeats", "table_6_11", 'repeats: unknown table "table_6_11".*did you mean "table_6_1"'),
        ("repeats", "stack_language", 'repeats: unknown table "stack_language"'),
        ("columns 0 metrics", ["nlll"], 'f.yaml: tables.stack_language, nll: unknown metric "nlll'),
        ("columns 2 format", "{precision} ({precision_mean})", 'unknown metric "precision_mean"'),
        ("columns -1 rows", ["uniform_sof"], 'unknown row "uniform_sof".*mean "uniform_soft"'),
        ("variant", "{rows}", 'unknown part "rows".*did you mean "row"'),
        ("rows 0 variant", "{rows}", 'unknown part "rows".*did you mean "row"'),
        ("rows 3 printed 0 row", "{row", '"{row" is not a template'),
        ("rows 1 label", "soft", 'two rows are called "uniform: soft"; rename one'),
        ("rows 1 id", "uniform_soft", 'two rows are called "uniform_soft"; rename one'),
    ],
)
def test_wrong_names(paper: Paper, place: str, value: Any, sentence: str) -> None:
    tables = copy.deepcopy(paper.tables)
    *steps, last = place.split()
    part: Any = tables["tables"]["stack_language"]
    for step in steps:
        part = part[int(step) if isinstance(part, list) else step]
    part[last] = value
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
        ("figures", r"figures\.yaml: figures\.figure_6_1, SST, soft: .*no number at kinley2020, T"),
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
