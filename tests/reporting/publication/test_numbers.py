"""The frame of all numbers: each of a run once, and what tables show is their mean."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from tests.reporting.synthetic import Results, one_run
from tests.workflow.pages.guides import files
from workflow import ROOT
from workflow.reporting.cells import read_table, records
from workflow.reporting.publication.numbers import COLUMNS, long_frame, numbers_in
from workflow.reporting.publication.results import key_at
from workflow.runtime.errors import ReportingError

LITE = ROOT / "docs/reproduction/lite"


def test_a_row_is_a_number_of_a_run() -> None:
    run = one_run("soft", 3, {"f1": 0.5, "loss": 2.0, "undefined": None}, {"loss": [1.0, 3.0]})
    probe = run.evaluators["probe"]
    probe["scalars"]["loss"] |= {"std": 1.5, "n": 2}
    probe["scalars"]["words"] = {"value": "the, a", "unit": ""}
    probe["scalars"]["accuracy"] = {"value": 101.0, "unit": "%"}  # beyond its bounds
    frame = long_frame([run, replace(run, run={**run.run, "seed": 4}, identity="other")])
    assert tuple(frame.columns) == COLUMNS
    assert [*frame["seed"]] == [3, 3, 4, 4] and [*frame["identity"].unique()] == ["soft-3", "other"]
    f1, loss = frame.query("seed == 3").to_dict("records")
    assert (f1["metric"], f1["value"], f1["unit"]) == ("f1", 0.5, "fraction")
    assert pd.isna(f1["std"]) and pd.isna(f1["n"])
    assert (loss["evaluator"], loss["value"], loss["std"], loss["n"]) == ("probe", 2.0, 1.5, 2)
    assert (loss["device"], loss["commit"]) == ("cpu", "1234567890abcdef")
    assert long_frame([]).empty


def test_own_results_are_read_with_their_runs(results: Results, tmp_path: Path) -> None:
    for seed in (0, 1):
        results.add("stack_language", "uniform_soft", seed)
    frame = numbers_in(results.folder)
    asked = frame.query("evaluator == 'receptive_field' and metric == 'recall'")
    assert [*asked["seed"]] == [0, 1] and {*asked["paper"]} == {"discrete_transformer"}
    assert (asked["device"] != "").all()
    with pytest.raises(ReportingError, match="nothing was measured here"):
        numbers_in(tmp_path / "none")


def test_the_mean_over_published_rows_is_what_tables_show() -> None:
    by_run = numbers_in(LITE).assign(
        key=lambda it: it.experiment + "/" + it.variant + "/seed-" + it.seed.astype(str),
        measure=lambda it: it.evaluator + "." + it.metric,
    )
    values = by_run.set_index(["measure", "key"])["value"].to_dict()
    compared = 0
    for path in sorted(LITE.glob("tables/*/*.csv")):
        for cell in records(read_table(path).cells):
            own = [values.get((cell["measure"], key_at(place))) for place in cell["measures"]]
            known = [value for value in own if value is not None]
            mean, statistic = cell["mean"], cell["statistic"]
            if known and isinstance(mean, float) and statistic in ("mean", "single"):
                assert mean == pytest.approx(sum(known) / len(known), rel=1e-5, abs=1e-9)
                compared += 1
    assert compared > 1000


def test_the_questions_of_the_guide_are_answered() -> None:
    script = files(ROOT / "docs/results.md")["questions.py"]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.count("?\n") == 3 and done.stdout.count("mean") == 3
    assert "uniform_discrete_penalty" in done.stdout and "NVIDIA H200" in done.stdout
