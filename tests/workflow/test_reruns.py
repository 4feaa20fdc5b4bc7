"""What runs again after a change, and what does not: real invocations of Snakemake."""

import ast
import json
import shutil

import pytest

SOFT, GUMBEL = "toy_language/soft/seed-0", "toy_language/gumbel/seed-0"
TUNED = "toy_tuning/tuned/seed-0"
EXPERIMENTS = "workflow/papers/toy/experiments.yaml"
METHOD = "    def unused(self): ...\n\n    def forward(self"


@pytest.mark.parametrize(
    ("path", "old", "new", "trained"),
    [
        ("model/normalizers/gumbel.py", "    def forward(self", METHOD, [GUMBEL]),
        ("model/training/loop.py", "EVALUATED = ", "EVALUATED = 0 + ", [GUMBEL, SOFT, TUNED]),
        # The parent of `tuned`, by its settings.
        (EXPERIMENTS, "{label: soft}", "{label: soft, training: {updates: 5}}", [SOFT, TUNED]),
        # Code that can't change weights.
        ("workflow/runtime/watchdog.py", "CONTINUE = 75", "CONTINUE = 76", []),
        ("workflow/runtime/disk_checkpointer.py", "self._states()[:-2]", "self._states()[:-3]", []),
        ("workflow/runtime/store.py", "indent=2", "indent=1", []),
    ],
)
def test_an_edit_trains_exactly_the_runs_that_reach_it(project, path, old, new, trained):
    project.edit(path, old, new)
    assert project.plan("toy").trained == trained


def test_an_evaluator_that_changes_is_measured_again_without_training(project):
    project.edit(
        "model/probes/quality/likelihood.py", "total, count = 0.0, 0", "total, count = 0.0, -0"
    )
    jobs = project.plan("toy").jobs
    assert [job for job in jobs if job.startswith(("measure", "train"))] == [
        f"measure {run}" for run in (GUMBEL, SOFT, TUNED)
    ]


def test_another_checkout_makes_again_what_its_settings_changed(project):
    shutil.rmtree(project.root / ".snakemake")
    kept = project.plan("toy", "report").jobs
    assert {job.split("_")[0] for job in kept} == {"results", "report", "toy"}
    assert project.plan("toy", "--rerun-triggers", "mtime").jobs == []
    project.edit(
        "model/probes/quality/likelihood.py", "total, count = 0.0, 0", "total, count = 0.0, -0"
    )
    measured = [f"measure {run}" for run in (GUMBEL, SOFT, TUNED)]
    assert [job for job in project.plan("toy").jobs if job not in kept] == measured
    project.edit(EXPERIMENTS, "{label: soft}", "{label: soft, training: {updates: 5}}")
    assert project.snakemake("toy").trained == [SOFT, TUNED]
    assert project.plan("toy").jobs == []


def test_a_comment_a_docstring_or_code_that_nothing_uses_reruns_nothing(project):
    project.edit("model/training/loop.py", '"""', '"""Written otherwise: ')
    for path in (
        "model/training/loop.py",
        "model/architectures/transformer.py",
        "model/probes/quality/likelihood.py",
        "workflow/datasets/generated/stack_language.py",
        "workflow/reporting/tables/layout.py",
    ):
        with (project.root / path).open("a") as file:
            file.write("\n\nclass Unused:\n    pass  # A comment.\n")
    (project.root / "model/normalizers/uniform.py").write_text("class Uniform:\n    pass\n")
    assert project.plan("toy").jobs == []


def test_splitting_a_file_reruns_nothing(project):
    path = project.root / "model/normalizers/gumbel.py"
    text = path.read_text()
    (project.root / "model/noise.py").write_text(text)
    nodes = [one for one in ast.parse(text).body if not isinstance(one, ast.FunctionDef)]
    left = "\n".join(filter(None, (ast.get_source_segment(text, node) for node in nodes)))
    path.write_text(f"{left}\n\nfrom model.noise import gumbel_noise, one_hot_argmax\n")
    assert project.plan("toy").jobs == []


def test_moving_a_part_of_a_dataset_or_of_a_table_remakes_nothing(project):
    grammars, reporting = project.root / "workflow/datasets/grammars", "workflow/reporting"
    (grammars / "stack_grammar.py").rename(grammars / "stacks.py")
    dataset = project.root / "workflow/datasets/generated/stack_language.py"
    dataset.write_text(dataset.read_text().replace("stack_grammar", "stacks"))
    (project.root / reporting / "tables/layout.py").rename(project.root / reporting / "layout.py")
    project.edit(f"{reporting}/tables/tabulating.py", "reporting.tables import", "reporting import")
    for name in ("latex", "markdown"):
        project.edit(f"{reporting}/tables/{name}.py", "reporting.tables.layout", "reporting.layout")
    assert project.plan("toy").jobs == []


def test_renaming_a_module_and_a_class_trains_nothing(project):
    weights, folder = project.weights(GUMBEL), project.root / "model/normalizers"
    text = (folder / "gumbel.py").read_text()
    (folder / "discrete.py").write_text(text.replace("class Gumbel", "class Discrete"))
    (folder / "gumbel.py").unlink()
    old, new = "model.normalizers.gumbel:Gumbel", "model.normalizers.discrete:Discrete"
    project.edit(EXPERIMENTS, old, new)
    assert project.snakemake("toy").trained in ([GUMBEL], [])
    assert "nothing to train" in project.log("train", GUMBEL)
    assert project.weights(GUMBEL) == weights
    assert project.plan("toy").jobs == []


def test_the_layout_of_a_table_reruns_only_that_table(project):
    project.edit("workflow/papers/toy/tables.yaml", "title: Losses after", "title: Loss after")
    assert project.plan("toy").jobs == ["results_toy_tuned_losses", "toy"]


def test_a_learning_rate_in_an_overlay_trains_only_the_runs_of_its_experiment(project):
    (project.root / "mine.yaml").write_text(
        "overlay:\n"
        "  name: mine\n"
        "  experiments:\n"
        "    toy_language: {variants: {gumbel: {training: {optimizer: {lr: 2e-3}}}}}\n"
    )
    outcome = project.snakemake("toy", "--configfile", "mine.yaml")
    folder = project.root / "results/demo+mine"
    trained = [
        run
        for run in outcome.trained
        if "nothing to train" not in (folder / f"logs/train/{run}.log").read_text()
    ]
    assert trained == [GUMBEL]
    assert project.plan("toy").jobs == []


def test_an_overlays_table_follows_the_table_that_it_is_compared_with(project):
    (project.root / "mine.yaml").write_text(
        "overlay: {name: mine, experiments: {toy_language: {training: {clip: 5}}}}\n"
    )
    asked = ("toy_losses", "--configfile", "mine.yaml")
    project.snakemake(*asked)
    assert project.plan(*asked).jobs == []
    own = (project.root / "results/demo+mine/tables/toy/losses.md").read_text()
    assert "- The overlay changes training.clip from nothing to 5" in own
    base = project.root / "results/demo/tables/toy/losses.csv"
    base.write_text(base.read_text().replace("nats", "bits"))
    assert project.plan(*asked).jobs == ["results_toy_losses", "toy_losses"]
    base.unlink()
    assert project.plan(*asked).jobs == ["results_toy_losses", "toy_losses"]


def test_the_report_shows_what_was_asked_for_and_follows_its_template(project):
    project.snakemake("report", config=("seeds=2", "experiments=toy_language"))
    project.snakemake("report", config=("experiments=toy_language",))
    page = (project.root / "results/demo/report.html").read_text()
    assert "1 seed)" in " ".join(page.split()) and "2 seeds" not in " ".join(page.split())
    project.edit("workflow/report/style.css", "body", "html body")
    assert project.plan("report", config=("experiments=toy_language",)).jobs == ["report"]


def test_a_rebuilt_dataset_with_equal_bytes_trains_nothing(project):
    before = project.weights(SOFT)
    project.edit(
        "workflow/datasets/generated/stack_language.py", "wrong.any()", "bool(wrong.any())"
    )
    outcome = project.snakemake("toy")
    assert {job.split()[0] for job in outcome.jobs} >= {"synthesise", "prepare", "encode"}
    for run in outcome.trained:
        assert "nothing to train" in project.log("train", run)
    assert project.weights(SOFT) == before


def test_a_deleted_output_is_restored_from_the_store_without_training(project):
    before = project.weights(GUMBEL)
    (project.root / f"results/demo/runs/{GUMBEL}/weights.safetensors").unlink()
    outcome = project.snakemake("toy")
    assert outcome.trained == [GUMBEL]
    assert "nothing to train" in project.log("train", GUMBEL)
    assert project.weights(GUMBEL) == before


def test_a_forgotten_run_trains_again_and_no_other(project):
    before = {run: project.weights(run) for run in (SOFT, GUMBEL, TUNED)}
    folder = project.root / f"results/demo/runs/{SOFT}"
    identity = json.loads((folder / "spec.json").read_text())["identity"]
    said = project.command("forget", "--results", "results", "--run", identity)
    assert f"forgot {identity}" in said
    assert not [*folder.iterdir()]
    left = [path.name for path in (project.root / "results/store" / identity).iterdir()]
    assert left == ["generation-2"]
    outcome = project.snakemake("toy")
    trained = [it for it in outcome.trained if "nothing to train" not in project.log("train", it)]
    assert trained == [SOFT]
    assert {run: project.weights(run) for run in before} == before
    assert project.plan("toy").jobs == []


def test_unused_runs_leave_the_store_and_every_output_stays(project):
    store = project.root / "results/store"
    kept = {path.name for path in store.iterdir()}
    (store / "0123456789abcdef").mkdir()
    writing = store / min(kept) / ".state.01234567.part"
    writing.touch()
    assert "1 runs removed" in project.command("gc", "--results", "results")
    assert {path.name for path in store.iterdir()} == kept and writing.exists()
    assert project.plan("toy").jobs == []


def test_only_names_that_the_project_gives_are_removed(project):
    results = project.root / "results"
    mine = ["store/notes", "mine.damaged", "notes/mine.damaged", "data/manual/mine.damaged"]
    own = [
        "store/0123456789abcdef",
        "demo/tables/toy/losses.csv.damaged",
        "demo/report.json.damaged",
    ]
    for name in (*mine, *own):
        (results / name).mkdir(parents=True)
    project.command("gc", "--results", "results")
    assert all((results / name).is_dir() for name in mine)
    assert not any((results / name).exists() for name in own)


def test_a_folder_of_others_is_refused(fresh, tmp_path):
    theirs = tmp_path / "theirs"
    for name in ("store/0123456789abcdef/mine", "store/photos", "notes.damaged"):
        (theirs / name).mkdir(parents=True)
    for folder in (theirs, tmp_path / "none"):
        said = fresh.command("gc", "--results", str(folder), fails=True)
        assert said.startswith(f"error: {folder} is no folder of results of this project, so ")
    assert len(list(theirs.rglob("*"))) == 5


def test_another_seed_trains_only_that_seed(project):
    assert project.plan("toy_tuning", config=("seeds=2",)).trained == [
        "toy_language/soft/seed-1",
        "toy_tuning/tuned/seed-1",
    ]


def test_device_and_mirror_are_no_reason_to_rerun(project):
    (project.root / "mirror").mkdir()
    (project.root / "mirror/SOURCES.tsv").write_text("url\tfile\tsha256\n")
    assert project.plan("toy", config=("device=cpu", "mirror=mirror")).jobs == []


FIRST, SECOND = "toy_language/soft/seed-0", "toy_again/same/seed-0"
AGAIN = """
  toy_again:
    title: A run of another experiment, measured otherwise
    source: no paper
    data: {dataset: stack_language, train: 64, dev: 16, test: 16, length: 8, max_depth: 2}
    model: *model
    objective: {path: "model.objectives.language_modelling:LanguageModelling"}
    training: *training
    evaluators:
      receptive_field: {path: "model.probes.fields.receptive_fields:receptive_fields"}
    seeds: 1
    variants:
      same: {label: the same}
"""


@pytest.fixture
def again(fresh):
    """The toy project with an experiment that has the run of another."""
    with (fresh.root / EXPERIMENTS).open("a") as file:
        file.write(AGAIN)
    return fresh


def test_the_second_waits_for_the_first_and_copies(again):
    assert again.plan("toy_again").trained == [SECOND, FIRST]
    assert again.plan("toy_language").trained == ["toy_language/gumbel/seed-0", FIRST]
    outcome = again.snakemake("toy_again")
    assert outcome.trained == [SECOND, FIRST]
    assert "nothing to train" not in again.log("train", FIRST)
    assert "nothing to train" in again.log("train", SECOND)
    assert again.weights(SECOND) == again.weights(FIRST)
    measures, record = (
        json.loads((again.root / "results/demo" / name).read_text())
        for name in (f"measures/{SECOND}.json", f"runs/{SECOND}/run.json")
    )
    assert list(measures["evaluators"]) == ["receptive_field"]
    assert record["spec"]["run"]["experiment"] == "toy_again"
    assert again.plan("toy_again").jobs == []
    again.snakemake(f"results/demo/measures/{FIRST}.json")
    measures = json.loads((again.root / f"results/demo/measures/{FIRST}.json").read_text())
    assert list(measures["evaluators"]) == ["language_modelling"]
