"""Proportions of runs: in tables, in claims, and in the summaries of both."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reporting.synthetic import (
    checked,
    judged,
    lines,
    one_run,
    outcomes,
    shown,
    toy,
    toy_table,
    with_tables,
)
from workflow.definitions.cells import check_tables
from workflow.definitions.paper import Paper
from workflow.reporting.cells import WRITTEN
from workflow.reporting.claims.judged import JudgedClaim
from workflow.reporting.claims.markdown import claims_table
from workflow.reporting.measures import Measures
from workflow.reporting.statistics.decisions import Hypothesis, decide_proportions
from workflow.reporting.statistics.intervals import exact, newcombe
from workflow.reporting.tables import layout
from workflow.reporting.tables import long_form as tables
from workflow.reporting.tables.tabulating import tabulate
from workflow.runtime.errors import InputError, ReportingError

LEARNED = [1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]  # 2 of 20


def definitions(**more: Any) -> dict[str, Any]:
    """Return a `tables.yaml` of one row and three columns that show the same proportion."""
    metric = {"measure": "probe.learned", "label": "learned", "digits": 2}
    columns = [
        {"id": "plain", "label": "plain", "metrics": ["learned"]},
        {"id": "both", "label": "both", "metrics": ["learned"], "format": "{learned:interval}"},
        {"id": "mean", "label": "mean", "metrics": ["learned"], "format": "{learned:mean}"},
    ]
    rows = [{"id": "same", "label": "same 40"}]
    return checked(toy_table({"learned": metric | {"proportion": True}}, columns, rows, **more))


def test_a_cell_is_the_fraction_with_its_exact_interval() -> None:
    made = definitions()
    table = toy(made, outcomes("same", LEARNED))
    for record in lines(table):
        assert tuple(record) == tuple(WRITTEN)
        assert (record["mean"], record["std"], record["n"]) == ("0.1", "", "20")
        assert (record["statistic"], record["spread_over"]) == ("mean", "runs")
        low, high = exact(2, 20)
        assert float(record["ci_low"]) == pytest.approx(low, rel=1e-5)
        assert float(record["ci_high"]) == pytest.approx(high, rel=1e-5)
        assert "exact interval" in record["note"]
    assert shown(made, table) == [["same 40", "0.10", "0.10 [0.01, 0.32]", "0.10"]]


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0.00 [0.00, 0.97]"), (1, "1.00 [0.03, 1.00]"), (None, "–")]
)
def test_one_run_has_an_interval_too(value: int | None, text: str) -> None:
    made = definitions()
    table = toy(made, outcomes("same", [value]))
    assert shown(made, table)[0][2] == text
    assert {record["n"] for record in lines(table)} == {"1"}
    assert {record["statistic"] for record in lines(table)} == {"single"}


def test_without_runs_nothing_is_filled_in() -> None:
    made = definitions()
    table = toy(made, [])
    assert shown(made, table) == []
    assert {record["ci_low"] + record["mean"] + record["n"] for record in lines(table)} == {""}


def test_runs_without_an_outcome_are_left_out_and_told() -> None:
    made = definitions()
    behind = [*outcomes("same", [1, None, 0]), one_run("same", 3)]
    table = toy(made, behind)
    assert shown(made, table)[0][1] == "0.50"
    assert lines(table)[0]["n"] == "2"
    assert "undefined in 1 of 4 runs" in lines(table)[0]["note"]
    assert "missing in 1 of 4 runs" in lines(table)[0]["note"]


def test_a_table_of_best_runs_has_fractions_all_the_same() -> None:
    made = definitions(statistic="max")
    table = toy(made, outcomes("same", LEARNED))
    assert (lines(table)[0]["mean"], lines(table)[0]["statistic"]) == ("0.1", "mean")


def test_a_metric_may_have_another_statistic_than_its_table() -> None:
    made = definitions(statistic="max")
    metric = dict(made["metrics"]["learned"])
    del metric["proportion"]
    for own, expected in (({}, ("1", "max")), ({"statistic": "mean"}, ("0.25", "mean"))):
        made["metrics"]["learned"] = metric | own
        record, *_ = lines(toy(made, outcomes("same", [0, 1, 0, 0])))
        assert (record["mean"], record["statistic"]) == expected


def test_a_printed_fraction_is_judged_by_the_number_of_runs() -> None:
    # 12 of 20 beside 0.5: twice sqrt(.5 * .5 / 20) = .2236, and half a unit of the last digit
    place = {"source": "kinley2020", "table": "Table 6.1", "row": "SST", "column": "TRANSFORMER"}
    made = definitions(printed=[place])
    metric = made["metrics"]["learned"] | {"printed": "accuracy"}
    metric["tolerance"] = {"seed_std": 0, "sampling": "binomial", "because": "-"}
    made["metrics"]["learned"] = metric
    other = with_tables(made)
    key = (*place.values(), "accuracy")
    number = other.expected.values[key]
    other.expected.values[key] = replace(number, printed=replace(number.printed, text="0.5"))
    behind = Measures(outcomes("same", [1, 1, 1, 0, 0] * 4))
    record, *_ = lines(tables.build(other, "toy", "lite", behind))
    assert record["verdict"] == "wide tolerance"
    assert "difference +0.1, tolerance 0.274" in record["note"]


def test_a_measure_that_is_no_outcome_is_named() -> None:
    with pytest.raises(ReportingError, match=r"same/seed-1\.json: probe\.learned is 0\.5, but"):
        toy(definitions(), outcomes("same", [1, 0.5]))


def test_any_metric_can_show_its_interval(paper: Paper, measures: Measures, tmp_path: Path) -> None:
    changed = Paper("discrete_transformer")
    column = changed.tables["tables"]["stack_language"]["columns"][0]
    column["format"] = "{nll:interval}"
    tabulate(changed, "stack_language", "lite", measures, tmp_path / "t")
    with (tmp_path / "t.csv").open(newline="") as stream:
        record = next(csv.DictReader(stream))
    rounded = [f"{float(record[name]):.3f}" for name in ("mean", "ci_low", "ci_high")]
    assert f"| {rounded[0]} [{rounded[1]}, {rounded[2]}] |" in (tmp_path / "t.md").read_text()
    assert layout.shown(42.29, None, 1, best_of=2) == "42.3 (best of 2)"
    texts = [layout.shown(0.69, 0.11, 2, how) for how in ("interval", "", "mean")]
    assert texts == ["0.69±0.11", "0.69±0.11", "0.69"]


def test_a_proportion_is_of_runs() -> None:
    made = definitions()
    made["metrics"]["learned"]["spread_over"] = "examples"
    with pytest.raises(InputError, match=r"metrics\.learned: a proportion is of runs"):
        check_tables(made, "tables.yaml")


def ones(count: int, n: int) -> list[int]:
    return [1] * count + [0] * (n - count)


def test_the_printed_example_decides() -> None:
    decision = decide_proportions(ones(56, 70), ones(48, 80), Hypothesis("greater", 0.0))
    assert decision.estimate == pytest.approx(0.2)
    assert (decision.ci_low, decision.ci_high) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert (decision.verdict, decision.n) == ("holds", 150)
    assert decision.reason == "the interval lies above 0"


@pytest.mark.parametrize(
    ("left", "right", "direction", "margin", "verdict"),
    [
        (ones(56, 70), ones(48, 80), "less", 0.0, "does not hold"),
        (ones(48, 80), ones(56, 70), "less", 0.0, "holds"),
        (ones(56, 70), ones(48, 80), "greater", 0.1, "undecided"),
        (ones(56, 70), ones(48, 80), "greater", 0.34, "does not hold"),
        (ones(20, 20), ones(0, 1), "greater", -0.9, "undecided"),
        (ones(1, 1), ones(0, 20), "greater", -0.9, "undecided"),
        (ones(20, 20), [], "greater", 0.0, "not run"),
        ([], ones(20, 20), "greater", 0.0, "not run"),
        # The exact interval of 20 of 20 is [.832, 1], of 2 of 20 [.012, .317]
        (ones(20, 20), 0.8, "greater", 0.0, "holds"),
        (ones(20, 20), 0.85, "greater", 0.0, "undecided"),
        (ones(2, 20), 0.35, "greater", 0.0, "does not hold"),
        (ones(2, 20), 0.35, "less", 0.0, "holds"),
        (ones(1, 1), 0.1, "greater", 0.0, "undecided"),
        ([], 0.5, "greater", 0.0, "not run"),
    ],
)
def test_decisions_by_hand(
    left: list[int], right: list[int] | float, direction: str, margin: float, verdict: str
) -> None:
    assert decide_proportions(left, right, Hypothesis(direction, margin)).verdict == verdict


groups = st.lists(st.integers(0, 1), min_size=2, max_size=25)


@given(groups, groups, st.floats(-0.9, 0.9))
def test_directions_and_sides_mirror(left: list[int], right: list[int], margin: float) -> None:
    one = decide_proportions(left, right, Hypothesis("greater", margin)).verdict
    assert decide_proportions(right, left, Hypothesis("less", -margin)).verdict == one
    opposite = {"holds": "does not hold", "does not hold": "holds"}.get(one, one)
    assert decide_proportions(left, right, Hypothesis("less", margin)).verdict == opposite


FAILS: dict[str, Any] = {
    **{"measure": "probe.learned", "label": "learned", "unit": "fraction", "digits": 2},
    **{"over": "proportions", "direction": "less"},
    "left": {"variant": "same", "label": "same 40"},
    "right": {"variant": "more", "label": "40 of 60"},
}
"""A claim: it fails more often."""


def test_sides_are_groups_and_need_no_common_seed() -> None:
    behind = [*outcomes("same", LEARNED), *outcomes("more", [1, 1, 1, 0, None], first=18)]
    found = judged(behind, **FAILS)
    assert found["estimate"] == pytest.approx(0.1 - 0.75)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx(newcombe((2, 20), (3, 4)))
    left = {"label": "same 40", "variant": "same", "mean": 0.1, "count": 2, "runs": 20}
    assert found["left"] == left
    assert (found["right"]["count"], found["right"]["runs"], found["n"]) == (3, 4, 24)
    assert found["seeds"] == list(range(22)) and len(found["runs"]) == 24
    assert found["verdict"] == "holds"
    # Wilson's intervals are [.0279, .3010] and [.3006, .9544]:
    # -.65 - hypot(.0721, .2044) = -.867 and -.65 + hypot(.2010, .4494) = -.158
    assert (
        "| same 40: 0.10 (2 of 20 runs) | 40 of 60: 0.75 (3 of 4 runs) | -0.65 [-0.87, -0.16] "
        "learned | 24 runs | – | **holds** |"
    ) in claims_table([JudgedClaim.of(found)])


def test_a_fixed_value_stands_for_the_other_side() -> None:
    found = judged(outcomes("same", LEARNED), **FAILS | {"right": {"value": 0.5}})
    low, high = exact(2, 20)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((low - 0.5, high - 0.5))
    assert (found["n"], found["verdict"]) == (20, "holds")
    assert "| same 40: 0.10 (2 of 20 runs) | fixed value: 0.50 | -0.40" in claims_table(
        [JudgedClaim.of(found)]
    )


def test_what_fishers_test_leaves_open_has_its_p_as_the_reason() -> None:
    """0 of 4 beside 3 of 4: Newcombe's interval leaves out 0; p is 4 of 56 ways, twice."""
    behind = [*outcomes("same", [0] * 4), *outcomes("more", [1, 1, 1, 0])]
    found = judged(behind, **FAILS)
    assert found["verdict"] == "undecided" and found["ci_high"] < 0
    assert found["p"] == pytest.approx(1 / 7)
    assert found["reason"] == "Fisher's exact test: p = .14"
    line = claims_table([JudgedClaim.of(found)])
    assert "**undecided** (Fisher's exact test: p = .14)" in line and "contains" not in line


@pytest.mark.parametrize(
    ("more", "verdict", "why"),
    [([], "not run", ""), ([None, None], "undecided", " (undefined)")],
)
def test_one_side_decides_nothing(more: list[int | None], verdict: str, why: str) -> None:
    found = judged([*outcomes("same", LEARNED), *outcomes("more", more)], **FAILS)
    assert (found["verdict"], found["estimate"]) == (verdict, None)
    assert f"| – | – | – | – | – | **{verdict}**{why} |" in claims_table([JudgedClaim.of(found)])
