"""Code that is proven to do the same finds what earlier code made: the real Snakemake."""

import json
import shutil

import pytest

from tests.equivalent import line
from tests.workflow.conftest import TOY, Project, copy_code
from tests.workflow.test_bundle import GUMBEL, RUNS, Lent, merge, pack, store
from workflow.planning.code import Project as Code
from workflow.planning.equivalents import FILE
from workflow.planning.identity import measuring_roots, run_roots
from workflow.runtime.integrity import read_verified

PROBES = """
import numpy as np
from model.probes.measure import Measured
from model.probes.checkpoint_ranks import Record


def recorded(subject, checkpoints):
    return Record(np.array(sorted(checkpoints)), {})


def seen(subject, record=None):
    return Measured({}, {"steps": record.steps.tolist()})
"""
LABEL = "        label: discrete\n"
OWN = """\
        checkpoints: [2, 4]
        record: {path: "model.probes.own:recorded"}
        evaluators: {seen: {path: "model.probes.own:seen", record: {variant: gumbel}}}
"""


def roots(project: Project) -> list[tuple[str, ...]]:
    """What the code of every kind of run, evaluator and recorder of the project begins from."""
    specs = [read_verified(project.root / f"results/demo/runs/{run}/spec.json") for run in RUNS]
    probes = ("own:seen", "own:recorded", "quality.likelihood:language_modelling")
    measuring = [measuring_roots({"path": f"model.probes.{probe}"}) for probe in probes]
    return [*dict.fromkeys(map(run_roots, specs)), *measuring]


def outputs(project: Project) -> dict[str, bytes]:
    """What was measured and recorded."""
    folder = project.root / "results/demo"
    found = [*folder.glob("measures/**/*.json"), *folder.glob("records/**/*.npz")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The toy project with a recorder, after a whole run."""
    project = copy_code(tmp_path_factory.mktemp("equivalent") / "project", TOY)
    (project.root / "model/probes/own.py").write_text(PROBES)
    project.edit("workflow/papers/toy/experiments.yaml", LABEL, LABEL + OWN)
    project.snakemake("toy")
    assert len(outputs(project)) == 4
    return project


@pytest.fixture
def edited(trained, tmp_path):
    """The same, where what all code reaches was written otherwise."""
    shutil.copytree(trained.root, tmp_path / "project", symlinks=True)
    project = Project(tmp_path / "project")
    project.edit("model/batches/corpus.py", "self.folder = folder", "self.folder = Path(folder)")
    return project


def accept(trained: Project, edited: Project) -> None:
    """Say that what was edited does what it did before."""
    before, after = Code(trained.root), Code(edited.root)
    pairs = [(before.hash(each), after.hash(each)) for each in roots(trained)]
    assert len({*pairs}) == 5 and all(old != new for old, new in pairs)
    (edited.root / FILE).parent.mkdir(parents=True)
    (edited.root / FILE).write_text("".join(f"{json.dumps(line(*pair))}\n" for pair in pairs))


def record(project: Project, run: str):
    return read_verified(project.root / f"results/demo/runs/{run}/run.json")


def test_without_a_line_all_is_trained_again(edited):
    assert edited.plan("toy").trained == sorted(RUNS)


def test_with_lines_runs_measures_and_records_are_found(trained, edited):
    accept(trained, edited)
    assert edited.plan("toy").jobs == []
    kept, made = store(edited), outputs(edited)
    shutil.rmtree(edited.root / "results/demo")
    said = edited.command("plan", "--scale", "demo")
    assert sum(int(row.split()[-2]) for row in said.splitlines() if row.endswith(" store")) == 3
    assert edited.snakemake("toy").trained == sorted(RUNS)
    assert all("nothing to train" in edited.log("train", run) for run in RUNS)
    assert store(edited) == kept and outputs(edited) == made


def test_what_is_made_by_later_code_says_so(trained, edited):
    accept(trained, edited)
    before = record(edited, GUMBEL)
    edited.command("forget", "--results", "results", "--run", before["identity"])
    (edited.root / "results/demo/measures" / f"{GUMBEL}.json").unlink()
    edited.snakemake("toy")
    after = record(edited, GUMBEL)
    assert after["spec"] == before["spec"] and before["code"] == before["spec"]["code"]
    lines = map(json.loads, (edited.root / FILE).read_text().splitlines())
    new = {one["old"]: one["new"] for one in lines}
    assert after["code"] == new[before["code"]]
    measures = read_verified(edited.root / f"results/demo/measures/{GUMBEL}.json")["evaluators"]
    assert len(measures) == 2
    for told in measures.values():
        assert told["ran"] == new[told["code"]] and told["built"] == after["code"]


def test_a_bundle_takes_lines_along_and_its_runs_come_home(trained, edited, tmp_path):
    accept(trained, edited)
    identity = record(edited, GUMBEL)["identity"]
    for path in ("store", "demo/runs", "demo/measures", "demo/records"):
        shutil.rmtree(edited.root / "results" / path)
    pack(edited, GUMBEL)
    lent = Lent(edited.root / "toy.tar", tmp_path / "lent")
    assert (lent.folder / FILE).read_bytes() == (edited.root / FILE).read_bytes()
    assert "1 of 1 runs are trained" in lent.run()
    assert "1 added" in merge(edited, lent.results)
    assert edited.snakemake(f"results/demo/measures/{GUMBEL}.json").trained == [GUMBEL]
    assert "nothing to train" in edited.log("train", GUMBEL)
    assert record(edited, GUMBEL)["identity"] == identity


def test_a_damaged_line_is_named(edited):
    (edited.root / FILE).parent.mkdir(parents=True)
    (edited.root / FILE).write_text("{\n")
    said = edited.snakemake("toy", "--dry-run", fails=True).error
    assert f"{FILE}, line 1: damaged" in said
