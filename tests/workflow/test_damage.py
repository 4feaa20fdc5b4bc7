"""What is damaged is named, set aside and made anew, as it was, by the same command.

`tests/runtime` and `tests/scripts` try every kind of damage to a run in the store.
"""

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from tests.sealing import flip
from workflow.runtime.integrity import quarantine

SOFT = "toy_language/soft/seed-0"
TUNED = "toy_tuning/tuned/seed-0"


def identity(project, run: str) -> str:
    """The identity of a run."""
    told = json.loads((project.root / f"results/demo/runs/{run}/spec.json").read_text())
    return str(told["identity"])


def entry(project, run: str) -> Path:
    """The folder of a run in the store."""
    return project.root / "results/store" / identity(project, run)


def outputs(project, run: str) -> Path:
    """The folder of a run's outputs."""
    return project.root / "results/demo/runs" / run


def drop_measures(project, run: str) -> None:
    """Delete what was measured of a run, in the store too."""
    (project.root / f"results/demo/measures/{run}.json").unlink()
    shutil.rmtree(entry(project, run) / "measures")


def measured(project, run: str) -> object:
    """What was measured of a run, without what tells the time."""
    told = json.loads((project.root / f"results/demo/measures/{run}.json").read_text())
    return [(one["scalars"], one["arrays"]) for one in told["evaluators"].values()]


def sign(path: Path) -> None:
    """Flip the sign of the last weight."""
    flip(path, 8 * (path.stat().st_size - 1) + 7)


def early(path: Path) -> None:
    """Flip a bit near the beginning."""
    flip(path, 8 * 20 + 2)


STAGES = ("raw", "prepared", "encoded")
WEIGHTS = "weights.safetensors"


def test_what_is_damaged_in_both_places_is_set_aside_and_trained_by_the_same_command(project):
    weights, before = project.weights(SOFT), measured(project, SOFT)
    drop_measures(project, SOFT)
    for folder in (outputs(project, SOFT), entry(project, SOFT) / "result"):
        sign(folder / WEIGHTS)
    said = project.snakemake("toy_language", fails=True).said
    aside = f"results/demo/runs/{SOFT}/{WEIGHTS}.damaged"
    assert f"{aside} is what was set aside: run the same command again to make it anew" in said
    done = project.snakemake("toy_language")
    assert done.trained == [SOFT]
    assert project.weights(SOFT) == weights
    assert measured(project, SOFT) == before


@pytest.mark.parametrize(
    ("name", "forced"),
    [(f"runs/{SOFT}/spec.json", "measure"), (f"runs/{SOFT}/run.json", "results_toy_losses"),
     (f"measures/{SOFT}.json", "results_toy_losses")],
)  # fmt: skip
def test_a_damaged_file_that_a_table_or_measure_reads_is_made_anew(project, name, forced):
    path = project.root / "results/demo" / name
    table = project.root / "results/demo/tables/toy/losses.csv"
    whole, before = path.read_bytes(), table.read_bytes()
    early(path)
    said = project.snakemake("toy_language", "--forcerun", forced, fails=True).said
    assert f"{path.relative_to(project.root)}.damaged is what was set aside" in said
    project.snakemake("toy_language")
    assert path.read_bytes() == whole
    assert table.read_bytes() == before


@pytest.mark.parametrize("stage", STAGES)
def test_damaged_data_are_made_anew(project, stage):
    told = json.loads((outputs(project, SOFT) / "spec.json").read_text())
    folder = project.root / f"results/data/stack_language/{told['data']['recipe']}/{stage}"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    weights = project.weights(SOFT)
    largest = max(folder.iterdir(), key=lambda path: path.stat().st_size)
    early(largest)
    project.command("forget", "--results", "results", "--run", identity(project, SOFT))
    for later in STAGES[STAGES.index(stage) + 1 :]:
        shutil.rmtree(folder.with_name(later))
    said = project.snakemake("toy_language", fails=True).said
    assert f"{folder.relative_to(project.root)}.damaged is what was set aside" in said
    project.snakemake("toy_language")
    after = {name: (folder / name).read_bytes() for name in before}
    assert after == before
    assert project.weights(SOFT) == weights


def test_nothing_is_forgotten_while_it_is_not_known_which_runs_are_named(project):
    spec = outputs(project, SOFT) / "spec.json"
    store, whole = entry(project, SOFT), spec.read_bytes()
    unused = ("gc", "--results", "results")
    early(spec)
    said = project.command(*unused, fails=True)
    assert "nothing was forgotten: mend it first (make mend)" in said
    quarantine(spec)
    (outputs(project, SOFT) / "run.json").unlink()
    assert "start snakemake, then try again" in project.command(*unused, fails=True)
    project.snakemake("toy_language")
    assert spec.read_bytes() == whole
    project.command(*unused)
    assert (store / "result/run.json").is_file()
    assert not list(project.root.rglob("*.damaged"))


def test_a_time_in_the_future_is_told_and_mended(project):
    spec = outputs(project, SOFT) / "spec.json"
    os.utime(spec, (time.time() + 9000,) * 2)
    said = project.command("verify", "--results", "results", fails=True)
    assert f"results/demo/runs/{SOFT}/spec.json has a time in the future" in said
    project.command("mend", "--results", "results")
    assert spec.stat().st_mtime <= time.time()
    project.snakemake("toy_language", "--forcerun", "measure")


def test_verify_refuses_results_that_are_not_there(fresh):
    said = fresh.command("verify", "--results", "none", fails=True)
    assert "error: none is no folder; name that of the results: RESULTS=<folder>" in said
    assert fresh.command("verify", "--results", "results").startswith("0 of ")


def test_verify_names_what_is_damaged_and_mend_makes_it_anew(project):
    def verify(fails: bool = False) -> str:
        return project.command("verify", "--results", "results", fails=fails)

    assert verify().startswith("0 of ")
    results, weights = project.root / "results", project.weights(SOFT)
    table = results / "demo/tables/toy/losses.csv"
    text = table.read_text()
    damaged = [table, outputs(project, SOFT) / WEIGHTS, entry(project, TUNED) / "result" / WEIGHTS]
    for path in damaged:
        sign(path)
    said = verify(fails=True)
    for path in damaged:
        assert f"{path.relative_to(project.root)} is damaged" in said
    assert said.endswith("results, data and tables damaged\nMend the results: make mend\n")
    assert "\n3 of " in said
    assert all(path.exists() for path in damaged), "only told"
    project.command("mend", "--results", "results")
    assert table.read_text() == text
    assert project.weights(SOFT) == weights
    assert verify().startswith("0 of ")
