"""`python -m workflow check` computes what evaluators find on the weights that are published."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from model.batches.corpus import Corpus
from model.build import build
from model.probes.measure import Subject
from model.training.loop import build_model, load_weights
from tests.reporting.synthetic import one_run
from tests.trained.conftest import LANGUAGE, MULTIVIEW, REVIEWS, TRANSLATION, plan
from workflow.__main__ import main
from workflow.commands import check, explore
from workflow.files import read_json
from workflow.planning.plan import Plan, named
from workflow.reporting.explorer.shown import ExplorerRun
from workflow.reporting.explorer.words import Words
from workflow.reporting.measures import EvaluatedRun
from workflow.reporting.publication.weights import TRAININGS
from workflow.runtime.errors import InputError
from workflow.trained import recomputed as trained
from workflow.trained.recomputed import recomputed

__all__ = ["plan"]
ROW = "discrete_transformer/stack_language/uniform_discrete"
MORE = 0.25
"""How much more than it is a number is said to be."""


def on_own_weights(plan: Plan, key: str, *names: str) -> dict[str, Any]:
    """Return what evaluators find on the weights of a run as they are, in single precision."""
    folder, run = Path(plan.folder) / "runs" / key, plan.run(*named(key))
    corpus = Corpus(Path(plan.results) / "data" / run.data / "encoded")
    spec = read_json(folder / "run.json")["spec"]
    model = build_model(spec, corpus).eval()
    load_weights(model, load_file(folder / "weights.safetensors"), "weights")
    subject = Subject(model, corpus, torch.device("cpu"), run.seed)
    return {name: {"scalars": build(run.settings.evaluators[name])(subject)[0]} for name in names}


class Publication:
    """The run of a language model, published with its weights."""

    def __init__(self, plan: Plan, docs: Path, patch: pytest.MonkeyPatch) -> None:
        self.plan, self.docs = plan, docs
        patch.setattr(check, "PUBLISHED", docs)
        patch.setattr(check, "planned", lambda plan: None)
        patch.setattr(check, "with_staleness", lambda results, now: results)
        patch.setattr(check, "published", lambda folder: {LANGUAGE: self.result})
        record = read_json(Path(plan.folder) / "runs" / LANGUAGE / "run.json")
        labels = record["spec"]["run"]
        found = on_own_weights(plan, LANGUAGE, "language_modelling", "receptive_field")
        self.nll = found["language_modelling"]["scalars"]["nll"]["value"]
        found["language_modelling"]["scalars"]["nll"]["value"] += MORE
        measure = EvaluatedRun(Path("x"), record["identity"], labels, found)
        self.run = {**record, "finished": "2026-11-01"}
        self.result = SimpleNamespace(
            identity=record["identity"], run=self.run, measure=measure, stale=None
        )

    def weights(self, finished: str | None) -> None:
        """Publish the weights, of a training that ended at this time."""
        experiment, _, line = LANGUAGE.partition("/")
        own = load_file(Path(self.plan.folder) / "runs" / LANGUAGE / "weights.safetensors")
        file = self.docs / "demo/weights" / f"{experiment}.safetensors"
        file.parent.mkdir(parents=True)
        told = json.dumps({line: [self.run["identity"], finished]})
        save_file(
            {f"{line}/{name}": it.half() for name, it in own.items()}, file, {TRAININGS: told}
        )

    def check(self, results: str = "", row: str = ROW) -> None:
        """Run the command."""
        results = results or self.plan.results
        main(["check", "--row", row, "--scale", "demo", "--results", results])


@pytest.fixture
def publication(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publication:
    """Return a publication that has no weights yet."""
    return Publication(plan, tmp_path / "docs", monkeypatch)


@pytest.mark.parametrize(
    ("finished", "origin"), [("2026-11-01", check.OF_IT), (None, check.OF_ANOTHER)]
)
def test_each_number_is_beside_the_published_one(
    publication: Publication, finished: str | None, origin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    publication.weights(finished)
    publication.check()
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == f"{LANGUAGE}, from weights in half precision:"
    assert len(lines) > 3 and all(line.endswith(f"; {origin}") for line in lines)
    (line,) = (line for line in lines if line.startswith("  nll/nll: "))
    told = line.removesuffix(f"; {origin}").replace(",", "").split()
    before, after, difference = (float(told[at]) for at in (2, 4, 6))
    assert before == pytest.approx(publication.nll + MORE, 1e-5)
    assert after == pytest.approx(publication.nll, 1e-3)
    assert difference == pytest.approx(-MORE, abs=0.01)


@pytest.mark.parametrize("row", [ROW, "discrete_transformer/stack_language/uniform_soft"])
def test_a_row_without_published_weights_is_refused(
    publication: Publication, row: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if row != ROW:
        publication.weights(None)
    with pytest.raises(SystemExit) as ended:
        publication.check(row=row)
    have = "nor any others" if row == ROW else f"only those of {LANGUAGE}"
    assert f"{ended.value}{capsys.readouterr().err}".splitlines()[-1] == (
        f"error: ROW={row}: its weights are not published at scale demo, {have}; "
        f"make reproduce ROW={row} trains it again"
    )


def test_data_that_cannot_be_made_are_named(
    publication: Publication,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    publication.weights(None)
    monkeypatch.setattr(explore.arguments, "make_quietly", lambda *said, **more: 1)
    with pytest.raises(SystemExit) as ended:
        publication.check(str(tmp_path / "none"))
    said = f"{ended.value}{capsys.readouterr().err}"
    assert f"the data of {LANGUAGE} are not here" in said and "explore_data.log says why" in said


def test_what_reads_more_than_weights_and_data_is_left_out(plan: Plan) -> None:
    run = ExplorerRun.of(Path(plan.folder) / "runs" / TRANSLATION / "run.json")
    assert "tagged" in plan.run(*named(TRANSLATION)).settings.evaluators["chunking"]
    assert recomputed(plan, run, ["chunking"]) == {"chunking": {}}
    row = SimpleNamespace(cells=lambda: [("a/x", ("toy", "one"), {"measure": "probe.x"})])
    before, after = one_run("one", 0, {"x": 0.5}), one_run("one", 0)
    (line,) = check.compared(row, before, after)  # type: ignore[arg-type]
    assert line == "a/x: published 0.5, not recomputed: that needs more than weights and data"


def test_what_depends_on_the_history_is_left_out(plan: Plan) -> None:
    run = ExplorerRun.of(Path(plan.folder) / "runs" / MULTIVIEW / "run.json")
    found = recomputed(plan, run, ["depths"])["depths"]["scalars"]
    corpus = Corpus(run.data(Path(plan.results) / "data"))
    assert found["seen_all"]["value"] == pytest.approx(
        100 * corpus.split("test").columns["seen"].mean()
    )
    assert {"prefix_all", "infix_depth_1"} <= found.keys() and "dev" not in found


def test_weights_that_lack_words_are_refused(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ExplorerRun.of(Path(plan.folder) / "runs" / REVIEWS / "run.json")
    corpus, words = trained.corpus_and_words(plan, run)
    few = Words.of(corpus, 5)
    monkeypatch.setattr(trained, "corpus_and_words", lambda plan, run: (corpus, few))
    with pytest.raises(InputError, match=f"have {len(few.texts)} of {words.whole} words, enough"):
        recomputed(plan, run, ["accuracy"])
