"""What the page tells of a variant: in what it differs, and the command that makes it."""

from pathlib import Path

import pytest

from tests.equivalent import ROUNDING, accept, line
from tests.reporting.synthetic import Results, plan_of
from workflow.planning.targets import Targets
from workflow.reporting.command_lines import command
from workflow.reporting.page.page import render
from workflow.reporting.page.runs import recorded, variants


def test_a_variant_says_in_what_it_differs_from_the_defaults(results: Results) -> None:
    results.add("text_classification", "sst_two_stream", 0)
    (shown,) = variants(recorded(results.runs), "lite")
    assert shown.differences
    changed = {one.key: (one.ours, one.default) for one in shown.differences}
    ours, default = changed["model.encoder.path"]
    assert ours.endswith(":TwoStreamTransformer") and default.endswith(":Transformer")
    assert "training.optimizer.lr" not in changed  # which all share


def test_the_runs_of_a_variant_that_is_gone_have_no_defaults(results: Results) -> None:
    results.add("text_classification", "sst_soft", 0)
    (one,) = recorded(results.runs)
    spec = {**one.run["spec"], "run": {**one.run["spec"]["run"], "experiment": "gone"}}
    (shown,) = variants([one._replace(run={**one.run, "spec": spec})], "lite")
    assert shown.differences is None


def test_what_is_published_has_no_curve(results: Results) -> None:
    results.add("stack_language", "uniform_soft", 0)
    (one,) = recorded(results.runs)
    (with_history,) = variants([one], "lite")
    (without,) = variants([one._replace(folder=None)], "lite")
    assert "<svg" in with_history.curves and without.curves == ""


def test_a_run_by_earlier_code_says_so_beside_its_commit(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    results.add("text_classification", "sst_soft", 0)
    (one,) = recorded(results.runs)
    said = "</code>, by earlier code, same to rounding</td>"
    assert said not in render("lite", [one])
    accept(monkeypatch, line(one.run["code"], "f" * 16, ROUNDING))
    assert said in render("lite", [one])


def test_commands_name_what_the_workflow_can_make(results: Results) -> None:
    for seed in (0, 1):
        results.add("text_classification", "sst_soft", seed)
    (shown,) = variants(recorded(results.runs), "lite")
    plan = plan_of(Path("results"))
    made = [run for run in plan.runs("text_classification") if run.variant == "sst_soft"]
    files = [f"results/lite/measures/{run.key}.json" for run in made if run.seed in (0, 1)]
    target = shown.command.partition("ONLY=")[2]
    assert target.startswith('"') and target.endswith('"')  # else make sees two
    assert [target.strip('"').replace("{0,1}", seed) for seed in "01"] == files
    assert {Path(file) for file in files} <= {
        Path(*Path(file).parts[-6:]) for file in Targets(plan).measures(made)
    }
    assert "discrete_transformer_table_6_1" in Targets(plan).names
    assert command("lite+mine", "x") == "make run SCALE=lite OVERLAY=mine.yaml ONLY=x"
