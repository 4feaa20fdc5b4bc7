"""Which comparisons are counted: each once, and with what tells whether it is of a training."""

from pathlib import Path
from typing import Any

import pandas as pd

from workflow.definitions.paper import Paper
from workflow.files import csv_text, write_sidecar, write_text
from workflow.reporting.cells import read_table, record
from workflow.reporting.measures import Measures
from workflow.reporting.publication.counting import comparisons, measurement, once
from workflow.reporting.tables.tabulating import tabulate


def write(folder: Path, name: str, records: list[tuple[str, str, str]], **sidecar: Any) -> None:
    """Write a table of (metric, printed number, verdict), in which `size` needs no training.

    Behind each cell is the run `run`, unless it was not run; the n-th value is n + 1.
    """
    path = folder / "tables/paper" / name
    columns = ("metric", "expected", "verdict")
    named = [
        {"source": "kinley2020", "mean": str(n + 1), **dict(zip(columns, one, strict=True))}
        for n, one in enumerate(records)
    ]
    tolerances = {"accuracy": {"seed_std": 1}, "size": {"seed_std": 0}}
    cells = [
        {"measure": f"probe.{metric}", "runs": [] if verdict == "not run" else ["run"]}
        for metric, _, verdict in records
    ]
    write_text(path.with_suffix(".csv"), csv_text(("source", "mean", *columns), named))
    write_sidecar(path, {"tolerances": tolerances, "cells": cells, **sidecar}, ["csv"])


def test_comparisons_are_with_printed_numbers_and_count_once(tmp_path: Path) -> None:
    write(tmp_path, "a", [("accuracy", "1", "near"), ("accuracy", "", "not comparable")])
    write(tmp_path, "b", [("accuracy", "1", "quoted"), ("size", "2", "reproduced")])
    write(tmp_path, "c", [("accuracy", "1", "near")], repeats="a")
    write(tmp_path, "d", [("train #", "9", "differs")], corpora={}, cells=[{}])
    write(tmp_path, "e", [("speed", "3", "not run")], repeats=None)
    compared = comparisons(sorted(tmp_path.glob("tables/*/*.csv")))
    assert set(compared["source"]) == {"kinley2020"}
    found = compared[["trained", "verdict", "measurement"]]
    assert list(found.itertuples(index=False, name=None)) == [
        (True, "near", ("run", "accuracy", "1")),
        (False, "reproduced", ("run", "size", "2")),
        (False, "differs", None),
        (True, "not run", None),
    ]


def test_a_second_reading_counts_as_such_and_not_where_it_was_not_run(tmp_path: Path) -> None:
    """zhao2019 table 4 has one number for entmax, which is read in two ways."""
    paper = Paper("explicit_sparse")
    table = paper.tables["tables"]["table_4"]
    read = {row["id"]: row for row in table["rows"] if row["id"].startswith("entmax_")}
    assert read["entmax_bisect"]["flag"] == "reading" and "flag" not in read["entmax_alpha"]
    tabulate(paper, "table_4", "lite", Measures([]), tmp_path / "tables/p/t")
    cells = read_table(tmp_path / "tables/p/t.csv").cells.query("expected != ''")
    found = comparisons([tmp_path / "tables/p/t.csv"])
    again = cells.query("flag == 'reading'")
    assert len(again) == 3 and len(found) == len(cells) - len(again) > 3
    write(tmp_path, "a", [("accuracy", "1", "second reading")])
    assert [*comparisons([tmp_path / "tables/paper/a.csv"])["verdict"]] == ["second reading"]


def test_a_measurement_counts_once_by_its_worst_verdict() -> None:
    one, other = (("run", "accuracy", mean) for mean in ("1", "2"))
    found = [
        ("differs", one),
        ("near", one),
        ("reproduced", one),
        ("not comparable", one),
        ("wide tolerance", other),
        ("within, one seed", other),
        ("not run", None),
        ("not run", None),
    ]
    for order in (found, found[::-1]):
        kept = once(pd.DataFrame(order, columns=["verdict", "measurement"], dtype=object))
        assert sorted(kept["verdict"]) == ["differs", "not run", "not run", "within, one seed"]


def test_one_quantity_counts_once_whoever_measured_it_and_in_whatever_unit() -> None:
    about = {"tolerances": {"percent": {"full": 100}}}

    def of(measure: str, metric: str, mean: float | str, *runs: str) -> object:
        behind = list(runs or ("a", "b"))
        return measurement(about, record(measure=measure, metric=metric, mean=mean, runs=behind))

    known = of("validation.uniform_proxy", "percent", 79.4123)
    assert of("regression.uniform_proxy", "share", 0.794123) == known
    assert of("regression.uniform_log", "share", 0.794123) != known
    assert of("regression.uniform_proxy", "share", 0.795) != known
    assert of("validation.uniform_proxy", "percent", 79.4123, "a") != known
    assert of("roles.typical", "list", "the, a") == ("a", "b", "typical", "the, a")
    assert measurement(about, record(metric="train #", mean=9, corpus="d")) is None


def test_table_1_of_snell2021_repeats_its_table_4(tmp_path: Path) -> None:
    paper = Paper("attention_learning")
    tabulate(paper, "table_1", "lite", Measures([]), tmp_path / "tables/p/table_1")
    assert comparisons(sorted(tmp_path.glob("tables/*/*.csv"))).empty
    tabulate(paper, "table_4", "lite", Measures([]), tmp_path / "tables/p/table_4")
    found = comparisons(sorted(tmp_path.glob("tables/*/*.csv")))
    assert {*found["verdict"]} == {"not run"}
    assert {*found["trained"]} == {True, False}  # with the agreement of a random order
