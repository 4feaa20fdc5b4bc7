"""The training loop: every architecture learns, resuming is exact, and trouble is told."""

import itertools
import math

import pytest
import torch

from model.training.loop import TrainingFailed
from tests.model.corpora import MemoryKeeper, resumed_alike, run, write_corpus
from tests.model.specs import GUMBEL, SOFTMAX, part


def dev(trained, name):
    return [row[name] for row in trained.progress.rows if row["split"] == "dev"]


SINGLE, DOUBLE = "transformer:Transformer", "two_stream:TwoStreamTransformer"


@pytest.mark.parametrize(
    ("stack", "normalizer"),
    [
        *itertools.product((SINGLE, DOUBLE), (GUMBEL, SOFTMAX)),
        (SINGLE, part("normalizers.topk:TopK", k=2)),
        (SINGLE, part("normalizers.sparsemax:Sparsemax")),
        (SINGLE, part("normalizers.entmax15:Entmax15")),
        (SINGLE, part("normalizers.entmax_alpha:EntmaxAlpha", heads=2)),
    ],
)
def test_every_classifier_learns_the_keyword(keywords, classifier_spec, stack, normalizer):
    classifier_spec["model"]["encoder"] |= part(f"architectures.{stack}", normalizer=normalizer)
    classifier_spec["training"]["epochs"] = 8
    trained = run(classifier_spec, keywords)
    assert max(dev(trained, "accuracy")) > 90
    learned = [weight for name, weight in trained.weights.items() if name.endswith("logit")]
    assert all(weight.abs().min() > 1e-4 for weight in learned), "alpha moves from 1.5"


def test_the_language_model_learns_to_copy(copies, language_spec):
    language_spec["training"]["epochs"] = 20
    language_spec["objective"]["sparsity"] = 0
    trained = run(language_spec, copies)
    # Three free symbols of six, three copied: ln 6 / 2 nats per token if the copy is perfect.
    assert dev(trained, "loss")[-1] < 0.5 * math.log(6) + 0.25


@pytest.mark.parametrize("which", ["classifier_spec", "language_spec"])
def test_resuming_is_bit_identical(which, request):
    spec = request.getfixturevalue(which)
    corpus = request.getfixturevalue("keywords" if "class" in which else "copies")
    resumed_alike(spec, corpus, 1, 17, 40)


def test_seeds_give_different_runs_and_one_seed_the_same(keywords, classifier_spec):
    runs = []
    for seed in (0, 0, 1):
        classifier_spec["seed"] = seed
        runs.append(run(classifier_spec, keywords).weights)
    assert all(torch.equal(runs[0][n], runs[1][n]) for n in runs[0])
    assert not any(torch.equal(runs[0][n], runs[2][n]) for n in runs[0] if "weight" in n
                   and "norm" not in n)  # fmt: skip


def test_accumulated_micro_batches_give_the_gradient_of_the_whole(keywords, classifier_spec):
    classifier_spec["model"]["encoder"] |= {
        "normalizer": SOFTMAX, "dropout": 0.0
    }  # fmt: skip
    classifier_spec["training"] |= {"epochs": None, "updates": 3, "select": None}
    classifier_spec["training"]["batch"] = {"examples": 20}
    whole = run(classifier_spec, keywords)
    classifier_spec["training"]["batch"] = {"examples": 20, "micro_tokens": 50}
    parts = run(classifier_spec, keywords)
    assert whole.progress.tokens == parts.progress.tokens
    for name, value in whole.weights.items():
        # A key's bias shifts all scores of a row alike: its gradient is rounding error, which Adam
        # blows up to the size of a step.
        if not name.endswith("key.bias"):
            assert torch.allclose(value, parts.weights[name], atol=2e-4), name


def test_the_best_dev_weights_are_selected(keywords, classifier_spec):
    classifier_spec["training"]["epochs"] = 5
    trained = run(classifier_spec, keywords)
    accuracies = dev(trained, "accuracy")
    steps = [row["step"] for row in trained.progress.rows if row["split"] == "dev"]
    assert trained.progress.best_update == steps[accuracies.index(max(accuracies))]


def test_a_diverging_run_stops_and_keeps_its_last_good_state(keywords, classifier_spec):
    class Saving(MemoryKeeper):
        def due(self) -> bool:
            return True

    classifier_spec["training"]["optimizer"]["lr"] = 1e30
    classifier_spec["training"]["schedule"] = {"name": "constant"}
    keeper = Saving()
    with pytest.raises(TrainingFailed, match=r"not a finite number.*Lower training.optimizer.lr"):
        run(classifier_spec, keywords, keeper)
    state = keeper.state
    assert state is None or all(v.isfinite().all() for v in state["model"].values())


def test_an_empty_split_is_told(tmp_path, classifier_spec):
    corpus = write_corpus(tmp_path / "empty", {"train": [], "dev": [[3]]}, 9, {})
    with pytest.raises(ValueError, match="split 'train' has no example"):
        run(classifier_spec, corpus)


def test_asked_checkpoints_are_kept(keywords, classifier_spec):
    classifier_spec["checkpoints"] = [2, 5]
    keeper = MemoryKeeper()
    run(classifier_spec, keywords, keeper)
    assert sorted(keeper.kept) == [2, 5]
    assert not torch.equal(*(keeper.kept[u]["output.weight"] for u in (2, 5)))


def test_fine_tuning_starts_from_the_parent(keywords, classifier_spec):
    base = run(classifier_spec, keywords)
    classifier_spec["training"] |= {"start_from": "base", "epochs": None, "updates": 1,
                                    "select": None}  # fmt: skip
    classifier_spec["training"]["optimizer"]["lr"] = 1e-12
    tuned = run(classifier_spec, keywords, parents={"base": base.weights})
    for name, value in base.weights.items():
        assert torch.allclose(value, tuned.weights[name], atol=1e-6), name
