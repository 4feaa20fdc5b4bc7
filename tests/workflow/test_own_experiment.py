"""What docs/own_experiment.md says works as it stands there."""

import os
import shlex

import pytest

from tests.workflow.conftest import ROOT, Project
from tests.workflow.pages.guides import blocks, files, jobs

PAGE, PAPER_PAGE = (ROOT / "docs" / name for name in ("own_experiment.md", "own_paper.md"))
PAPER = "workflow/papers/discrete_transformer"
VARIANT, ROW = blocks(PAGE, "text")
MINE, EXPERIMENT, DATA = (block.partition("#")[0].strip() for block in blocks(PAGE))
TEXTS = {"SMSSpamCollection": "reviews.tsv", '"ham"': '"bad"', '"spam"': '"good"'}
TEXTS |= {"3500, 2072": "800, 200"}
RUNS = [f"review_sentiment/{variant}/seed-0" for variant in ("soft", "top_4")]


def test_a_variant_becomes_a_run_and_a_row(real):
    scale = "only: [uniform_soft, uniform_soft_penalty, "
    real.edit(f"{PAPER}/experiments.yaml", scale, f"{scale}uniform_discrete_t5, ")
    first = "      uniform_discrete_penalty: "
    real.edit(f"{PAPER}/experiments.yaml", first, VARIANT + first)
    first = "      - id: uniform_discrete_penalty\n"
    real.edit(f"{PAPER}/tables.yaml", first, ROW + first)
    assert "train stack_language/uniform_discrete_t5/seed-0" in jobs(real, MINE)


def with_reviews(project: Project) -> Project:
    """The project with the experiment, the dataset and the paper of the pages."""
    for page in (PAGE, PAPER_PAGE):
        for name, text in files(page).items():
            (project.root / name).parent.mkdir(exist_ok=True)
            (project.root / name).write_text(text)
    module = (project.root / "workflow/datasets/sms_spam.py").read_text()
    for old, new in TEXTS.items():
        assert old in module
        module = module.replace(old, new)
    (project.root / "workflow/datasets/reviews.py").write_text(module)
    with (project.root / "workflow/sources.tsv").open("a") as stream:
        stream.write("reviews\treviews.tsv\thttps://example.org\t\t\t\tmine\n")
    return project


@pytest.fixture
def own(fresh):
    """The toy project with the experiment and the dataset of the pages."""
    return with_reviews(fresh)


def test_an_experiment_on_a_dataset_of_ones_own_runs(own):
    assert own.plan(*shlex.split(DATA)[1:]).jobs == ["encode", "fetch reviews.tsv", "prepare"]
    file = own.root / "results/data/manual/reviews/reviews.tsv"
    file.parent.mkdir(parents=True)
    for_each = [f"{label}\tA {label} book, {{n}} times\n" for label in ("good", "bad")]
    file.write_text("".join(line.format(n=n) for n in range(50) for line in for_each))
    planned = [job for job in jobs(own, EXPERIMENT) if job.startswith("train ")]
    assert sorted(planned) == [f"train {run}" for run in RUNS]
    assert sorted(own.snakemake("my_reviews").trained) == RUNS
    table = (own.root / "results/demo/tables/my_reviews/accuracy.md").read_text()
    assert "| softmax | " in table and "| top-k | " in table
    claims = (own.root / "results/demo/claims/my_reviews.json").read_text()
    assert '"topk_sounds_better"' in claims
    file.touch()
    assert own.plan("my_reviews").jobs == []
    written, text = file.stat(), file.read_text()
    file.write_text(text.replace("book", "film"))
    os.utime(file, ns=(written.st_atime_ns, written.st_mtime_ns - 10**12))
    said = own.command("verify", "--results", "results")
    assert f"{file.relative_to(own.root)} is another file than the one that was used" in said
    planned = own.plan("my_reviews")
    assert planned.trained == RUNS and "fetch reviews.tsv" in planned.jobs
    again = own.snakemake("review_sentiment/soft/seed-0".join(("results/demo/runs/", "/run.json")))
    assert again.trained == RUNS[:1] and "fetch reviews.tsv" in again.jobs
    assert own.command("verify", "--results", "results").startswith("0 of ")
    file.unlink()
    assert "fetch reviews.tsv" not in own.plan("my_reviews").jobs
