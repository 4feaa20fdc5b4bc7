"""What docs/own_experiment.md says works as it stands there."""

import re
import shlex
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs/own_experiment.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.M | re.S)
PAPER = "workflow/papers/discrete_transformer"
VARIANT, ROW, *COMMANDS = [block for language, block in BLOCKS if not language]
TEXTS = {"SMSSpamCollection": "reviews.tsv", '"ham"': '"bad"', '"spam"': '"good"'}
TEXTS |= {"3500, 2072": "800, 200"}


def test_a_variant_becomes_a_run_and_a_row(real):
    scale = "only: [uniform_soft, uniform_soft_penalty, "
    real.edit(f"{PAPER}/experiments.yaml", scale, f"{scale}uniform_discrete_t5, ")
    first = "      uniform_discrete_penalty: "
    real.edit(f"{PAPER}/experiments.yaml", first, VARIANT + first)
    first = "      - id: uniform_discrete_penalty\n"
    real.edit(f"{PAPER}/tables.yaml", first, ROW + first)
    target = "results/demo/tables/discrete_transformer/stack_language.md"
    assert "stack_language/uniform_discrete_t5/seed-0" in real.plan(target).trained


@pytest.fixture
def own(fresh):
    """The toy project with the experiment and the dataset of the page."""
    for language, block in BLOCKS:
        if language:
            name, _, text = block.removeprefix("# ").partition("\n")
            (fresh.root / name).parent.mkdir(exist_ok=True)
            (fresh.root / name).write_text(block if language == "yaml" else text)
    module = (fresh.root / "workflow/datasets/sms_spam.py").read_text()
    for old, new in TEXTS.items():
        assert old in module
        module = module.replace(old, new)
    (fresh.root / "workflow/datasets/reviews.py").write_text(module)
    with (fresh.root / "workflow/sources.tsv").open("a") as stream:
        stream.write("reviews\treviews.tsv\thttps://example.org\t\t\t\tmine\n")
    return fresh


def test_an_experiment_on_a_dataset_of_ones_own_runs(own):
    experiment, data = (shlex.split(block, comments=True) for block in COMMANDS)
    assert experiment[0] == data[0] == "snakemake"
    assert own.plan(*data[1:]).jobs == ["encode", "fetch reviews.tsv", "prepare"]
    file = own.root / "results/data/manual/reviews/reviews.tsv"
    file.parent.mkdir(parents=True)
    for_each = [f"{label}\tA {label} book, {{n}} times\n" for label in ("good", "bad")]
    file.write_text("".join(line.format(n=n) for n in range(50) for line in for_each))
    runs = [f"review_sentiment/{variant}/seed-0" for variant in ("soft", "top_4")]
    assert own.snakemake(*experiment[1:]).trained == runs
    table = (own.root / "results/demo/tables/my_reviews/accuracy.md").read_text()
    assert "| softmax | " in table and "| top-k | " in table
