"""What the explorer's page holds: the models, to the last bit of float16, and the corpus."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from tests.reporting.explorer.pages import decoded, rebuilt
from tests.reporting.explorer.tiny import (
    CLASSIFIER,
    LANGUAGE_MODEL,
    MULTIVIEW,
    RECIPE,
    STREAMS,
    Tiny,
    task,
)
from tests.sealing import change, flip
from workflow import ROOT
from workflow.commands import explore
from workflow.definitions.explorer import Recording
from workflow.definitions.paper import Paper
from workflow.reporting.explorer import page as explorer
from workflow.reporting.explorer.data import page_data, recordings, tasks_of
from workflow.reporting.explorer.page import embedded, explorer_page
from workflow.reporting.explorer.shown import ExplorerRun
from workflow.reporting.measures import EvaluatedRun
from workflow.runtime.errors import ReportingError
from workflow.runtime.integrity import Damaged

TEXTS = [[3, 4, 5], [7, 3], [5, 5, 4, 3], [6], [4]]
"""Of a test split; 3, 4 and 5 are frequent in train, 6 and 7 rare."""
TRAIN = [[3, 3, 4, 4, 5, 5, 6], [7, 3, 4, 5]]


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    """Return an empty folder of results."""
    return Tiny(tmp_path)


def labelled(tiny: Tiny) -> None:
    labels = {"train": {"label": [0, 1]}, "test": {"label": [0, 1, 1, 0, 1]}}
    tiny.corpus({"train": TRAIN, "test": TEXTS}, columns=labels)


def half(model: nn.Module) -> nn.Module:
    """Return a model with rounded weights."""
    model.load_state_dict({name: one.half().float() for name, one in model.state_dict().items()})
    return model


def test_weights_are_the_rounded_state_dict(tiny):
    labelled(tiny)
    model = tiny.run("soft", CLASSIFIER)
    (told,) = tiny.page(task("class", "soft", classes=["no", "yes"]))["tasks"]
    arrays = decoded(told["models"][0])
    state = model.state_dict()
    assert list(arrays) == [*state, "encoder.embedding.position"]
    for name, tensor in state.items():
        assert arrays[name].dtype == np.float16
        assert np.array_equal(arrays[name], tensor.half().numpy())
    position = arrays["encoder.embedding.position"]
    assert position.dtype == np.float32
    assert np.array_equal(position, model.encoder.embedding.position[:64].numpy())
    assert told["longest"] == 64


def test_learned_positions_are_cut_to_what_can_be_typed(tiny):
    spans = {"train": {"span_start": [0] * 11}, "test": {"span_start": [0] * 11}}
    tiny.corpus({"train": TRAIN, "test": TEXTS}, columns=spans)
    model = tiny.run("discrete", LANGUAGE_MODEL)
    (told,) = tiny.page(task("next", "discrete"))["tasks"]
    assert told["longest"] == 40
    (arrays,) = map(decoded, told["models"])
    assert list(arrays) == list(model.state_dict())
    assert arrays["decoder.embedding.position"].shape == (40, 8)


def test_a_cut_vocabulary_changes_no_prediction(tiny):
    labelled(tiny)
    nodes = {"soft": CLASSIFIER, "streams": {**CLASSIFIER, "encoder": STREAMS}}
    models = {name: half(tiny.run(name, node)) for name, node in nodes.items()}
    page = tiny.page(task("class", *nodes, classes=["no", "yes"], words=3))
    (told,) = page["tasks"]
    assert told["words"] == ["<pad>", "<bos>", "<unk>", "s3", "s4", "s5"]
    assert [one["tokens"] for one in told["examples"]] == [[3, 4, 5], [5, 5, 4, 3], [4]]
    assert [one["label"] for one in told["examples"]] == [0, 1, 1]
    for one in told["models"]:
        small = rebuilt(one, len(told["words"]))
        for example in told["examples"]:
            tokens = torch.tensor([[told["first"], *example["tokens"]]])
            real = torch.ones_like(tokens, dtype=torch.bool)
            with torch.no_grad():
                ours, whole = small(tokens, real), models[one["name"]](tokens, real)
            assert torch.equal(ours.logits, whole.logits)


def test_kept_words_are_numbered_anew(tiny):
    train = [[7, 7, 7, 5, 5, 3]]
    labels = {"train": {"label": [0]}, "test": {"label": [0, 1]}}
    tiny.corpus({"train": train, "test": [[7, 5], [3, 7]]}, columns=labels)
    model = tiny.run("soft", CLASSIFIER)
    (told,) = tiny.page(task("class", "soft", classes=["no", "yes"], words=2))["tasks"]
    assert told["words"][told["specials"] :] == ["<unk>", "s5", "s7"]
    assert [one["tokens"] for one in told["examples"]] == [[4, 3]]
    table = decoded(told["models"][0])["encoder.embedding.token.weight"]
    whole = model.encoder.embedding.token.weight.detach().half().numpy()
    assert np.array_equal(table, whole[[0, 1, 2, 5, 7]])


def test_examples_and_truth_are_those_of_the_corpus(tiny):
    test = [[3] * 61, [3, 4, 5], [4, 5], [5]]
    starts = [[0] * 61, [0, 0, 1], [0, 1], [0]]
    columns = {
        "train": {"span_start": [0] * 11},
        "test": {"span_start": [start for one in starts for start in one]},
    }
    tiny.corpus({"train": TRAIN, "test": test}, columns=columns, balanced=True, length=30)
    tiny.run("discrete", LANGUAGE_MODEL)
    (told,) = tiny.page(task("next", "discrete", examples=2))["tasks"]
    assert told["examples"] == [
        {"tokens": [3, 4, 5], "label": None, "truth": [0, 0, 1]},
        {"tokens": [4, 5], "label": None, "truth": [0, 1]},
    ]
    assert (told["trained"], told["closes"], told["first"]) == (7, 30, 1)
    assert told["classes"] is None


def test_an_expression_stands_in_both_views(tiny):
    columns = {"label": [2, 4], "infix_length": [3, 1]}
    splits = {"train": TRAIN, "test": [[3, 5, 4, 5, 3, 4], [6, 6]]}
    tiny.corpus(splits, columns={"test": columns}, view="both")
    tiny.corpus(splits, columns={"test": columns}, view="infix", recipe="b" * 12)
    tiny.run("both", MULTIVIEW)
    tiny.run("infix", {**CLASSIFIER, "classes": 5, "encoder": STREAMS}, recipe="b" * 12)
    (told,) = tiny.page(task("views", "both", "infix"))["tasks"]
    assert told["examples"] == [
        {"tokens": {"infix": [3, 5, 4], "prefix": [5, 3, 4]}, "label": 2},
        {"tokens": {"infix": [6], "prefix": [6]}, "label": 4},
    ]
    assert [one["view"] for one in told["models"]] == [None, "infix"]


def test_a_scale_has_its_own_models_and_the_lowest_seed(tiny):
    labelled(tiny)
    for seed in (1, 10, 2):
        tiny.run("soft", CLASSIFIER, seed)
    tiny.run("other", CLASSIFIER)
    tasks = task("class", "other", "soft", classes=["no", "yes"], scales={"demo": ["soft", "gone"]})
    (told,) = tiny.page(tasks, "demo+mine")["tasks"]
    (model,) = told["models"]
    assert (model["run"], model["identity"]) == ("tiny/soft/seed-1", "soft-1")
    file = "results/demo+mine/measures/tiny/soft/seed-1.json"
    assert model["command"] == f"make run SCALE=demo OVERLAY=mine.yaml ONLY={file}"
    tasks["toy"]["scales"] = {"demo": ["gone"]}
    assert tiny.page(tasks)["tasks"] == []


def test_damaged_weights_and_missing_runs_are_named(tiny):
    labelled(tiny)
    tiny.run("soft", CLASSIFIER)
    flip(tiny.file("soft").parent / "weights.safetensors", 12345)
    with pytest.raises(Damaged, match=r"soft/seed-0/weights\.safetensors is damaged$"):
        tiny.page(task("class", "soft", classes=["no", "yes"]))
    with pytest.raises(ReportingError, match=r"seed-7/run\.json: this file does not exist; run "):
        ExplorerRun.of(tiny.file("soft", 7))


def test_models_of_a_task_share_their_words(tiny):
    labelled(tiny)
    names = ["<pad>", "<bos>", "<unk>", "a", "b", "c", "d", "e"]
    labels = {"test": {"label": [0, 1, 1, 0, 1]}}
    tiny.corpus({"train": TRAIN, "test": TEXTS}, names, labels, recipe="b" * 12)
    tiny.run("one", CLASSIFIER)
    tiny.run("other", CLASSIFIER, recipe="b" * 12)
    said = "tasks.toy: tiny/other/seed-0 has other words than tiny/one/seed-0; give them tasks"
    with pytest.raises(ReportingError, match=said):
        tiny.page(task("class", "one", "other", classes=["no", "yes"]))


def test_weights_of_another_model_and_data_of_another_run_are_named(tiny):
    labelled(tiny)
    tiny.run("large", CLASSIFIER, words=9)
    with pytest.raises(ReportingError, match=r"belong to another architecture \(1 tensors differ"):
        tiny.page(task("class", "large", classes=["no", "yes"]))
    manifest = tiny.data / "toy" / RECIPE / "encoded" / "manifest.json"
    change(manifest, lambda told: told.update(digest="other"))
    with pytest.raises(ReportingError, match="tiny/large/seed-0 was trained on other data; train"):
        tiny.page(task("class", "large", classes=["no", "yes"]))
    (tiny.data / "toy").rename(tiny.data / "gone")
    with pytest.raises(ReportingError, match=r"encoded/manifest\.json: this file does not exist"):
        tiny.page(task("class", "large", classes=["no", "yes"]))


def test_what_has_no_data_is_left_out_and_named(tiny, monkeypatch, capsys):
    """Without a network: the page has what is there; where nothing is, one sentence says so.

    Nothing is fetched for a model that the page does not run.
    """
    labelled(tiny)
    tiny.run("here", CLASSIFIER)
    tiny.run("beside", CLASSIFIER, recipe="c" * 12)
    tiny.run("gone", CLASSIFIER, recipe="b" * 12)
    runs = [ExplorerRun.of(tiny.file(name)) for name in ("here", "gone", "beside")]
    plan = SimpleNamespace(folder=tiny.root / "demo", results=tiny.root, scale="demo")
    asked = []
    monkeypatch.setattr(explore.arguments, "plan_of", lambda args: plan)
    monkeypatch.setattr(explore.arguments, "make_quietly", lambda *all, log: asked.append(all[0]))
    monkeypatch.setattr(explore, "with_staleness", lambda *_: {})
    monkeypatch.setattr(explore, "published", lambda *_: {})
    monkeypatch.setattr(explore, "planned", lambda *_: {})
    monkeypatch.setattr(explore, "published_runs", lambda *_: runs)
    both = task("class", "here", "gone", classes=["no", "yes"])
    monkeypatch.setattr(explorer, "tasks_of", lambda papers: both)
    paper = SimpleNamespace(items=lambda kind: both)
    monkeypatch.setattr(explore, "Paper", SimpleNamespace(all=lambda: [paper]))
    args = SimpleNamespace(configfile=[])
    explore.of_published(args)
    said = capsys.readouterr().out.splitlines()
    assert [list(one) for one in asked] == [[str(runs[1].data(tiny.data))]]
    assert said[1] == f"Explorer: {plan.folder / 'explorer.html'}, of 1 published runs"
    assert said[2].startswith("Left out: 1 of 2 models, whose data could not be made (toy; ")
    text = (plan.folder / "explorer.html").read_text()
    assert '"run":"tiny/here/seed-0"' in text and "tiny/gone" not in text
    (runs[0].data(tiny.data) / "manifest.json").unlink()
    with pytest.raises(ReportingError, match=r"^The data could not be made \(toy; .* set MIRROR="):
        explore.of_published(args)


def test_a_page_links_to_what_is_beside_it(tmp_path):
    beside = dict(explorer.beside(ROOT / "results" / "demo" / "explorer.html"))
    assert beside["Code"] == "../../workflow/explorer/engine"
    assert beside["Guide"] == "../../docs/explorer.md"
    assert dict(explorer.beside(tmp_path / "explorer.html")) == {}
    titles = dict(explorer._cited(Paper.all()))
    assert max(map(len, titles)) < 30
    assert titles["Discrete Transformer"].startswith("https://openreview.net/")


def test_no_word_ends_the_script_that_the_data_are_in():
    assert embedded({"words": ["</script>", "é"]}) == '{"words":["\\u003c/script>","é"]}'


SHOWN: Recording = {"title": "Translation", "experiment": "toy", "models": ["soft", "hard", "gone"]}


def measured(variant: str, seed: int = 0, **arrays: Any) -> EvaluatedRun:
    run = {"experiment": "toy", "variant": variant, "label": variant.upper(), "seed": seed}
    return EvaluatedRun(Path("m.json"), "", run, {"recorded": {"scalars": {}, "arrays": arrays}})


def test_arrays_of_the_lowest_seed_become_sentences():
    given = [
        measured("soft", 2, source=[["x"]], cross=[[[1.0]]]),
        measured("soft", 1, source=[["a"], ["b"]], cross=[[[0.5]], [[1.0, 0.25]]]),
        measured("hard"),
    ]
    (found,) = recordings([SHOWN], given)
    assert "1.0" not in str(found)
    assert found == {
        "name": "soft",
        "label": "SOFT",
        "task": "Translation",
        "run": "toy/soft/seed-1",
        "sentences": [
            {"source": ["a"], "cross": [[0.5]]},
            {"source": ["b"], "cross": [[1, 0.25]]},
        ],
    }


def test_a_page_of_published_runs_has_what_was_recorded_of_others():
    labels = {"experiment": "sparse_translation", "variant": "multi30k_en_de_topk", "seed": 0}
    told = {"recorded": {"scalars": {}, "arrays": {"source": [["ein", "Hund"]]}}}
    measure = EvaluatedRun(Path("m.json"), "", {**labels, "label": "top-k"}, told)
    page = explorer_page("lite", [], Path("none"), [measure], [("Report", "report.html")])
    assert '"sentences":[{"source":["ein","Hund"]}]' in page
    assert (
        '<a href="report.html">Report</a>' in page and "lacking" not in page.partition("<script")[0]
    )


def test_a_page_names_the_tasks_whose_data_are_missing(tiny):
    labelled(tiny)
    tiny.run("here", CLASSIFIER)
    tiny.run("gone", CLASSIFIER, recipe="b" * 12)
    here, gone = (ExplorerRun.of(tiny.file(name)) for name in ("here", "gone"))
    tasks = {name: task("class", name, classes=["no", "yes"])["toy"] for name in ("here", "gone")}
    tasks["gone"]["title"] = "Sentiment"
    data = page_data("demo", tasks, [here], tiny.data, missing=[gone])
    assert data["lacking"] == ["Sentiment"]
    assert "This page lacks “Sentiment”. Its data was not here." in explorer.render(data)


def test_what_a_task_opens_with_replaces_a_word_by_another():
    opened = [one["opens"] for one in tasks_of(Paper.all()).values() if "opens" in one]
    assert len(opened) > 1
    for one in opened:
        assert one["text"].split()[one["place"] - 1] != one["word"]
