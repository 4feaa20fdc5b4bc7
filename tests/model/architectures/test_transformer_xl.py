"""Transformer-XL: relative positions, memory, what is saved of it, and that it learns."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from model.architectures.transformer_xl import (
    RelativeAttention,
    TransformerXL,
    relative_scores,
    sinusoids,
)
from model.batches.batching import BOS
from model.batches.corpus import Corpus
from model.build import build
from model.normalizers.entmax15 import Entmax15
from model.normalizers.softmax import Softmax
from model.normalizers.topk import TopK
from tests.model.compare import close
from tests.model.corpora import CPU, resumed_alike, run, write_corpus
from tests.model.specs import SOFTMAX, part, shape, tiny

V = 11


def small(normalizer=None, norm="post", memory=8, layers=2, dropout=0.0):
    return TransformerXL(
        V, 16, 32, layers, 2, normalizer or Softmax(), memory, 3, norm, dropout
    ).double()


def slow_scores(content, distance):
    """Both terms of each query and key, looked up one by one."""
    found = torch.full_like(content, -math.inf)
    rows, keys = content.shape[-2:]
    for i in range(rows):
        for j in range(keys - rows + i + 1):
            back = keys - rows + i - j
            found[..., i, j] = content[..., i, j] + distance[..., i, keys - 1 - back]
    return found


@given(rows=st.integers(1, 7), memory=st.integers(0, 6), seed=st.integers(0, 99))
def test_the_shift_equals_a_slow_loop(rows, memory, seed):
    torch.manual_seed(seed)
    shape = (2, 3, rows, memory + rows)
    parts = [torch.randn(shape, dtype=torch.double, requires_grad=True) for _ in range(2)]
    gradients, outer = [], torch.randn(shape, dtype=torch.double)
    for way in (relative_scores, slow_scores):
        scores = way(*parts)
        weights = scores.softmax(dim=-1)
        gradients.append((scores, *torch.autograd.grad((weights * outer).sum(), parts)))
    assert close(*gradients, atol=1e-12)


def test_attention_equals_the_papers_equation():
    torch.manual_seed(0)
    attention = RelativeAttention(6, 2, Softmax()).double()
    x, r = torch.randn(1, 5, 6).double(), sinusoids(torch.arange(4, -1, -1), 6).double()
    u, v = torch.randn(2, 6).double()
    found = attention(x[:, 2:], x, r, u, v)
    key, value = attention.key_value.weight.chunk(2)
    for i in range(3):
        read = []
        for head in (slice(0, 3), slice(3, 6)):
            q = (attention.query.weight @ x[0, 2 + i])[head]
            scores = [
                (q + u[head]) @ (key @ x[0, j])[head]
                + (q + v[head]) @ (attention.position.weight @ r[4 - (2 + i - j)])[head]
                for j in range(2 + i + 1)
            ]
            weights = torch.stack(scores).div(math.sqrt(3)).softmax(dim=0)
            read.append(sum(w * (value @ x[0, j])[head] for j, w in enumerate(weights)))
        assert torch.allclose(found[0, i], attention.output.weight @ torch.cat(read))


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("normalizer", [Softmax(), TopK(3), Entmax15()])
def test_segments_with_a_memory_of_all_equal_one_long_pass(normalizer, norm):
    model = small(normalizer, norm, memory=99).eval()
    tokens = torch.randint(1, V, (2, 13))
    whole = model(tokens)
    memory, parts = None, []
    for segment in tokens.split([4, 1, 6, 2], dim=1):
        read = model(segment, memory)
        memory = read.memory
        parts.append(read.logits)
    assert torch.allclose(torch.cat(parts, dim=1), whole.logits, atol=1e-9)
    assert torch.allclose(memory, whole.memory)


def test_a_short_memory_forgets_and_a_far_distance_counts_as_the_furthest():
    model = small(layers=1).eval()
    tokens = torch.randint(1, V, (1, 9))
    other = tokens.clone()
    other[0, 0] = (tokens[0, 0] + 1) % V
    for keep, equal in ((7, True), (8, False)):
        pair = [model(t[:, 8:], model(t[:, :8], keep=keep).memory).logits for t in (tokens, other)]
        assert torch.equal(*pair) == equal
    near, far = (model(tokens, furthest=n).logits for n in (2, None))
    assert torch.allclose(near[:, :3], far[:, :3])
    assert not torch.allclose(near, far)
    assert torch.allclose(model(tokens, furthest=8).logits, far)


def test_no_gradient_flows_into_the_memory():
    model = small()
    assert not model(torch.randint(1, V, (2, 4))).memory.requires_grad


@settings(max_examples=25)
@given(place=st.integers(1, 9), seed=st.integers(0, 99), k=st.integers(1, 9))
def test_a_prediction_ignores_the_future(place, seed, k):
    torch.manual_seed(seed)
    model = small(TopK(k)).eval()
    memory = model(torch.randint(1, V, (2, 5))).memory
    tokens = torch.randint(1, V, (2, 10))
    changed = tokens.clone()
    changed[:, place:] = torch.randint(1, V, (2, 10 - place))
    pair = [model(t, memory).logits[:, :place] for t in (tokens, changed)]
    assert torch.equal(*pair)


def test_streams_are_remembered_by_their_numbers():
    model = small(memory=4)
    shown = torch.randn(2, 2, 3, 16).double()
    model.remember(torch.tensor([2, 0]), shown)
    assert torch.equal(model.recall(torch.tensor([0]), before=3), shown[:, 1:])
    assert model.recall(torch.tensor([2, 0]), before=0).shape == (2, 2, 0, 16)
    assert not model.recall(torch.tensor([1]), before=9).any()
    with pytest.raises(ValueError, match=r"more streams than model\.streams, which is 3: make it"):
        model.recall(torch.tensor([3]), before=0)


@pytest.fixture
def copies(tmp_path) -> Corpus:
    """Words of four letters, each written twice; only the first time they can't be told."""
    torch.manual_seed(1)

    def text(blocks):
        words = torch.randint(4, V, (blocks, 4))
        marks = torch.full((blocks, 1), 3)
        return [torch.cat([words, words, marks], dim=1).flatten().tolist()]

    splits = {"train": text(1500), "dev": text(40), "test": text(40)}
    return write_corpus(tmp_path / "copies", splits, V, {"entropy_floor": 4 * math.log(7) / 9})


@pytest.fixture
def spec():
    """A tiny Transformer-XL whose segment does not hold a word and its copy."""
    more = {"normalizer": SOFTMAX, "memory": 8, "streams": 16, "norm": "pre", "dropout": 0.0}
    model = part("architectures.transformer_xl:TransformerXL", **shape(32, 64, 2), **more)
    objective = part("objectives.stream_modelling:StreamModelling", segment=4)
    return tiny(
        model, objective, epochs=4, batch={"tokens": 64}, clip=1.0,
        optimizer={"lr": 5e-3, "betas": [0.9, 0.98]}, schedule={"name": "cosine", "warmup": 20},
    )  # fmt: skip


@pytest.mark.parametrize("normalizer", ["softmax:Softmax", "topk:TopK"])
def test_it_learns_what_only_its_memory_holds(copies, spec, normalizer):
    spec["model"]["normalizer"] = part(f"normalizers.{normalizer}")
    spec["training"]["optimizer"]["lr"] = 1e-2
    trained = run(spec, copies)
    floor = copies.manifest["statistics"]["entropy_floor"]
    last = [row["loss"] for row in trained.progress.rows if row["split"] == "dev"][-1]
    assert floor - 0.02 < last < floor + 0.15, "without a memory it is .86 more"


def test_resuming_is_bit_identical(copies, spec):
    spec["model"]["dropout"] = 0.1
    spec["training"] |= {"epochs": 1}
    resumed_alike(spec, copies, 1, 37, 210)


def test_micro_batches_make_the_update_of_the_whole(copies, spec):
    spec["training"] |= {"epochs": None, "updates": 5}
    whole = run(spec, copies)
    spec["training"]["batch"]["micro_tokens"] = 20
    parts = run(spec, copies)
    assert close(whole.weights, parts.weights, atol=2e-4)


def test_a_stream_begins_without_memory_in_every_epoch(copies, spec):
    """What dev left behind, or the end of the last epoch, is nothing that a stream remembers."""
    objective = build(spec["objective"])
    model = build(spec["model"], vocabulary_size=V)
    model.past.fill_(1e3)
    [update] = objective.sampler(copies.split("train"), spec["training"]["batch"], 0).epoch(1)[:1]
    [batch] = objective.sampler(copies.split("train"), {"tokens": 64}, 0).batches(update, CPU)
    assert (batch.tokens[:, 0] == BOS).all()
    expected = model(batch.tokens).logits
    loss = torch.nn.functional.cross_entropy(expected.flatten(0, 1), batch.targets.flatten())
    assert torch.equal(objective.loss(model, batch, 1.0).mean, loss)


def test_norm_before_each_sub_layer_ends_in_a_layer_norm():
    """Which the released code does not have, and norm behind each sub-layer does not need."""
    assert isinstance(small(norm="pre").norm, nn.LayerNorm)
    assert isinstance(small(norm="post").norm, nn.Identity)
