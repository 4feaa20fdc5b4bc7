"""What `snakemake --profile slurm` would submit, and what runs where Snakemake does."""

import json
import re
import shlex
import shutil
from inspect import signature
from pathlib import Path

import pytest

from tests.workflow.pages.guides import recipe

SOFT = "toy_language/soft/seed-0"
EXPERIMENTS = "workflow/papers/toy/experiments.yaml"
GUIDE = (Path(__file__).resolve().parents[2] / "docs/cluster.md").read_text(encoding="utf-8")
SITE = """
default-resources: {slurm_partition: short, slurm_account: mine}
set-resources:
  train: {gpu: 0, gres: "gpu:1", runtime: 240}
"""


def ask(project, resources: str) -> None:
    """State what the jobs of the toy language ask for."""
    project.edit(EXPERIMENTS, "    seeds: 3\n", f"    seeds: 3\n    resources: {resources}\n")


def asked(outcome, rule: str) -> dict[str, str]:
    """What the first job of a rule would ask for."""
    line = re.search(rf"^rule {rule}:\n(?:    .*\n)*?    resources: (.*)", outcome.said, re.M)
    return dict(item.split("=", 1) for item in line[1].split(", "))


@pytest.fixture
def no_slurm(tmp_path, monkeypatch):
    """A machine without any of Slurm's programs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "sh", "env", "which"):
        (folder / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(folder))


def test_a_job_asks_for_what_its_experiment_states(fresh, no_slurm):
    train, measure = (
        asked(fresh.plan("--profile", "slurm", "toy_language"), rule)
        for rule in ("train", "measure")
    )
    for job in (train, measure):
        assert (job["gpu"], job["mem_mb"], job["runtime"]) == ("1", "4000", "720")
        assert not {"slurm_partition", "slurm_account", "gres"} & set(job)
    assert train["slurm_extra"] == "--open-mode=append"
    ask(fresh, "{gpu: 2, memory: 500MB, runtime: 90m}")
    outcome = fresh.plan("--profile", "slurm", "--printshellcmds", "toy_language")
    # Training has a process for each GPU, all on one node; measuring has one.
    for rule, gpus in (("train", "2"), ("measure", "1")):
        job = asked(outcome, rule)
        assert (job["gpu"], job["mem_mb"], job["runtime"]) == (gpus, "500", "90")
        assert job["nodes"] == "1"
    assert re.search(r"^rule train:\n(?:    .*\n)*?    threads: 2\n", outcome.said, re.M)
    assert "${SLURM_JOB_ID:+--time-limit $((90 * 60))}" in outcome.said
    assert "--processes 2" in outcome.said
    without = fresh.plan("--printshellcmds", "toy_language", config=("device=cpu",))
    assert asked(without, "train")["gpu"] == "0" and "--processes 2" not in without.said


@pytest.mark.parametrize("option", ["--profile", "--workflow-profile"])
def test_a_sites_own_profile_stands_beside_ours(fresh, tmp_path, option):
    (tmp_path / "our site").mkdir()
    (tmp_path / "our site/config.yaml").write_text(SITE)
    site = (option, str(tmp_path / "our site"))
    job = asked(fresh.plan("--profile", "slurm", *site, "toy_language"), "train")
    assert (job["slurm_partition"], job["slurm_account"]) == ("short", "mine")
    assert (job["gpu"], job["gres"], job["runtime"]) == ("0", "gpu:1", "240")
    assert job["mem_mb"] == "4000"


def test_local_runs_need_no_scheduler(fresh, no_slurm):
    ask(fresh, "{where: local}")
    assert "toy_tuning/tuned/seed-0" in fresh.plan("toy").trained
    target = f"results/demo/measures/{SOFT}.json"
    said = fresh.snakemake("--profile", "slurm", "--", target).said
    for rule in ("prepare", "train_locally", "measure_locally"):
        assert f"localrule {rule}:" in said
    assert (fresh.root / target).is_file()


def test_what_jobs_ask_for_is_no_reason_to_rerun(project):
    ask(project, "{where: local, memory: 1GB}")
    assert project.plan("toy").jobs == []


def test_a_job_that_starts_after_the_code_was_edited_refuses(project):
    draft = (project.root / f"results/demo/runs/{SOFT}/spec.json").read_text()
    data = json.loads(draft)["data"]
    project.edit("model/training/loop.py", "EVALUATED = ", "EVALUATED = 0 + ")
    paths = ("--data", f"results/data/{data['dataset']}/{data['recipe']}/encoded")
    paths += ("--store", "results/store", "--out", "out")
    train = ("workflow.scripts.train", "--draft", draft, *paths)
    said = project.forked(*train, folder=project.root).stdout
    assert said.startswith("error: the code of run") and said.count("\n") == 1
    assert "has changed since it was planned" in said and "start snakemake again" in said
    assert not (project.root / "out").exists()


INSIDE = re.findall(r"--wrap 'exec (snakemake [^']*)'", GUIDE)


def test_the_guides_job_prepares_all_data_and_nothing_else(real):
    inside, _ = INSIDE
    rules = {job.split()[0] for job in real.plan(*shlex.split(inside)[1:]).jobs}
    assert rules - {"index_features"} == {"fetch", "synthesise", "prepare", "encode"}


def test_the_guides_pilot_runs_local_targets(real):
    _, inside = INSIDE
    inside = inside.replace("$SLURM_CPUS_PER_TASK", "8")
    trained = real.plan(*shlex.split(inside)[1:]).trained
    assert {run.partition("/")[0] for run in trained} == {"stack_language", "permutation_copying"}


def test_what_the_guide_types_without_make_is_what_make_does(fresh):
    rows = re.findall(r"^\| `make (.*)` \| `(python -m .*)` \|$", GUIDE, re.M)
    assert len(rows) == 4
    for asked_for, command in rows:
        assert set(command.split()[2:]) <= set(recipe(fresh, *asked_for.split()))


def test_the_guide_states_the_defaults(fresh):
    from workflow.planning.resources import Resources

    defaults = signature(Resources.of).parameters.values()
    stated = ", ".join(f"{one.name}: {one.default}" for one in defaults)
    assert f"resources: {{{stated}}}" in GUIDE
    profile = (fresh.root / "slurm/config.yaml").read_text()
    for line in ("jobs: 50", "retries: 3"):
        assert f"`{line}`" in GUIDE and re.search(rf"^{line}\b", profile, re.M)


@pytest.mark.parametrize(
    ("job", "options", "limit"),
    [
        ("7", ("--mode", "remote"), "60"),  # as Snakemake runs a job that it submitted
        ("7", (), str(365 * 24 * 3600)),  # an allocation of one's own
        (None, (), None),
    ],
)
def test_only_a_job_that_snakemake_submitted_has_a_limit(fresh, monkeypatch, job, options, limit):
    if job:
        monkeypatch.setenv("SLURM_JOB_ID", job)
    else:
        monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    ask(fresh, "{runtime: 1m}")
    run = f"results/demo/runs/{SOFT}"
    fresh.snakemake("--until", "encode", "--", f"{run}/run.json")
    (fresh.root / "workflow/scripts/train.py").write_text("import sys\nsys.exit(str(sys.argv))\n")
    fresh.snakemake(*options, f"{run}/run.json", fails=True)
    arguments = fresh.log("train", SOFT)
    if limit is None:
        assert "--time-limit" not in arguments and "--draft" in arguments
    else:
        assert f"'--time-limit', '{limit}'" in arguments


def test_an_allocation_trains_nothing_again(project, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert project.snakemake("toy").jobs == []
    # What it would submit asks for what its experiment states.
    ask(project, "{runtime: 1m}")
    job = asked(project.plan("--profile", "slurm", "-R", "train", "--", "toy_language"), "train")
    assert job["runtime"] == "1"
