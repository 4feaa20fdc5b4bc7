"""Costs by experiment, and the sentence that refuses them."""

from pathlib import Path

import pytest

from tests.planning.conftest import CONFIG
from workflow.planning.budget import check_budget, save_plan, too_large, too_long
from workflow.planning.cost import Cost, Job, by_experiment
from workflow.planning.estimator import Estimate, Estimator, uses_gpu
from workflow.planning.plan import Plan
from workflow.runtime.errors import InputError
from workflow.runtime.integrity import read_verified

ROOT = Path(__file__).resolve().parents[2]


class ByExperiment:
    """An estimator that takes hours for an experiment."""

    def __init__(self, plan: Plan, **hours: float) -> None:
        self.plan, self.hours = plan, hours

    def estimate(self, run):
        hours = self.hours[run.experiment.name]
        return Estimate(3600 * hours, 7200 * hours, 50, 3, "measured")


def made(tmp_path: Path, **others) -> Plan:
    return Plan({**CONFIG, "scale": "lite", "results": str(tmp_path), **others}, ROOT)


def job(key: str, rule: str = "train") -> Job:
    """A job of a run."""
    return Job(rule, dict(zip(("experiment", "variant", "seed"), key.split("/"), strict=True)))


JOBS = [
    job("stack_language/uniform_soft/0"),
    job("stack_language/uniform_soft/1", "train_locally"),
    job("stack_language/uniform_soft/1", "measure"),
    job("permutation_copying/same_40/3"),
    Job("report", {}),
]


def test_jobs_are_gathered_by_experiment_the_dearest_first(tmp_path):
    estimator = ByExperiment(made(tmp_path), stack_language=1, permutation_copying=5)
    found = by_experiment(JOBS, estimator)
    named = [(name, one.jobs, one.hours, one.disk) for name, one in found.items()]
    assert named == [("permutation_copying", 1, 10, 3), ("stack_language", 3, 4, 6), ("", 1, 0, 0)]
    assert list(found["stack_language"].runs) == [
        f"stack_language/uniform_soft/seed-{seed}" for seed in (0, 1)
    ]


def test_wall_time_is_shared_but_no_run_is_split():
    hours = {"a": 3, "b": 1, "c": 1, "d": 1}
    runs = {name: Estimate(3600 * h, 3600 * h, h, 1, "scaled") for name, h in hours.items()}
    cost = Cost(runs)
    assert [cost.wall(parallel) for parallel in (1, 2, 3)] == [6, 3, 3]
    assert (cost.hours, cost.memory, cost.disk) == (6, 3, 4)
    assert Cost().wall(2) == 0


def test_a_budget_refuses_what_exceeds_it_and_nothing_else(tmp_path):
    estimator = ByExperiment(made(tmp_path), stack_language=1, permutation_copying=5)
    found = by_experiment(JOBS, estimator)
    for hours in (None, 14, 14.5):
        check_budget(made(tmp_path, budget={"gpu_hours": hours}), found, "GPU-hours")
    check_budget(made(tmp_path), found, "GPU-hours")
    with pytest.raises(InputError) as refused:
        check_budget(made(tmp_path, budget={"gpu_hours": 13.9}), found, "GPU-hours")
    said = str(refused.value)
    assert "need about 14 GPU-hours, and budget.gpu_hours allows 13.9: nothing was started" in said
    assert "the dearest first: permutation_copying 10, stack_language 4" in said


@pytest.mark.parametrize(
    ("budget", "sentence"),
    [
        ({"gpu_hours": 0}, "budget.gpu_hours: 0 must be more than 0"),
        ({"gpu_hours": "much"}, "budget.gpu_hours: expected a number or null"),
        ({"hours": 3}, 'budget: unknown key "hours"'),
        (3, "budget: expected a mapping"),
    ],
)
def test_a_wrong_budget_is_told(tmp_path, budget, sentence):
    with pytest.raises(InputError, match=sentence):
        made(tmp_path, budget=budget)


def test_what_takes_longer_than_its_job_may_is_told_once_a_variant(tmp_path):
    jobs = [job(f"multihead_copying/random/{seed}") for seed in range(2)]
    plan = made(tmp_path)
    costs = by_experiment(jobs, ByExperiment(plan, multihead_copying=1))
    assert too_long(plan, costs.values()) == []
    costs = by_experiment(jobs, ByExperiment(plan, multihead_copying=1.75))
    (said,) = too_long(plan, costs.values())
    assert said.startswith(
        "Warning: a run of multihead_copying/random takes about 1.8 hours (measured), and "
        "resources.runtime gives each attempt at it 1; raise that or --retries"
    )


def test_variants_that_take_too_long_are_one_warning(tmp_path):
    jobs = [job("multihead_copying/random/0"), job("stack_language/uniform_soft/0")]
    jobs += [job("stack_language/uniform_discrete/0")]
    plan = made(tmp_path)
    took = ByExperiment(plan, multihead_copying=2000, stack_language=1000)
    (said,) = too_long(plan, by_experiment(jobs, took).values())
    assert said.startswith("Warning: a run of multihead_copying/random takes about 2,000 hours")
    assert said.endswith(" The same holds for 2 more variants: stack_language 2.")


@pytest.mark.parametrize(
    ("megabytes", "source", "warned"),
    [
        (1800, "measured", False),
        (1801, "measured", True),
        (4880, "scaled", False),  # of another corpus, perhaps
        (2000, "FLOPs", False),  # what is asked for, where nothing alike was measured
    ],
)
def test_what_was_measured_to_need_its_jobs_memory_is_told(tmp_path, megabytes, source, warned):
    plan, one = made(tmp_path), Estimate(3600, 3600, megabytes, 3, source)
    runs = {f"permutation_copying/same_40/seed-{seed}": one for seed in range(2)}
    said = too_large(plan, [Cost(runs)])
    sentence = (
        "Warning: a run of permutation_copying/same_40 took up to 1.8 GB (measured), and "
        "resources.memory asks for 2; raise that."
    )
    assert said == [sentence] * warned


def test_no_published_run_needs_the_memory_of_its_job(tmp_path):
    plan = made(tmp_path)
    estimator = Estimator(plan, False, ROOT / "docs" / "reproduction")
    runs = [(name, run) for name in plan.experiments for run in plan.runs(name)]
    jobs = [job(f"{name}/{run.variant}/{run.seed}") for name, run in runs]
    assert too_large(plan, by_experiment(jobs, estimator).values()) == []


def test_more_heads_than_there_is_time_for_are_told_by_their_estimate(tmp_path):
    """Of heads that are all trained at once; 4,000 of them take hours."""
    for heads, warned in ((8, 0), (4000, 1)):
        changes = {"multihead_copying": {"model": {"heads": heads}}}
        plan = made(tmp_path, overlay={"name": "heads", "experiments": changes})
        jobs = [job("multihead_copying/random/0")]
        found = by_experiment(jobs, Estimator(plan, False, tmp_path))
        assert len(too_long(plan, found.values())) == warned


def test_plans_of_other_runs_are_kept(tmp_path):
    plan, path = made(tmp_path), tmp_path / "lite" / "plan.json"
    one = Estimate(10, 10, 1, 1, "scaled")
    save_plan(plan, [Cost({"x/a/seed-0": one, "x/b/seed-0": one})])
    two, free = Estimate(20, 20, 1, 1, "measured"), Estimate(0, 0, 0, 0, "store")
    save_plan(plan, [Cost({"x/a/seed-0": two, "x/b/seed-0": free})])
    runs = read_verified(path)["runs"]
    found = {key: one["seconds"] for key, one in runs.items()}
    assert found == {"x/a/seed-0": 20, "x/b/seed-0": 10}


def test_a_gpu_is_looked_for_only_where_none_is_named(monkeypatch):
    for there in (None, "/usr/bin/nvidia-smi"):
        monkeypatch.setattr("shutil.which", lambda name, there=there: there)
        found = [uses_gpu(device) for device in ("cpu", "cuda", "auto")]
        assert found == [False, True, bool(there)]
