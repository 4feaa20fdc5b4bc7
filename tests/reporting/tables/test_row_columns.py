"""Rows that show other metrics in each column: what exists, what is shown, what is refused."""

from dataclasses import replace
from typing import Any

import pytest

from tests.reporting.synthetic import checked, laid_out, lines, one_run, shown, toy, toy_table
from workflow.definitions.cells import (
    behind_cell,
    cells,
    table_places,
    table_runs,
)
from workflow.definitions.paper import Paper
from workflow.reporting.measures import Measures
from workflow.reporting.tables import long_form as tables
from workflow.reporting.tables.latex import latex
from workflow.runtime.errors import InputError

NAMES = ("infix", "prefix", "majority", "seen")
PLACE = {"source": "kinley2020", "table": "Table 6.1", "row": "{row}", "column": "{column}"}


def definitions() -> dict[str, Any]:
    """Return a `tables.yaml` whose row `majority` has two columns of three, with other metrics."""
    metrics = {name: {"measure": f"probe.{name}", "label": name, "digits": 1} for name in NAMES}
    columns = [
        {"id": "one", "label": "depth 1", "metrics": ["infix"], "format": "{infix}"},
        {"id": "two", "label": "depth 2", "metrics": ["infix", "prefix"]},
        {"id": "all", "label": "all", "metrics": ["infix"], "format": "{infix:mean}"},
    ]
    majority = {
        "id": "majority",
        "label": "majority class",
        "variant": "model",
        "metrics": {"one": ["majority"], "all": ["majority", "seen"]},
        "format": {"one": "{majority:mean}", "all": "{majority:mean} ({seen:mean})"},
    }
    return toy_table(metrics, columns, [{"id": "model", "label": "model"}, majority])


def test_a_row_shows_other_metrics_in_each_column() -> None:
    made = checked(definitions())
    runs = [
        one_run("model", seed, {"infix": 50 + seed, "prefix": 40, "majority": 36, "seen": 7})
        for seed in range(2)
    ]
    table = toy(made, runs)
    assert shown(made, table) == [
        ["model", "50.5±0.7", "50.5±0.7", "50.5"],
        ["majority class", "36.0", "", "36.0 (7.0)"],
    ]
    here = [(it["column"], it["metric"]) for it in lines(table) if it["row"] == "majority class"]
    assert here == [("depth 1", "majority"), ("all", "majority"), ("all", "seen")]
    assert len(table.cells) == len(lines(table)) == 4 + 3
    assert latex(made, "toy", laid_out(made, table), table).count("36.0") == 2


def test_a_column_without_an_entry_does_not_exist() -> None:
    made = checked(definitions())
    table = made["tables"]["toy"]
    existing = [column["id"] for row, column in cells(table) if row["id"] == "majority"]
    assert existing == ["one", "all"]
    table["rows"][1]["variant"] = "{row}_{column}"
    variants = [variant for _, variant in table_runs(made["tables"]["toy"])]
    assert variants == ["model", "majority_one", "majority_all"]
    table["columns"][0]["rows"] = ["model"]
    assert ("toy", "majority_one") not in table_runs(made["tables"]["toy"])


def test_numbers_are_looked_up_only_where_a_row_has_the_metric() -> None:
    made = definitions()
    made["metrics"]["majority"]["printed"] = "accuracy"
    made["tables"]["toy"]["printed"] = [PLACE]
    places = [place for _, place, _ in table_places(checked(made))]
    assert [(place["row"], place["column"]) for place in places] == [
        ("majority class", "depth 1"),
        ("majority class", "all"),
    ]


def test_a_column_with_a_header_of_its_own_is_looked_up_by_the_papers() -> None:
    made = definitions()
    made["metrics"]["infix"]["printed"] = "accuracy"
    made["tables"]["toy"] |= {"printed": [PLACE], "columns": made["tables"]["toy"]["columns"][:1]}
    made["tables"]["toy"]["rows"].pop()
    made["tables"]["toy"]["columns"][0]["printed_label"] = "Depth 1 (%)"
    ((_, place, _),) = table_places(checked(made))
    assert (place["row"], place["column"]) == ("model", "Depth 1 (%)")


def test_a_column_of_bleu_has_one_direction_of_translation() -> None:
    table = Paper("explicit_sparse").tables["tables"]["table_4"]
    places = {"en_vi": ("en_vi_",), "de_en": ("de_en_", "iwslt_30_")}
    places["multi30k_en_de"] = ("multi30k_en_de_",)
    found = {column["id"]: 0 for _, column in cells(table)}
    for row, column in cells(table):
        found[column["id"]] += 1
        if column["id"] in places:
            assert behind_cell(table, row, column)[1].startswith(places[column["id"]])
    rows = len(table["rows"])
    assert found == {**dict.fromkeys(places, 3), "de_en": 12, "training": rows, "inference": rows}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"metrics": {"al": ["majority"]}},
            r'toy, majority: unknown column "al" \(known: all, one, two\); did you mean "al',
        ),
        ({"metrics": {"one": ["majorty"]}}, 'majority: unknown metric "majorty".*mean "majority"'),
        ({"format": {"two": "{majority}"}}, r'majority: unknown column "two" \(known: all, one\)'),
        ({"format": {"one": "{seen}"}}, r'one: unknown metric "seen" \(known: majority\)'),
        ({"format": {"all": "{majority}"}}, r'one: unknown metric "infix" \(known: majority\)'),
        ({"format": {"one": "{majority:mea}"}}, 'unknown way to show a value "mea".*mean "mean"'),
        ({"format": {"one": "{majority"}}, 'toy, majority, one: "{majority" is not a template'),
        ({"metrics": "majority"}, "rows.1.metrics: expected a list or a mapping .a list of metr"),
        ({"metrics": {"one": "majority"}}, "rows.1.metrics.one: expected a list, found"),
        ({"metrics": {"one": []}}, "rows.1.metrics.one: must not be empty"),
    ],
)
def test_wrong_names(change: dict[str, Any], sentence: str) -> None:
    made = definitions()
    made["tables"]["toy"]["rows"][1] |= change
    with pytest.raises(InputError, match=sentence):
        checked(made)


@pytest.mark.parametrize("theirs", ["starred", ""])
@pytest.mark.parametrize("ours", [1, 0, None])
def test_numbers_are_compared_where_both_have_the_star_or_neither(
    theirs: str, ours: float | None
) -> None:
    paper = Paper("discrete_transformer")
    made = definitions()
    metric = {"measure": "probe.xi", "label": "xi", "digits": 1, "starred": True}
    tolerance = {"seed_std": 5, "because": "a test"}
    made["metrics"]["xi"] = metric | {"printed": "accuracy", "tolerance": tolerance}
    place = {"source": "kinley2020", "table": "Table 6.1", "row": "SST", "column": "DISC TRANSF"}
    number = paper.expected.at(place, "accuracy")
    key = (*place.values(), "accuracy")
    paper.expected.values[key] = replace(number, flag=theirs)  # type: ignore[index]
    table = made["tables"]["toy"]
    table["columns"] = [{"id": "one", "label": "one", "metrics": ["xi"], "printed": [place]}]
    table["rows"] = [{"id": "model", "label": "model"}]
    value = number.printed.value or 0.0
    runs = [one_run("model", seed, {"xi": value, "xi_never": ours}) for seed in range(2)]
    paper.tables = checked(made)
    built = tables.build(paper, "toy", "lite", Measures(runs))
    (record,) = lines(built)
    one = bool(ours) != (theirs == "starred")
    assert ("was never exceeded (*)" in record["note"]) == one
    assert (record["verdict"] == "not comparable") == one
    assert shown(paper.tables, built)[0][2] == number.printed.text + ("*" if theirs else "")


def test_a_row_may_be_of_another_experiment_and_a_star_stands_where_a_value_is_above_0() -> None:
    made = definitions()
    table = made["tables"]["toy"]
    table["rows"][1] = {"id": "other", "label": "other", "experiment": "toys", "variant": "model"}
    starred = {"metrics": ["infix", "seen"], "format": "{infix:mean}{seen:star}"}
    table["columns"] = [{"id": "one", "label": "one", **starred}]
    made = checked(made)
    assert table_runs(made["tables"]["toy"]) == [("toy", "model"), ("toys", "model")]
    runs = [one_run("model", 0, {"infix": 50, "seen": 0.5})]
    other = one_run("model", 0, {"infix": 40, "seen": 0})
    other.run["experiment"] = "toys"  # type: ignore[index]
    assert shown(made, toy(made, [*runs, other])) == [["model", "50.0*"], ["other", "40.0"]]
    one = laid_out(made, toy(made, runs))
    assert one.rows == (("model",),)
    assert one.below[0] == "Not run: other."
