"""Published weights make the page that the runs made, and stay while these are the published."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.reporting.explorer.tiny import CLASSIFIER, Tiny, task
from tests.sealing import flip, put
from workflow.commands.verify import of_published, verify
from workflow.reporting.explorer.data import page_data
from workflow.reporting.publication import weights
from workflow.reporting.publication.results import RunResult
from workflow.runtime.errors import ReportingError
from workflow.runtime.integrity import checksums_of, read_verified

TASKS = task("class", "soft", "harder", classes=["no", "yes"], words=3)
KEY = "tiny/soft/seed-0"


class Publication:
    """Weights of tiny runs, published over and over."""

    def __init__(self, root: Path) -> None:
        self.tiny, self.folder, self.times = Tiny(root / "results"), root / "docs/demo", 0
        labels = {"train": {"label": [0, 1]}, "test": {"label": [0, 1]}}
        splits = {"train": [[3, 3, 4, 4, 5, 5, 6], [7, 3]], "test": [[3, 4, 5], [7, 3]]}
        self.tiny.corpus(splits, columns=labels)
        results = str(root / "results")
        self.plan: Any = SimpleNamespace(
            scale="demo", results=results, folder=f"{results}/demo", config={"scale": "demo"}
        )
        self.plan.mechanisms = {}

    def results(
        self, *seeds: int, variant: str = "soft", identity: str = "", stale: str | None = None
    ) -> Any:
        """Return what is published of runs."""
        found = {}
        for seed in seeds:
            file = self.tiny.file(variant, seed)
            run = read_verified(file) if file.is_file() else {"finished": "2026-07-29"}
            measures = {"identity": f"{identity or variant}-{seed}"}
            found[f"tiny/{variant}/seed-{seed}"] = RunResult(file, measures, run, stale)
        return found

    def publish(self, results: Any) -> dict[str, str]:
        """Publish, and write the index; return whose weights are there, with their identities."""
        self.times += 1
        aside = self.folder.with_name(f".publish-{self.times}")
        aside.mkdir(parents=True)
        weights.write_weights(self.plan, self.folder, aside, results)
        files = [path.relative_to(aside).as_posix() for path in aside.rglob("*.safetensors")]
        put(aside / "index.json", {"runs": {}, "files": checksums_of(aside, files)})
        shutil.rmtree(self.folder, ignore_errors=True)
        aside.rename(self.folder)
        told = weights.published_weights(self.folder)
        return {key: training.identity for key, training in told.items()}


@pytest.fixture
def publication(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publication:
    """Return where nothing is published yet."""
    paper = SimpleNamespace(explorer={"tasks": TASKS, "weights": {"tiny": ["beside"]}})
    monkeypatch.setattr(weights.Paper, "all", lambda mechanisms: [paper])
    return Publication(tmp_path)


def test_the_page_of_published_weights_is_that_of_the_run(publication):
    model = publication.tiny.run("soft", CLASSIFIER)
    results = publication.results(0)
    assert publication.publish(results) == {KEY: "soft-0"}
    file = publication.folder / "weights/tiny.safetensors"
    prefix, state = "soft/seed-0/", model.state_dict()
    found = {name.removeprefix(prefix): one for name, one in load_file(file).items()}
    assert found.keys() == state.keys()
    table = "encoder.embedding.token.weight"
    assert torch.equal(found.pop(table), state[table][:6].half())
    assert all(torch.equal(one, state[name].half()) for name, one in found.items())
    ours = publication.tiny.page(TASKS)
    (shown,) = weights.published_runs(publication.folder, results)
    assert page_data("demo", TASKS, [shown], publication.tiny.data) == ours
    assert len(ours["tasks"][0]["examples"]) == 1


def test_models_of_an_experiment_share_a_file_and_are_told_apart(publication):
    for variant in ("soft", "harder"):
        publication.tiny.run(variant, CLASSIFIER)
    results = publication.results(0) | publication.results(0, variant="harder")
    told = {KEY: "soft-0", "tiny/harder/seed-0": "harder-0"}
    page = publication.tiny.page(TASKS)
    assert publication.publish(results) == told
    (file,) = publication.folder.glob("weights/*")
    content = file.read_bytes()
    shutil.rmtree(publication.tiny.file("harder").parent)
    assert publication.publish(results) == told and file.read_bytes() == content
    runs = weights.published_runs(publication.folder, results)
    assert page_data("demo", TASKS, runs, publication.tiny.data) == page


def test_weights_stay_while_their_run_is_the_published_one(publication):
    publication.tiny.run("soft", CLASSIFIER)
    results = publication.results(0)
    publication.publish(results)
    content = (publication.folder / "weights/tiny.safetensors").read_bytes()
    shutil.rmtree(publication.tiny.file("soft").parent)
    assert publication.publish(results) == {KEY: "soft-0"}
    assert (publication.folder / "weights/tiny.safetensors").read_bytes() == content
    assert publication.publish(publication.results(0, identity="other")) == {}
    assert not list(publication.folder.rglob("*.safetensors"))


def test_weights_of_another_training_of_a_published_run_are_not_published(publication):
    publication.tiny.run("soft", CLASSIFIER)
    results = publication.results(0)
    results[KEY].run["finished"] = "another day"
    assert publication.publish(results) == {}
    publication.publish(publication.results(0))
    assert weights.published_runs(publication.folder, publication.results(0))
    assert weights.published_runs(publication.folder, results) == []
    assert publication.publish(results) == {}


def test_the_lowest_seed_that_counts_is_published(publication):
    for seed in (2, 10):
        publication.tiny.run("soft", CLASSIFIER, seed)
    assert publication.publish(publication.results(0, 2, 10)) == {"tiny/soft/seed-2": "soft-2"}
    assert weights.published_runs(publication.folder, publication.results(2, stale="old")) == []
    assert publication.publish(publication.results(2, stale="of other code")) == {}


def test_weights_of_models_that_the_page_does_not_run_are_published_whole(publication):
    model = publication.tiny.run("beside", CLASSIFIER)
    assert publication.publish(publication.results(0, variant="beside")) == {
        "tiny/beside/seed-0": "beside-0"
    }
    found = load_file(publication.folder / "weights/tiny.safetensors")
    assert {name: len(it) for name, it in found.items()} == {
        f"beside/seed-0/{name}": len(it) for name, it in model.state_dict().items()
    }


def test_weights_of_a_scale_have_a_limit(publication, monkeypatch):
    publication.tiny.run("soft", CLASSIFIER)
    monkeypatch.setattr(weights, "LIMIT", 1000)
    said = r"docs/demo/weights would be 0\.0 MB, more than 0 MB: name fewer models or words for sc"
    with pytest.raises(ReportingError, match=said):
        publication.publish(publication.results(0))


def test_verify_finds_damaged_weights(publication):
    publication.tiny.run("soft", CLASSIFIER)
    publication.publish(publication.results(0))
    docs = publication.folder.parent
    assert verify([*of_published(docs)]) == []
    file = publication.folder / "weights/tiny.safetensors"
    flip(file, 9000)
    assert [str(error) for error in verify([*of_published(docs)])] == [f"{file} is damaged"]
