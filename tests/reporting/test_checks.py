"""Names inside a definition that refer to nothing are named, with the nearest that exists."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from workflow.planning.loader import InputError
from workflow.reporting.checks import check_claims, check_tables
from workflow.reporting.paper import Paper


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


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_metric, 'f.yaml: tables.stack_language, nll: unknown metric "nlll".*did you mean "nll"'),
        (_format, 'unknown metric "precision_mean"'),
        (_row, 'unknown row "uniform_sof".*did you mean "uniform_soft"'),
        (_variant, 'unknown part "rows".*did you mean "row"'),
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
