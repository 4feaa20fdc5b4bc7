"""The multiview model against slow loops and against one two-stream model per view."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from model.architectures.classifier import Classifier
from model.architectures.multiview import MultiviewClassifier, MultiviewTransformer
from model.architectures.transformer import Transformer
from model.architectures.two_stream import TwoStreamTransformer
from model.batches.batching import BOS, PAD, Batch
from model.batches.corpus import Corpus
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.objectives import multiview
from model.objectives.multiview import Evaluation, by_view, predict
from model.probes.quality.depths import depths
from tests.model.compare import close, gradients
from tests.model.corpora import learned, values, write_corpus
from tests.model.specs import SOFTMAX, brief, part

SIZES = {"width": 8, "hidden": 12, "layers": 2, "heads": 2}
Example = tuple[list[int], list[int]]
"""Tokens of an expression in either view."""

notation = st.lists(st.integers(3, 11), min_size=1, max_size=7)
examples_of_both = st.lists(st.tuples(notation, notation), min_size=1, max_size=7)


def batch_of(examples: list[Example], view: int | None = None, padding: int = 0) -> Batch:
    """Side by side, in one view or in both; with further padding at the end."""
    rows = [[BOS, *(a + b if view is None else (a, b)[view])] for a, b in examples]
    longest = max(map(len, rows)) + padding
    tokens = torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
    columns = {
        "label": torch.tensor([sum(a) % 5 for a, _ in examples]),
        "depth": torch.tensor([len(a) % 3 for a, _ in examples]),
    }
    if view is None:
        columns["infix_length"] = torch.tensor([len(a) for a, _ in examples])
    return Batch(tokens, tokens != PAD, columns, np.arange(len(rows)), int((tokens == PAD).sum()))


def drawn(count: int, seed: int = 0) -> list[Example]:
    random = np.random.default_rng(seed)
    return [tuple(random.integers(3, 12, random.integers(1, 9)).tolist() for _ in range(2))
            for _ in range(count)]  # fmt: skip


def encoder(normalizer: nn.Module | None = None, **changes) -> MultiviewTransformer:
    settings = SIZES | {"views": 2, "vocabulary_size": 12} | changes
    return MultiviewTransformer(normalizer=normalizer or Softmax(), **settings)


def classifier(seed: int = 0, **changes) -> MultiviewClassifier:
    torch.manual_seed(seed)
    return MultiviewClassifier(encoder(**changes), 5).double().eval()


@given(examples_of_both, st.integers(0, 3))
def test_views_are_taken_apart_as_by_a_slow_loop(examples, padding):
    tokens = by_view(batch_of(examples, padding=padding))
    longest = 1 + max(len(text) for both in examples for text in both)
    assert tokens.shape == (2, len(examples), longest)
    for row, both in enumerate(examples):
        for view, text in enumerate(both):
            assert tokens[view, row].tolist() == [BOS, *text] + [PAD] * (longest - 1 - len(text))


def two_stream_of(model: MultiviewClassifier, view: int, **changes) -> Classifier:
    """A two-stream model with the model stream, and one of the controllers, of a multiview one."""
    normalizer = model.encoder.normalizers[0]
    settings = SIZES | {"vocabulary_size": 12, "normalizer": normalizer} | changes
    own = Classifier(TwoStreamTransformer(**settings), 5).double().eval()
    prefix = f"encoder.controllers.{view}."
    weights = {}
    for name, value in model.state_dict().items():
        if name.startswith(prefix):
            weights["encoder." + name.removeprefix(prefix)] = value.clone()
        elif not name.startswith("encoder.controllers"):
            weights[name] = value.clone()
    own.load_state_dict(weights)
    return own


def one_by_one(model: nn.Module, examples: list[Example], view: int | None) -> Tensor:
    """Logits (U, B, C), each view of each example alone and without any padding."""
    if view is None:
        by_own = [two_stream_of(model, u) for u in (0, 1)]
        return torch.cat([one_by_one(own, examples, u) for u, own in enumerate(by_own)])
    rows = [torch.tensor([[BOS, *both[view]]]) for both in examples]
    return torch.cat([model(row, row != PAD).logits for row in rows])[None]


KINDS = ("multiview", "two-stream", "single-stream")


def models() -> dict[str, tuple[nn.Module, int | None]]:
    """A model of either kind, and the view it reads."""
    torch.manual_seed(1)
    stack = TwoStreamTransformer(12, **SIZES, normalizer=Softmax())
    single = Transformer(12, **SIZES, normalizer=Softmax())
    return {
        "multiview": (classifier(), None),
        "two-stream": (Classifier(stack, 5).double().eval(), 1),
        "single-stream": (Classifier(single, 5).double().eval(), 0),
    }


@settings(max_examples=15)
@given(st.sampled_from(KINDS), examples_of_both, st.integers(0, 4), st.randoms())
def test_a_prediction_depends_on_its_own_example_alone(kind, examples, padding, random):
    """Not on padding, on the order, or on the others in the batch."""
    model, view = models()[kind]
    found = predict(model, batch_of(examples, view, padding))
    expected = one_by_one(model, examples, view)
    assert found.shape == expected.shape == (2 if view is None else 1, len(examples), 5)
    assert torch.allclose(found, expected, atol=1e-12)
    order = random.sample(range(len(examples)), len(examples))
    shuffled = predict(model, batch_of([examples[i] for i in order], view))
    assert torch.allclose(shuffled, found[:, order], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunks", [2, 3, 30])
def test_chunks_change_neither_values_nor_gradients(kind, chunks, monkeypatch):
    model, view = models()[kind]
    batch = batch_of(drawn(20), view, padding=1)
    found = {}
    for number in (1, chunks):
        monkeypatch.setattr(multiview, "CHUNKS", number)
        logits = predict(model, batch)
        total = (logits * torch.arange(logits.numel()).view_as(logits).sin()).sum()
        found[number] = [logits, *gradients(total, model)]
    assert close(*found.values(), atol=1e-12)
    # What the last layer of a controller reads feeds nothing.
    names = [name for name, _ in model.named_parameters()]
    untrained = [name for name, one in zip(names, found[1][1:], strict=True) if one is None]
    assert all("controller" in name for name in untrained)


def test_chunks_are_of_similar_lengths(monkeypatch):
    """Two chunks of four: short with short and long with long, each cut to its longest."""
    shapes = []

    class Recorder(nn.Module):
        def forward(self, tokens: Tensor, real: Tensor) -> Tensor:
            assert torch.equal(real, tokens != PAD)
            shapes.append(tuple(tokens.shape))
            return tokens[:, :, 1:2].double()

    examples = [([3 + n] * n, [3 + n] * n) for n in (8, 1, 7, 2)]
    found = predict(Recorder(), batch_of(examples))
    assert shapes == [(2, 2, 3), (2, 2, 9)]
    assert found[..., 0].tolist() == 2 * [[11, 4, 10, 5]]


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
@pytest.mark.parametrize("normalizer", [Softmax(), Gumbel()])
def test_each_view_is_a_two_stream_model_with_the_shared_model_stream(norm, positions, normalizer):
    changes = {"norm": norm, "positions": positions, "max_length": 20}
    model = classifier(normalizer=normalizer, **changes)
    batch = batch_of(drawn(9))
    tokens = by_view(batch)
    together = predict(model, batch)
    for view in (0, 1):
        own = two_stream_of(model, view, **changes)
        logits = own(tokens[view], tokens[view] != PAD).logits
        assert torch.allclose(together[view], logits, atol=1e-12)
    assert not torch.allclose(together[0], together[1], atol=1e-3)


def test_the_model_stream_sums_the_gradients_of_both_views():
    """And a controller learns from its own view alone."""
    model = classifier()
    batch = batch_of(drawn(9))
    tokens = by_view(batch)
    weights = torch.randn(2, 9, 5, dtype=torch.float64)
    (predict(model, batch) * weights).sum().backward()
    owns = [two_stream_of(model, view) for view in (0, 1)]
    for view, own in enumerate(owns):
        (own(tokens[view], tokens[view] != PAD).logits * weights[view]).sum().backward()
    of_own = [dict(own.named_parameters()) for own in owns]
    compared = 0
    for name, parameter in model.named_parameters():
        if name.startswith("encoder.controllers."):
            view, _, rest = name.removeprefix("encoder.controllers.").partition(".")
            expected = of_own[int(view)]["encoder." + rest].grad
        else:
            parts = [own[name].grad for own in of_own]
            assert all(part.abs().sum() > 0 for part in parts), name
            expected = parts[0] + parts[1]
        assert (parameter.grad is None) == (expected is None), name
        if expected is not None:
            compared += 1
            assert torch.allclose(parameter.grad, expected, atol=1e-10), name
    assert compared > 50


def test_discrete_routing_is_one_hot_when_evaluating_and_learns_in_training():
    model = classifier(normalizer=Gumbel())
    tokens = by_view(batch_of(drawn(6)))
    real = tokens != PAD
    for z in model.encoder(tokens, real).weights:
        assert z.shape == (12, 2, tokens.shape[2], tokens.shape[2])
        assert ((z == 0) | (z == 1)).all()
        assert (z.sum(-1) == 1).all()
        # Nobody looks at padding.
        assert (z.sum((1, 2))[~real.flatten(0, 1)] == 0).all()
    model.train()
    one, two = model(tokens, real), model(tokens, real)
    assert not torch.allclose(one, two)
    one.square().sum().backward()
    for controller in model.encoder.controllers:
        assert controller.controller[-1].routing.key.weight.grad.abs().sum() > 0


@pytest.mark.parametrize("view", [None, "infix", "prefix"])
def test_the_objective_equals_a_slow_count(view):
    number = None if view is None else ["infix", "prefix"].index(view)
    if view is None:
        model = classifier(seed=3)
    else:
        torch.manual_seed(3)
        stack = TwoStreamTransformer(12, **SIZES, normalizer=Softmax())
        model = Classifier(stack, 5).double().eval()
    examples = drawn(60)
    batch = batch_of(examples, number)
    logits = one_by_one(model, examples, number)
    names = ["infix", "prefix"] if view is None else [view]
    nats, right = 0.0, dict.fromkeys([f"{name}_depth_{d}" for name in names for d in (0, 1, 2)], 0)
    for of_view, name in zip(logits.tolist(), names, strict=True):
        for scores, (infix, _) in zip(of_view, examples, strict=True):
            label = sum(infix) % 5
            nats += math.log(sum(map(math.exp, scores))) - scores[label]
            right[f"{name}_depth_{len(infix) % 3}"] += scores[label] == max(scores)
    assert all(0 < n < 20 for n in right.values())
    loss = Evaluation([0, 1, 2], view).loss(model, batch, epoch=0)
    assert loss.units == 60
    # The logits' cross-entropy is computed in single precision.
    assert float(loss.mean.detach()) == pytest.approx(nats / 60, rel=1e-5)
    found = {name: float(value) for name, value in loss.sums.items()}
    expected = {"loss": nats, "accuracy": 100 * sum(right.values()) / len(names)}
    assert found == pytest.approx(expected | {n: 100 * k for n, k in right.items()}, rel=1e-5)
    assert not any(value.requires_grad for value in loss.sums.values())
    loss.mean.backward()
    assert model.output.weight.grad.abs().sum() > 0


def sums(folder: Path, sizes: dict[str, int]) -> Corpus:
    """Sums and products of two numbers modulo 5, as `4 + 1` and `( + 4 1 )`: all at depth 0."""
    random = np.random.default_rng(0)
    symbol = {text: number for number, text in enumerate("()+*01234", start=3)}
    splits, columns = {}, {}
    for split, size in sizes.items():
        chosen = [(random.choice(["+", "*"]), *random.integers(0, 5, 2)) for _ in range(size)]
        texts = [f"{a}{sign}{b}({sign}{a}{b})" for sign, a, b in chosen]
        splits[split] = [[symbol[letter] for letter in text] for text in texts]
        columns[split] = {
            "label": [int(a + b if sign == "+" else a * b) % 5 for sign, a, b in chosen],
            "depth": [0] * size, "seen": [1] * size, "infix_length": [3] * size,
        }  # fmt: skip
    corpus = write_corpus(folder, splits, 12, {}, columns)
    corpus.manifest["options"] = {"view": "both"}
    return corpus


def test_it_learns_to_evaluate_in_both_views(tmp_path):
    corpus = sums(tmp_path / "c", {"train": 800, "dev": 60, "test": 60})
    encoder = {
        "path": "model.architectures.multiview:MultiviewTransformer",
        "views": 2, "width": 32, "hidden": 64, "layers": 2, "heads": 2, "normalizer": SOFTMAX,
    }  # fmt: skip
    path = "model.architectures.multiview:MultiviewClassifier"
    spec = brief(
        {"path": path, "classes": 5, "encoder": encoder},
        part("objectives.multiview:Evaluation", depths=[0]),
        epochs=6, optimizer={"lr": 5e-3, "betas": [0.9, 0.999]}, clip=1.0,
        select={"metric": "accuracy", "mode": "max"},
    )  # fmt: skip
    found = depths(*learned(spec, corpus))
    value = values(found)
    assert min(value[name] for name in ("infix_all", "prefix_depth_0", "dev")) > 90
    assert value["majority_all"] < 50
    assert found.arrays["prefix_depth_0"][0] < 80
