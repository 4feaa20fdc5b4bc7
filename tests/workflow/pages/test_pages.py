"""README and guides: short, each link leads somewhere, and each guide is in README's index."""

import csv
import json
import re
from pathlib import Path

import pytest
from scipy import stats

from tests.workflow.conftest import ROOT
from tests.workflow.pages.guides import GUIDES, PAGES, README

BESIDE = [ROOT / "config" / "README.md", *sorted((ROOT / ".github").glob("*.md"))]
"""Pages that people find where they look for them."""
RUNS = "docs/reproduction/lite/runs/mechanism_stack.jsonl"
TABLES, INTERVAL = "docs/reproduction/lite/tables", ("mean", "ci_low", "ci_high")


def anchors(page: Path) -> set[str]:
    """The places in a page that a link can lead to, as GitHub names them."""
    text = page.read_text("utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    named = {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}
    return {*named, *re.findall(r'<a id="([^"]+)">', text)}


@pytest.mark.parametrize("page", [*PAGES, *BESIDE], ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    links = re.findall(r"\]\((?!https?:)([^)\s]+)\)|\bsrc(?:set)?=\"([^\"]+)\"", text)
    for link in filter(None, (one for both in links for one in both)):
        path, _, anchor = link.partition("#")
        to = (page.parent / path).resolve() if path else page
        assert to.exists() and to.is_relative_to(ROOT), f"{link} leads nowhere"
        if anchor and to.suffix == ".md":
            assert anchor in anchors(to), f"{link}: no such heading"


def test_the_readme_has_a_line_for_each_guide() -> None:
    index = README.read_text("utf-8").partition("## Guides\n")[2].partition("\n## ")[0]
    named = re.findall(r"^- \[[^\]]+\]\(docs/(\w+\.md)\): .+\.$", index, re.M)
    assert sorted(named) == [page.name for page in GUIDES]


def test_troubleshooting_quotes_what_is_said() -> None:
    """Each sentence of its first column stands in the code; `…` is what differs."""
    files = [ROOT / "Makefile", *ROOT.glob("workflow/**/*.py"), *ROOT.glob("model/**/*.py")]
    code = re.sub(r"[\"'\\]\s*f?[\"']|\s+", " ", " ".join(it.read_text("utf-8") for it in files))
    code = re.sub(r"  +", " ", code)
    page = (ROOT / "docs/troubleshooting.md").read_text("utf-8")
    quoted = re.findall(r"^\| `([^`]+)` \|", page, re.M)
    assert len(quoted) > 15
    for sentence in quoted:
        for part in sentence.split("…"):
            assert part.strip() in code, f"{sentence}: nothing says it"


def published(table: str) -> list[dict[str, str]]:
    """The cells of a table that have a number."""
    with (ROOT / f"{TABLES}/discrete_transformer/{table}.csv").open() as file:
        return [cell for cell in csv.DictReader(file) if cell["mean"]]


def test_the_dependencies_that_mechanisms_find_are_the_published_ones() -> None:
    cells = published("mechanism_stack")
    found = {
        cell["row"].removeprefix("stack language: "): [float(cell[key]) for key in INTERVAL]
        for cell in cells
        if cell["metric"] == "f1_weighted"
    }
    page = (ROOT / "docs/explanations.md").read_text("utf-8")
    penalised = {
        (cell["row"], cell["metric"]): cell
        for cell in published("stack_language")
        if cell["row"].startswith("uniform: discrete")
    }
    cell = penalised["uniform: discrete + penalty", "f1"]
    found["discrete, with the penalty"] = [float(cell[key]) for key in INTERVAL]
    assert cell["n"] == "3" and "over three seeds" in page
    costs = [
        f"{float(penalised[row, 'nll']['mean']):.3f}".removeprefix("0")
        for row in ("uniform: discrete + penalty", "uniform: discrete")
    ]
    assert "{} nats per symbol against {}".format(*costs) in page
    lines = re.findall(r"^\| (.+) \| (0\.\d\d) \[(0\.\d\d), (0\.\d\d)\] \|$", page, re.M)
    best = sorted(found, key=lambda name: -found[name][0])
    assert [name for name, *_ in lines] == best
    for name, *numbers in lines:
        assert numbers == [f"{number:.2f}" for number in found[name]]
    losses = [float(cell["mean"]) for cell in cells if cell["metric"] == "nll"]
    assert max(losses) - min(losses) < 0.0005


def test_how_equal_the_mechanisms_of_the_stack_language_are() -> None:
    """Losses by scipy's interval of paired seeds; sizes and rates by what the runs were made of."""
    page = " ".join((ROOT / "docs/explanations.md").read_text("utf-8").split())
    losses: dict[str, dict[int, float]] = {}
    sizes, rates = {}, set()
    for line in (ROOT / RUNS).read_text().splitlines():
        run = json.loads(line)
        name, spec = run["key"].partition("/")[0].removeprefix("stack_"), run["spec"]
        scalars = run["measures"]["evaluators"]["language_modelling"]["scalars"]
        losses.setdefault(name, {})[spec["seed"]] = scalars["nll"]["value"]
        sizes[name] = run["parameters"]
        rates.add(json.dumps([spec["training"], run["steps"]], sort_keys=True))
    every = [loss for by_seed in losses.values() for loss in by_seed.values()]
    assert f"single trainings by up to {max(every) - min(every):.4f}.".replace("0.", ".") in page
    softmax, ends = losses.pop("softmax"), {}
    for name, by_seed in losses.items():
        apart = [by_seed[seed] - softmax[seed] for seed in softmax]
        mean, spread = sum(apart) / 5, stats.sem(apart)
        ends[name] = (mean, *stats.t.interval(0.95, 4, mean, spread))
    worse = sorted(name for name, (_, low, _) in ends.items() if low > 0)
    assert worse == ["argmax", "asentmax", "entmax15", "gumbel", "indexer", "sparsemax",
                     "threshold_relative", "topk"]  # fmt: skip
    others = [ends[name] for name in ends.keys() - {*worse}]
    assert all(low > -0.0003 and high < 0.0003 for _, low, high in others)
    assert "All others are within .0003 of softmax" in page
    for name in ("sparsemax", "gumbel"):
        mean, low, high = (f"{number:.4f}"[1:] for number in ends[name])
        assert f"by {mean} [{low}, {high}]" in page
    assert len(rates) == 1 and "one learning rate, schedule, and number of updates" in page
    more = {name: size / sizes["softmax"] - 1 for name, size in sizes.items()}
    largest = [f"{100 * more.pop(name):.0f} %" for name in ("gated", "indexer")]
    said = "the {:,} of softmax: gated {} more, the indexer {}, all others less than 1 %"
    assert said.format(sizes["softmax"], *largest) in page
    assert 0 < max(more.values()) < 0.01 and min(more.values()) == 0
    (with_penalty,) = (
        [float(cell[key]) for key in INTERVAL]
        for cell in published("stack_language")
        if (cell["row"], cell["metric"]) == ("uniform: soft + penalty", "f1_weighted")
    )
    assert "F1 of {:.2f} [{:.2f}, {:.2f}] at 0.884.".format(*with_penalty) in page


def test_numbers_in_sentences_on_explanations_are_the_published_ones() -> None:
    """With the number of seeds; the control, whose one symbol always belongs, is by hand."""
    page = " ".join((ROOT / "docs/explanations.md").read_text("utf-8").split())

    def mean(table: str, row: str, metric: str, seeds: int) -> float:
        with (ROOT / f"{TABLES}/discrete_transformer/{table}.csv").open() as file:
            cells = [
                it for it in csv.DictReader(file) if (it["row"], it["metric"]) == (row, metric)
            ]
        (cell,) = [it for it in cells if it["n"] and int(it["n"]) == seeds]
        return float(cell["mean"])

    split = "test split: "
    right = [mean("table_6_5", split + row, metric, 5) for row, metric in (
        ("discrete attention, infix", "infix_all"), ("TS TRANSFORMER infix", "infix_all"),
        ("majority class", "majority_all"),
    )]  # fmt: skip
    assert "right in {:.0f} % (discrete) and {:.0f} % (soft)".format(*right[:2]) in page
    assert f"means of five seeds, where the most frequent answer is in {right[2]:.0f} %" in page
    flips, changes = (
        mean("routing_flips", "SST: DISC TRANSF", it, 5) for it in ("flips", "changes")
    )
    assert "[five seeds](reproduction/lite/kinley2020.md#routing_flips)), replacing" in page
    assert (
        f"in {100 * flips:.0f} % of texts, and the predicted class in {100 * changes:.0f} %" in page
    )
    explorer = (ROOT / "docs/explorer.md").read_text("utf-8")
    assert f"[{100 * flips:.0f} % and {100 * changes:.0f} %](reproduction" in explorer
    effect = "explained_effect_integrated_gradients"
    assert (
        f"{mean('attribution', 'SST, softmax: integrated gradients', effect, 5):.2f}"[1:]
        + " at best"
        in page
    )
    symbols = mean(
        "attribution_stack", "Gumbel: attention received", "explained_effect_attention", 5
    )
    assert f"is {symbols:.2f}±".replace("0.", ".") in page
    span = mean("stack_language", "uniform: soft", "span_size", 3)
    assert f"alone has an F1 of {2 / (1 + span):.2f}." in page
    penalty = "uniform: discrete + penalty"
    for row, said in (
        (penalty, "of {:.2f} at {:.3f} nats"),
        (f"{penalty}, three times as long", "{:.2f} at {:.3f} after"),
    ):
        assert said.format(*(mean("stack_language", row, it, 3) for it in ("f1", "nll"))) in page
    assert "(three trainings each), where these have 0.884" in page
