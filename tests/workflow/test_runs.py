"""What a whole run leaves behind: specs, checkpoints, parents, folders with spaces."""

import json

from tests.workflow.conftest import Project


def spec(project, run):
    """The spec of a run."""
    return json.loads((project.root / f"results/demo/runs/{run}/spec.json").read_text())


def test_the_child_names_its_parent_by_identity(finished):
    parent = spec(finished, "toy_language/soft/seed-0")
    child = spec(finished, "toy_tuning/tuned/seed-0")
    assert child["parents"] == {"language": parent["identity"]}
    assert child["identity"] != parent["identity"]


def test_the_wanted_checkpoints_are_kept(finished):
    folder = finished.root / "results/demo/runs/toy_tuning/tuned/seed-0/checkpoints"
    kept = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
    assert len(kept) == 2


def test_every_run_lies_in_the_store_under_its_identity(finished):
    stored = {path.name for path in (finished.root / "results/store").iterdir()}
    runs = (finished.root / "results/demo/runs").glob("*/*/*/spec.json")
    assert {json.loads(path.read_text())["identity"] for path in runs} == stored


def test_the_spec_holds_labels_and_data_that_its_identity_ignores(finished):
    found = spec(finished, "toy_language/gumbel/seed-0")
    assert found["run"]["label"] == "discrete"
    assert found["run"]["scale"] == "demo"
    assert found["run"]["data"]["train"] == 64
    assert set(found["data"]) == {"dataset", "recipe", "digest"}


def test_a_projects_path_may_have_signs_that_a_shell_reads(fresh):
    odd = Project(fresh.root.rename(fresh.root.with_name("a $HOME `b` 'c'")))
    odd.snakemake("toy_language", "--until", "synthesise")
    assert list((odd.root / "results/data").glob("*/*/raw/train.txt"))


def test_a_checkout_is_only_read_by_who_works_in_another_folder(fresh, tmp_path):
    def files():
        paths = (path for path in fresh.root.rglob("*") if path.is_file())
        return sorted(path for path in paths if "__pycache__" not in path.parts)

    before = files()
    own = Project(tmp_path / "own")
    own.root.mkdir()
    measures = "results/demo/measures/toy_language/soft/seed-0.json"
    table = "results/demo/tables/toy/corpora.md"
    own.snakemake("--snakefile", str(fresh.root / "Snakefile"), measures, table)
    assert (own.root / measures).is_file() and (own.root / table).is_file()
    assert files() == before


def test_jobs_that_are_forks_make_what_others_make(finished, fresh):
    fresh.command("run", "toy")
    runs = [path.parent for path in (finished.root / "results/demo/runs").glob("*/*/*/spec.json")]
    assert runs
    for run in runs:
        name = "/".join(run.parts[-3:])
        assert fresh.weights(name) == finished.weights(name)
