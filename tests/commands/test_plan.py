"""What plans of years and of seconds say, and what is planned of a published row."""

from pathlib import Path

import pytest

from tests.planning.conftest import CONFIG
from workflow.__main__ import main
from workflow.commands import plan as command
from workflow.commands.plan import elsewhere, table, total
from workflow.planning.cost import Cost
from workflow.planning.estimator import Estimate
from workflow.planning.plan import Plan
from workflow.reporting.publication.results import published

ROOT = Path(__file__).resolve().parents[2]
LITE, ROW = ROOT / "docs/reproduction/lite", "discrete_transformer/stack_language/uniform_soft"
YEAR = 365 * 24 * 3600


def test_a_plan_of_years_says_what_a_cluster_takes(tmp_path):
    plan = Plan({**CONFIG, "scale": "lite", "results": str(tmp_path)}, ROOT)
    keys = [f"stack_language/uniform_soft/seed-{seed}" for seed in range(3)]
    seconds = dict(zip(keys, (10 * YEAR, 4 * YEAR, 1800), strict=True))
    runs = {key: Estimate(time, time, 1, 1, "scaled") for key, time in seconds.items()}
    first, second = elsewhere(plan, {"stack_language": Cost(runs)}, 1)
    assert first.startswith("This machine needs about 14 years.")
    assert first.endswith("the longest takes about 10 years.")
    assert second.startswith("2 runs want GPUs, ") and "The other 1 take about 30 minutes" in second
    assert elsewhere(plan, {"stack_language": Cost({keys[2]: runs[keys[2]]})}, 1) == []


@pytest.mark.parametrize(
    ("seconds", "expected", "hours"),
    [
        (2, "under a minute", "<0.01"),
        (90, "about 2 minutes", "0.03"),
        (5400, "about 90 minutes", "1.5"),
        (7300, "about 2 h", "2.0"),
    ],
)
def test_a_short_plan_is_in_minutes(seconds, expected, hours):
    costs = {"toy": Cost({"toy/a/seed-0": Estimate(seconds, seconds, 1, 1, "scaled")})}
    line = total([], costs, "core-hours", 1)
    assert line == f"0 jobs, 1 runs: {expected} here with 1 at once ({hours} core-hours)."
    assert not [note for note in table(costs, "core-hours", 1) if "tore" in note]


def test_a_row_is_planned_as_reproduce_would_train_it(tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(command, "dry_run", lambda arguments: asked.extend(arguments) or [])
    main(["plan", "--row", ROW, "--results", str(tmp_path)])
    prefix = "stack_language/uniform_soft/seed-"
    new = 1 + max(int(key.removeprefix(prefix)) for key in published(LITE) if prefix in key)
    file = f"{tmp_path}/reproduced/lite/measures/{prefix}{new}.json"
    assert asked[0] == file and "scale=lite" in asked
    assert f"results={tmp_path}/reproduced" in asked and not list(tmp_path.glob("lite"))
    assert capsys.readouterr().out.splitlines()[-1] == "Downloads: none."


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--row", "a/b/c"], 'ROW: unknown paper "a"'),
        (["--row", ROW, "zhao2019"], "ROW= (--row) and ONLY= name two things to plan"),
    ],
)
def test_a_row_that_there_is_not_or_that_is_not_all_is_refused(options, said, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["plan", *options, "--results", str(tmp_path)])
    assert said in f"{ended.value}{capsys.readouterr().err}"
