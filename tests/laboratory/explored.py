"""Compare an explorer's page with torch, on the models and test examples of a finished scale.

    python -m tests.laboratory.explored RESULTS [--scale demo] [--examples 1000] [--triples 10000]

Of each model: routing, fields and log-probabilities of the examples, against the model with the
same rounded weights in double precision; and for triples (sentence, token outside the field,
another word) whether the page's "cannot change it" is true, and how often a decision flips,
beside the measured `routing_flips`.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from playwright.sync_api import Page, sync_playwright
from torch import Tensor, nn

from model.layers.receptive_field import receptive_field
from model.probes.fields.flips import tree_differs
from tests.debian import Unavailable
from tests.reporting.conftest import chromium_path
from tests.reporting.explorer.pages import changes, of_torch, rebuilt
from workflow.definitions.paper import Paper
from workflow.reporting.explorer.data import page_data, tasks_of
from workflow.reporting.explorer.page import render
from workflow.reporting.explorer.shown import ExplorerRun

RUN = """async ([task, model, view, all]) => {
  let text = "";
  for (const tokens of all) {
    const asked = { ask: "run", task, model, view, tokens, at: 0 };
    const { weights, fields, logProbabilities } = await ask(asked);
    const T = tokens.length, picks = weights.flatMap((heads) => heads.flatMap((rows) =>
      Array.from({ length: T }, (_, i) => heaviest(rows.subarray(i * T, (i + 1) * T)))));
    text += JSON.stringify([picks, [...fields], [...logProbabilities]]) + "\\n";
  }
  return text;
}"""


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--scale", default="demo")
    parser.add_argument("--examples", type=int, default=1000, help="of each model")
    parser.add_argument("--triples", type=int, default=10000, help="in all")
    given = parser.parse_args()
    try:
        chromium = chromium_path()
    except Unavailable as error:
        print(f"skipped: {error}")
        return 0
    torch.set_num_threads(1)
    folder = given.results / given.scale
    runs = [ExplorerRun.of(path) for path in sorted(folder.glob("runs/*/*/seed-*/run.json"))]
    tasks = tasks_of(Paper.all())
    many: Any = {name: {**task, "examples": given.examples} for name, task in tasks.items()}
    data = page_data(given.scale, many, runs, given.results / "data")
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as driver:
        file = Path(temporary) / "explorer.html"
        file.write_text(render(data), encoding="utf-8")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(file.as_uri())
        page.wait_for_selector(".panel")
        wrong = sum([_task(page, task, folder, given.triples) for task in data["tasks"]])
        browser.close()
    print("the page computes what torch does" if not wrong else f"{wrong} differences")
    return min(wrong, 1)


def _task(page: Page, task: Mapping[str, Any], folder: Path, triples: int) -> int:
    wrong = 0
    for one in task["models"]:
        subject = Subject(page, task, one, rebuilt(one, len(task["words"])).double())
        views = [one["view"]] if task["kind"] == "views" and one["view"] else ["infix", "prefix"]
        for index, view in enumerate(views if task["kind"] == "views" else [None]):
            sentences = [_tokens(task, example, view) for example in task["examples"]]
            said, faults = compare(subject, sentences, index)
            print(f"{one['run']}{f', {view}' if view else ''}: {said}", flush=True)
            wrong += faults
        if "Gumbel" in json.dumps(one["spec"]) and task["kind"] != "views":
            sentences = [_tokens(task, example, None) for example in task["examples"]]
            said, faults = promise(subject, sentences, triples // 5, folder)
            print(f"{one['run']}: {said}", flush=True)
            wrong += faults
    return wrong


def _tokens(task: Mapping[str, Any], example: Mapping[str, Any], view: str | None) -> list[int]:
    tokens = example["tokens"] if view is None else example["tokens"][view]
    return [task["first"], *(tokens[:-1] if task["kind"] == "next" else tokens)]


def _of_torch(model: nn.Module, tokens: Sequence[int], view: int = 0) -> tuple[Tensor, Any]:
    predicted, weights = of_torch(model, torch.tensor([tokens]), view)
    return predicted.flatten(), weights


class Subject(NamedTuple):
    """One model of the page, and the same in torch."""

    page: Page
    task: Mapping[str, Any]
    shown: Mapping[str, Any]
    model: nn.Module


def compare(subject: Subject, sentences: Sequence[Sequence[int]], view: int) -> tuple[str, int]:
    """Compare the runs of some sentences; return what is to be said, and how many differ."""
    page, task, shown, model = subject
    lines = page.evaluate(RUN, [task["name"], shown["name"], view, sentences]).splitlines()
    decisions = other = fields = 0
    worst = 0.0
    for tokens, line in zip(sentences, lines, strict=True):
        picks, field, predicted = json.loads(line)
        logits, weights = _of_torch(model, tokens, view)
        theirs = torch.cat([layer.argmax(-1).flatten() for layer in weights])
        decisions += len(picks)
        other += int((theirs != torch.tensor(picks)).sum())
        fields += int(((receptive_field(weights)[0] > 0).flatten() != torch.tensor(field)).any())
        apart = logits - torch.tensor(predicted, dtype=torch.float64)
        worst = max(worst, float(apart.abs().max()))
    said = (
        f"{len(sentences)} examples, {other} of {decisions} decisions and {fields} fields differ, "
        f"log-probabilities by {worst:.0e} at most"
    )
    return said, other + fields + (worst > 1e-4)


def promise(
    subject: Subject, sentences: Sequence[Sequence[int]], count: int, folder: Path
) -> tuple[str, int]:
    """Try triples; return what is to be said, and how often the page was wrong."""
    page, task, shown, model = subject
    random = np.random.default_rng(0)
    asked: list[list[Any]] = []
    theirs: list[tuple[bool, bool]] = []
    size = len(task["words"])
    while len(asked) < count:
        tokens = list(sentences[int(random.integers(len(sentences)))])
        at = int(random.integers(1, len(tokens))) if task["kind"] == "next" else 0
        logits, before = _of_torch(model, tokens)
        field = receptive_field(before)[0, at] > 0
        seen = range(1, at + 1 if task["kind"] == "next" else len(tokens))
        if not (free := [place for place in seen if not field[place]]):
            continue
        place, word = int(random.choice(free)), int(random.integers(3, size))
        if word == tokens[place]:
            continue
        changed = [*tokens[:place], word, *tokens[place + 1 :]]
        after, routed = _of_torch(model, changed)
        part = slice(at * size, (at + 1) * size) if task["kind"] == "next" else slice(None)
        flip = bool(tree_differs(before, routed, torch.tensor([at]))[0])
        theirs.append((flip, torch.equal(logits[part], after[part])))
        asked.append([tokens, at, place, word])
    found = np.array(changes(page, task["name"], shown["name"], asked), bool)
    flips, same = np.array(theirs, bool).T
    false = int((~found[:, 1] & ~same).sum())
    wrong = false + int((found[:, 1] != flips).sum()) + int((~found[:, 0]).sum())
    measure = folder / "measures" / f"{shown['run']}.json"
    told = json.loads(measure.read_text())["evaluators"] if measure.is_file() else {}
    rate = told.get("routing_flips", {}).get("scalars", {}).get("flip_rate", {}).get("value")
    said = (
        f"{count} triples, {false} false “cannot”, "
        f"{int((found[:, 1] != flips).sum())} verdicts differ, "
        f"a decision flips in {found[:, 1].mean():.3f}"
        + (f" (measured {rate:.3f})" if rate is not None else "")
    )
    return said, wrong


if __name__ == "__main__":
    sys.exit(main())
