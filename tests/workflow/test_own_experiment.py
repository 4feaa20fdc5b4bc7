"""What docs/own_experiment.md says works as it stands there."""

import os
import shlex
from pathlib import Path

import pytest

from tests.workflow.conftest import ROOT, Project
from tests.workflow.pages.guides import blocks, files, jobs

PAGE, PAPER_PAGE = (ROOT / "docs" / name for name in ("own_experiment.md", "own_paper.md"))
PAPER = "workflow/papers/discrete_transformer"
VARIANT, ROW = blocks(PAGE, "text")
TALKS, _, FILMS, *OTHERS = (block.partition("#")[0].strip() for block in blocks(PAGE))
MINE, EXPERIMENT, DATA = OTHERS
TEXTS = {"SMSSpamCollection": "reviews.tsv", '"ham"': '"bad"', '"spam"': '"good"'}
TEXTS |= {"3500, 2072": "800, 200"}
RUNS = [f"review_sentiment/{variant}/seed-0" for variant in ("soft", "top_4")]


def write_own(root: Path) -> None:
    """Write small files of one's own, as the page names them."""
    german = [f"{word} Katze sieht {n} Hunde ." for n in range(30) for word in ("Die", "Eine")]
    english = [f"{word} cat sees {n} dogs ." for n in range(30) for word in ("The", "A")]
    films = [f"a {word} film {n},{word}" for n in range(40) for word in ("good", "bad")]
    files = {"my.de": german, "my.en": english, "films.csv": ["review,verdict", *films]}
    for name, lines in files.items():
        (root / name).write_text("".join(f"{line}\n" for line in lines))


def test_own_files_become_rows_and_a_changed_one_trains_again(real):
    write_own(real.root)
    for name in ("mine.yaml", "films.yaml"):
        (real.root / name).write_text(files(PAGE)[name])
    results = ("--results", "results")
    shown = {
        "my_talks": ("mine.yaml", "explicit_sparse", "smaller_sparse_translation"),
        "my_films": ("films.yaml", "discrete_transformer", "table_6_1"),
    }
    for name, (file, paper, table) in shown.items():
        asked = (name, *results, "--configfile", file)
        assert f"{name}_{table}.md" in real.command("run", *asked)
        made = (real.root / f"results/demo/tables/{paper}/{name}_{table}.md").read_text()
        rows = {"my_talks": ("softmax", "top-k"), "my_films": ("soft", "two-stream discrete")}[name]
        assert all(f"\n| {row}" in made for row in rows)
        assert "Δ" not in made and "zhao2019 " not in made and "not run" not in made
        said = real.command("latex", f"results/demo/tables/{paper}/{name}_{table}.csv", fails=True)
        assert f"{name}_{table} is none of {paper}; the run that made the table made" in said
        assert f"make run ONLY={name} OVERLAY={file}" in " ".join((TALKS, FILMS, PAGE.read_text()))
    real.command("so-far", "--scale", "demo", *results, "--configfile", "mine.yaml")
    page = (real.root / "results/demo/so_far/report.html").read_text()
    assert "My talks" in page and "the user&#39;s own" in page
    for file in real.root.glob("my.*"):
        file.touch()
    talks = ("my_talks", "--configfile", "mine.yaml")
    assert real.plan(*talks).jobs == []
    (real.root / "my.en").write_text((real.root / "my.en").read_text().replace("dogs", "hounds"))
    said = real.command("verify", *results)
    assert "my.en is another file than the one that was used: the next run takes it" in said
    planned = real.plan(*talks)
    kinds = ("softmax", "topk")
    assert planned.trained == [f"my_talks/multi30k_en_de_{kind}/seed-0" for kind in kinds]
    refused = real.command(
        "publish", "--scale", "demo", *results, "--configfile", "mine.yaml", fails=True
    )
    assert "own data and own experiments are not published" in refused


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
    write_own(project.root)
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
