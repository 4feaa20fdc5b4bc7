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


def test_a_limit_is_tried_apart_from_whole_results(project):
    before = (project.root / "results/demo/measures/toy_language/soft/seed-0.json").read_bytes()
    said = project.command("run", "toy_language", "--limit", "20")
    assert "2 of them trainings" in said
    folder = project.root / "results/demo+limit=20"
    run = json.loads((folder / "runs/toy_language/soft/seed-0/run.json").read_text())
    assert run["spec"]["run"]["scale"] == "demo+limit=20"
    assert run["spec"]["training"]["updates"] == 2
    assert run["identity"] != spec(project, "toy_language/soft/seed-0")["identity"]
    (data,) = (project.root / "results/data").glob("stack_language/*/limit-20/manifest.json")
    sizes = json.loads(data.read_text())["splits"].values()
    assert all(size["examples"] <= 20 for size in sizes)
    measures = project.root / "results/demo/measures/toy_language/soft/seed-0.json"
    assert measures.read_bytes() == before
    table = next(folder.glob("tables/toy/*.md")).read_text()
    assert 'The overlay changes examples of each split from "all" to 20.' in table
    assert project.plan("toy_language", config=("limit=20",)).jobs == []
