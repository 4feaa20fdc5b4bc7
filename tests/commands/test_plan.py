"""What a plan of years says of a cluster."""

from pathlib import Path

from tests.planning.conftest import CONFIG
from workflow.commands.plan import elsewhere
from workflow.planning.cost import Cost, Estimate
from workflow.planning.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
YEAR = 365 * 24 * 3600


def test_a_plan_of_years_says_what_a_cluster_takes(tmp_path):
    plan = Plan({**CONFIG, "scale": "lite", "results": str(tmp_path)}, ROOT)
    keys = [f"stack_language/uniform_soft/seed-{seed}" for seed in range(3)]
    seconds = dict(zip(keys, (10 * YEAR, 4 * YEAR, 1800), strict=True))
    runs = {key: Estimate(time, time, 1, 1, "scaled") for key, time in seconds.items()}
    first, second = elsewhere(plan, {"stack_language": Cost(runs)}, 1)
    assert first.startswith("This machine needs about 14 years.")
    assert first.endswith("the longest takes about 10 years.")
    assert second.startswith("2 runs want GPUs, ") and "The other 1 take about 0 h" in second
    assert elsewhere(plan, {"stack_language": Cost({keys[2]: runs[keys[2]]})}, 1) == []
