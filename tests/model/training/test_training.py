"""The training loop: every architecture learns, resuming is exact, and trouble is told."""

import copy
import math

import pytest
import torch

from model.batches.corpus import Corpus
from model.build import build
from model.training.loop import Interrupted, TrainingFailed, train
from tests.model.corpora import MemoryKeeper

CPU = torch.device("cpu")


def silent(line: str) -> None:
    pass


def dev(trained, name):
    return [row[name] for row in trained.progress.rows if row["split"] == "dev"]


@pytest.mark.parametrize("normalizer", ["gumbel:Gumbel", "softmax:Softmax"])
@pytest.mark.parametrize("stack", ["transformer:Transformer", "two_stream:TwoStreamTransformer"])
def test_every_classifier_learns_the_keyword(keywords, classifier_spec, stack, normalizer):
    encoder = classifier_spec["model"]["encoder"]
    encoder["path"] = f"model.architectures.{stack}"
    encoder["normalizer"] = {"path": f"model.normalizers.{normalizer}"}
    classifier_spec["training"]["epochs"] = 8
    trained = train(classifier_spec, keywords, MemoryKeeper(), CPU, {}, silent)
    assert max(dev(trained, "accuracy")) > 90


def test_the_language_model_learns_to_copy(copies, language_spec):
    language_spec["training"]["epochs"] = 20
    language_spec["objective"]["sparsity"] = 0
    trained = train(language_spec, copies, MemoryKeeper(), CPU, {}, silent)
    # Three free symbols of six, three copied: ln 6 / 2 nats per token if the copy is perfect.
    assert dev(trained, "loss")[-1] < 0.5 * math.log(6) + 0.25


@pytest.mark.parametrize("which", ["classifier_spec", "language_spec"])
def test_resuming_is_bit_identical(which, request):
    spec = request.getfixturevalue(which)
    corpus = request.getfixturevalue("keywords" if "class" in which else "copies")
    whole = train(spec, corpus, MemoryKeeper(), CPU, {}, silent)
    for stop in (1, 17, 40):
        keeper = MemoryKeeper(save_at=stop)
        with pytest.raises(Interrupted):
            train(spec, corpus, keeper, CPU, {}, silent)
        torch.manual_seed(999)
        state = copy.deepcopy(keeper.state)
        resumed = train(spec, corpus, MemoryKeeper(state=state), CPU, {}, silent)
        assert all(torch.equal(whole.weights[n], w) for n, w in resumed.weights.items())
        losses = [[row["loss"] for row in t.progress.rows] for t in (whole, resumed)]
        assert losses[0] == losses[1]


def test_seeds_give_different_runs_and_one_seed_the_same(keywords, classifier_spec):
    runs = []
    for seed in (0, 0, 1):
        classifier_spec["seed"] = seed
        runs.append(train(classifier_spec, keywords, MemoryKeeper(), CPU, {}, silent).weights)
    assert all(torch.equal(runs[0][n], runs[1][n]) for n in runs[0])
    assert not any(torch.equal(runs[0][n], runs[2][n]) for n in runs[0] if "weight" in n
                   and "norm" not in n)  # fmt: skip


def test_accumulated_micro_batches_give_the_gradient_of_the_whole(keywords, classifier_spec):
    classifier_spec["model"]["encoder"] |= {
        "normalizer": {"path": "model.normalizers.softmax:Softmax"}, "dropout": 0.0
    }  # fmt: skip
    classifier_spec["training"] |= {"epochs": None, "updates": 3, "select": None}
    classifier_spec["training"]["batch"] = {"examples": 20}
    whole = train(classifier_spec, keywords, MemoryKeeper(), CPU, {}, silent)
    classifier_spec["training"]["batch"] = {"examples": 20, "micro_tokens": 50}
    parts = train(classifier_spec, keywords, MemoryKeeper(), CPU, {}, silent)
    assert whole.progress.tokens == parts.progress.tokens
    for name, value in whole.weights.items():
        # A key's bias shifts all scores of a row alike: its gradient is rounding error, which Adam
        # blows up to the size of a step.
        if not name.endswith("key.bias"):
            assert torch.allclose(value, parts.weights[name], atol=2e-4), name


def test_the_best_dev_weights_are_selected(keywords, classifier_spec):
    classifier_spec["training"]["epochs"] = 5
    trained = train(classifier_spec, keywords, MemoryKeeper(), CPU, {}, silent)
    accuracies = dev(trained, "accuracy")
    steps = [row["step"] for row in trained.progress.rows if row["split"] == "dev"]
    assert trained.progress.best_update == steps[accuracies.index(max(accuracies))]


def test_asked_checkpoints_are_kept(keywords, classifier_spec):
    classifier_spec["checkpoints"] = [2, 5]
    keeper = MemoryKeeper()
    train(classifier_spec, keywords, keeper, CPU, {}, silent)
    assert sorted(keeper.kept) == [2, 5]
    assert not torch.equal(*(keeper.kept[u]["output.weight"] for u in (2, 5)))


def test_a_diverging_run_stops_and_keeps_its_last_good_state(keywords, classifier_spec):
    class Saving(MemoryKeeper):
        def due(self) -> bool:
            return True

    classifier_spec["training"]["optimizer"]["lr"] = 1e30
    classifier_spec["training"]["schedule"] = {"name": "constant"}
    keeper = Saving()
    with pytest.raises(TrainingFailed, match=r"not a finite number.*Lower training.optimizer.lr"):
        train(classifier_spec, keywords, keeper, CPU, {}, silent)
    state = keeper.state
    assert state is None or all(v.isfinite().all() for v in state["model"].values())


def test_fine_tuning_starts_from_the_parent(keywords, classifier_spec):
    base = train(classifier_spec, keywords, MemoryKeeper(), CPU, {}, silent)
    classifier_spec["training"] |= {"start_from": "base", "epochs": None, "updates": 1,
                                    "select": None}  # fmt: skip
    classifier_spec["training"]["optimizer"]["lr"] = 1e-12
    tuned = train(classifier_spec, keywords, MemoryKeeper(), CPU, {"base": base.weights}, silent)
    for name, value in base.weights.items():
        assert torch.allclose(value, tuned.weights[name], atol=1e-6), name


def test_a_parent_of_another_architecture_is_refused(keywords, classifier_spec):
    classifier_spec["training"]["start_from"] = "base"
    other = build(classifier_spec["model"], vocabulary_size=20).state_dict()
    with pytest.raises(TrainingFailed, match=r"another architecture.*embedding"):
        train(classifier_spec, keywords, MemoryKeeper(), CPU, {"base": other}, silent)


def test_an_empty_split_is_told(tmp_path, classifier_spec):
    from tests.model.corpora import write_corpus

    corpus = write_corpus(tmp_path / "empty", {"train": [], "dev": [[3]]}, 9, {})
    with pytest.raises(ValueError, match="split 'train' has no example"):
        train(classifier_spec, Corpus(corpus.folder), MemoryKeeper(), CPU, {}, silent)
