"""Rows that a paper quotes, lists of words in cells, and rows with a variant of each column."""

from dataclasses import replace
from typing import Any

import pytest

from tests.reporting.synthetic import checked, lines, one_run, shown, toy, toy_table
from workflow.definitions.cells import table_runs
from workflow.reporting.cells import LongForm, records
from workflow.reporting.statistics.verdict import WORDS
from workflow.runtime.errors import InputError, ReportingError

TABLE_1 = {"source": "zhao2019", "table": "Table 1", "row": "{row}", "column": "{column}"}


def definitions(**row: Any) -> dict[str, Any]:
    """Return a `tables.yaml` with a quoted row and one of our own."""
    metrics = {"bleu": {"measure": "probe.bleu", "printed": "BLEU", "label": "BLEU",
                        "digits": 1}}  # fmt: skip
    rows = [
        {"id": "quoted", "label": "DynamicConv (Wu et al., 2019)", "quoted": True},
        {"id": "soft", "label": "Transformer(impl.)", **row},
    ]
    columns = [
        {"id": "en_de", "label": "En-De", "metrics": ["bleu"]},
        {"id": "en_vi", "label": "En-Vi", "metrics": ["bleu"]},
    ]
    given = {"source": "zhao2019", "variant": "{column}_{row}", "printed": [TABLE_1]}
    return checked(toy_table(metrics, columns, rows, **given))


def built(made: dict[str, Any], runs: list[Any]) -> LongForm:
    return toy(made, runs, "explicit_sparse")


def test_quoted_numbers_stand_there_without_a_verdict() -> None:
    made = definitions()
    runs = [one_run("en_de_soft", 0, {"bleu": 29.0}), one_run("en_de_quoted", 0, {"bleu": 1.0})]
    table = built(made, runs)
    assert shown(made, table) == [
        ["DynamicConv (Wu et al., 2019)", "–", "29.7", "quoted", "–", "", ""],
        ["Transformer(impl.)", "29.0", "29.1", "not comparable", "not run", "30.6", "not run"],
    ]
    quoted = [one for one in lines(table) if one["verdict"] == "quoted"]
    assert [one["flag"] for one in quoted] == ["quoted", "not printed"]
    assert "quoted" not in WORDS
    assert all(not one["mean"] and not one["note"] for one in quoted)


def test_a_unit_is_the_evaluators_and_without_runs_the_papers() -> None:
    runs = [one_run("en_de_soft", seed, {"bleu": 29.0}) for seed in (0, 1)]
    units = [line["unit"] for line in lines(built(definitions(), runs))]
    assert units == ["%", "%", "points", "%"]
    runs[1].evaluators["probe"]["scalars"]["bleu"]["unit"] = "%"
    with pytest.raises(ReportingError, match=r"probe\.bleu is in % and in points in the runs"):
        built(definitions(), runs)


def test_nothing_is_run_for_quoted_rows() -> None:
    runs = [("toy", "en_de_soft"), ("toy", "en_vi_soft")]
    assert table_runs(definitions()["tables"]["toy"]) == runs


def test_a_row_may_name_a_variant_for_each_column() -> None:
    made = definitions(variant={"en_vi": "other_{row}"})
    assert table_runs(made["tables"]["toy"]) == [("toy", "en_de_soft"), ("toy", "other_soft")]
    with pytest.raises(InputError, match='unknown column "en_fi"'):
        definitions(variant={"en_fi": "other"})
    with pytest.raises(InputError, match='unknown part "line"'):
        definitions(variant={"en_vi": "other_{line}"})


def test_a_list_of_words_is_a_cell() -> None:
    made = definitions()
    metric = {"measure": "probe.near", "of": "slightly", "label": "near"}
    made["metrics"]["bleu"] = {**metric, "digits": 0}
    arrays: dict[str, Any] = {
        "word": ["often", "slightly", "nowhere"],
        "near": [["now", "here"], ["somewhat", "little"], []],
    }
    runs = [one_run("en_de_soft", 0, {}, arrays), one_run("en_vi_soft", 0, {}, {})]
    table = built(made, runs)
    assert [one["mean"] for one in lines(table)] == ["", "", "somewhat, little", ""]
    missing = lines(table)[3]
    assert missing["verdict"] == "not run"
    assert "the measure is missing in 1 of 1 runs" in missing["note"]
    assert shown(made, table)[1][1] == "somewhat, little"
    made["metrics"]["bleu"]["of"] = "nowhere"
    assert [one["mean"] for one in lines(built(made, runs))] == [""] * 4
    made["metrics"]["bleu"]["of"] = "never"  # the first run was measured, and has no such word
    assert [one["mean"] for one in lines(built(made, runs))] == ["", "", "–", ""]


def test_timings_on_another_kind_of_machine_are_left_out_of_a_cell() -> None:
    runs = []
    for seed, (device, speed) in enumerate((("cpu", 5.0), ("H200", 87.0), ("cpu", 6.0))):
        one = one_run("en_de_soft", seed, {"bleu": speed})
        one.evaluators["probe"]["scalars"]["bleu"]["unit"] = "K tokens/s"
        runs.append(replace(one, provenance={**one.provenance, "device": device}))
    table = built(definitions(), runs)
    cell = lines(table)[2]
    assert (cell["mean"], cell["n"]) == ("5.5", "2")
    said = "seeds 0, 2; timed on cpu; 1 run on another kind of machine left out"
    assert said in cell["note"] and "missing" not in cell["note"]
    told = records(table.cells)[2]
    assert [path.rpartition("/")[2] for path in told["measures"]] == ["seed-0.json", "seed-2.json"]
    assert "another kind" not in lines(built(definitions(), runs[:1]))[2]["note"]


def test_a_text_is_that_of_one_run() -> None:
    made = definitions()
    metric = {"measure": "probe.near", "of": "a", "label": "near", "digits": 0}
    made["metrics"]["bleu"] = metric
    arrays: dict[str, Any] = {"word": ["a"], "near": [["an"]]}
    runs = [one_run("en_de_soft", seed, {}, arrays if seed else {}) for seed in range(3)]
    table = built(made, runs)
    record, cell = lines(table)[2], records(table.cells)[2]
    assert (record["mean"], record["n"]) == ("an", "1") and "seeds 1" in record["note"]
    assert (cell["runs"], cell["seeds"], cell["measure"]) == (["en_de_soft-1"], [1], "probe.near")
    assert list(table.about["runs"]) == ["en_de_soft-1"]
