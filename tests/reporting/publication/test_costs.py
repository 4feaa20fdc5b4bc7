"""What a row takes: its command makes its runs, and their cost is the plan's."""

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.reporting.synthetic import Results, plan_of
from workflow.definitions.paper import Paper
from workflow.planning.plan import Plan
from workflow.reporting.publication.costs import Costs, Rows
from workflow.runtime.json_lines import write_lines


@pytest.fixture
def plan(results: Results) -> Plan:
    return plan_of(results.folder.parent, seeds=[0, 1, 2])


def measured(plan: Plan, published: Path, seconds: float, *runs: str) -> Costs:
    """Return the costs when some runs took so many seconds, and 3 GB."""
    told = {"device": "cpu", "device_seconds": seconds, "tokens": 1e6, "peak_memory_mb": 3000.0}
    lines = {}
    for variant in runs:
        run = plan.run("text_classification", variant, 0)
        spec = {"run": {"data": run.recipe}, **vars(run.settings)}
        kept = ("run", "model", "objective", "training")
        spec = {name: spec[name] for name in kept}
        lines[f"{variant}/seed-0"] = {**told, "identity": variant, "spec": spec}
    write_lines(published / plan.scale / "runs/text_classification.jsonl", lines)
    return Costs(plan, published)


def row(rows: list[Rows], name: str) -> Rows:
    (found,) = (one for one in rows if name in one.names)
    return found


def test_measured_runs_and_files_are_counted_once(plan: Plan, tmp_path: Path) -> None:
    variants = ("sst_soft", "sst_discrete", "sst_two_stream")
    costs = measured(plan, tmp_path, 1200.0, *variants)
    rows = costs.of_rows(Paper("discrete_transformer"), "table_6_1")
    sst = row(rows, "gradient norm: SST")
    assert sst.names == ["gradient norm: SST", "gradient times input: SST"]
    assert str(sst.cost) == "9 runs, 3 h, 3.0 GB, download 1 MB"
    assert "about" in str(row(rows, "gradient norm: 20 News").cost)
    whole, *others = costs.of_table(Paper("discrete_transformer"), "table_6_1")
    assert whole.command == "make run SCALE=lite ONLY=discrete_transformer_table_6_1"
    assert others == rows and whole.names == [name for one in rows for name in one.names]
    assert {*sst.cost.runs} < {*whole.cost.runs} and {*sst.cost.files} < {*whole.cost.files}
    fetched = {name: one for each in rows for name, one in each.cost.files.items()}
    assert whole.cost.files == fetched
    short = measured(plan, tmp_path, 20.0, *variants).of_runs(
        [plan.run("text_classification", "sst_soft", 0)]
    )
    assert str(short).startswith("1 run, 0 min, 3.0 GB")


def test_a_command_names_the_measures_of_its_row(plan: Plan, tmp_path: Path) -> None:
    """Written out by bash, as the Makefile has it."""
    rows = measured(plan, tmp_path, 1.0).of_rows(Paper("discrete_transformer"), "table_6_1")
    only = shlex.split(row(rows, "gradient norm: SST").command)[-1].removeprefix("ONLY=")
    said = subprocess.check_output(["bash", "-c", f"echo {only}"], text=True)
    assert sorted(said.split()) == sorted(
        f"results/lite/measures/text_classification/sst_{name}/seed-{seed}.json"
        for name in ("soft", "discrete", "two_stream")
        for seed in (0, 1, 2)
    )


def test_runs_whose_records_are_read_and_parents_count_too(plan: Plan, tmp_path: Path) -> None:
    rows = measured(plan, tmp_path, 1.0).of_rows(Paper("attention_learning"), "table_4")
    sst = row(rows, "SST")
    assert "sst_attention" in sst.command and "uniform" not in sst.command
    names = {key.split("/")[1] for key in sst.cost.runs}
    assert names >= {"sst_attention", "sst_uniform", "sst_proxy"}


def test_corpora_are_downloaded_and_nothing_is_trained(plan: Plan, tmp_path: Path) -> None:
    rows = measured(plan, tmp_path, 1.0).of_rows(Paper("attention_learning"), "table_8")
    assert str(row(rows, "IMDB").cost) == "download 84 MB"
    assert str(row(rows, "Yelp").cost).startswith("no download, by hand yelp/")


def test_results_of_this_machine_change_nothing(results: Results, tmp_path: Path) -> None:
    before = measured(results.plan, tmp_path, 5.0, "sst_soft")
    results.add("text_classification", "sst_soft", 0)
    after = Costs(results.plan, tmp_path)
    for costs in (before, after):
        (estimate,) = costs.of_runs(
            [results.plan.run("text_classification", "sst_soft", 1)]
        ).runs.values()
        assert (estimate.source, estimate.seconds) == ("measured", 5.0)


def test_rows_of_one_command_are_the_whole_table(plan: Plan, tmp_path: Path) -> None:
    (whole,) = measured(plan, tmp_path, 1.0).of_table(Paper("role_interaction"), "roles_multi30k")
    assert whole.command == "make run SCALE=lite ONLY=role_interaction_roles_multi30k"
