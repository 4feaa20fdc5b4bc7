"""The recurrent translator against slow loops, its search, and a tiny training."""

import numpy as np
import pytest
import torch

from model.architectures.translation.beam_search import Beam
from model.architectures.translation.recurrent import RecurrentTranslator, enclosed
from model.batches.batching import BOS
from model.batches.pairs import EOS, collate_pairs
from model.normalizers.softmax import Softmax
from model.normalizers.uniform import Uniform
from model.objectives.translation import Translation
from tests.model.architectures.translation.test_decoding import assert_searches_equal, shaken
from tests.model.translators import make as make_transformer
from tests.model.translators import sentences, sides, write_pairs

SIZES = {"width": 6, "hidden": 5, "layers": 2, "dropout": 0.0}


def make(vocabulary=20, normalizer=None, convex=False):
    """A tiny model in double precision, in evaluation mode."""
    kind = {"normalizer": normalizer or Softmax(), "convex": convex}
    return RecurrentTranslator(vocabulary, **SIZES, **kind).double().eval()


def slowly(model, source, target):
    """p of every next word (T, V) of one pair of sentences, and alpha, by the equations."""
    embed = model.embedding.weight
    read = [BOS, *source]
    h, (last_h, last_c) = model.encoder(embed[read][None])
    start = [
        torch.stack([(part[2 * n] + part[2 * n + 1]) / 2 for n in range(2)])
        for part in (last_h, last_c)
    ]
    s, _ = model.decoder(embed[target][None], tuple(start))
    weight, bias = model.output_weight[:, :-1], model.output_weight[:, -1]
    rows, attention = [], []
    for state in s[0]:
        scores = torch.stack([model.query(state) @ one for one in h[0]])
        alpha = scores.softmax(0)
        if isinstance(model.normalizer, Uniform):
            alpha = torch.full_like(scores, 1 / len(read))
        context = model.context(sum(a * one for a, one in zip(alpha, h[0], strict=True)))
        if model.combine is None:
            hidden = state + context
        else:
            hidden = torch.relu(model.combine(torch.cat([state, context])))
        rows.append((weight @ hidden + bias).softmax(0))
        attention.append(alpha)
    return torch.stack(rows), torch.stack(attention)


@pytest.mark.parametrize("normalizer", [Softmax(), Uniform()])
@pytest.mark.parametrize("convex", [False, True])
@torch.no_grad()
def test_predictions_equal_a_slow_loop_and_padding_changes_nothing(normalizer, convex):
    """One word after the other (snell2021 eq. 1, 2, 28)."""
    model = make(normalizer=normalizer, convex=convex)
    inputs = source, _, target, _ = sides([4, 1, 6], [3, 5, 2])
    target[:, 0] = BOS
    states, weights = model(*inputs)
    p = model.logits(states).softmax(-1)
    first = 0
    for n, (length, words) in enumerate(((4, 3), (1, 5), (6, 2))):
        expected, alpha = slowly(model, source[n, :length].tolist(), target[n, :words].tolist())
        assert torch.allclose(p[first : first + words], expected, atol=1e-12)
        found = weights.cross[0][n, 0, :words]
        assert torch.allclose(found[:, : length + 1], alpha, atol=1e-12)
        assert not found[:, length + 1 :].any()
        first += words


def test_the_loss_has_its_gradient():
    """Of every parameter, by finite differences."""
    model = make(8)
    source, source_layout = sentences([3, 1], 8)
    target, layout = sentences([2, 4], 8)
    parameters = dict(model.named_parameters())

    def loss(*values):
        given = dict(zip(parameters, values, strict=True))
        inputs = (source, source_layout, target, layout)
        states = torch.func.functional_call(model, given, inputs).states
        return (states @ given["output_weight"].T).log_softmax(-1)[:, 3].sum()

    # The numerical gradient of ReLU fails at its kink alone.
    assert torch.autograd.gradcheck(loss, tuple(parameters.values()), fast_mode=True)


def often_ending(model, seed):
    """Make EOS a likely word, so that sentences end at different steps."""
    with torch.no_grad():
        shaken(model, seed).output_weight[EOS] += 0.5 * model.output_weight.std()
    return model


@pytest.mark.parametrize("convex", [False, True])
def test_the_search_equals_the_plain_one(convex):
    assert_searches_equal(lambda: make(convex=convex), ending=often_ending)


def test_the_source_is_read_between_bos_and_eos():
    source, layout = sentences([2, 3])
    words, inside = enclosed(source, layout)
    assert words[:, 0].tolist() == [BOS, BOS] and torch.equal(words[:, 1:], source)
    assert inside.real.tolist() == [[True, True, True, False], [True] * 4]


@pytest.mark.parametrize(
    "model",
    [
        RecurrentTranslator(20, **SIZES, normalizer=Softmax(), max_length=4),
        make_transformer("softmax", max_length=4),
    ],
    ids=["recurrent", "transformer"],
)
def test_a_side_that_is_too_long_is_a_sentence(model):
    for side, lengths in (("source", ([5], [4])), ("target", ([4], [5]))):
        with pytest.raises(ValueError, match=rf"a {side} of 5 tokens is longer .* max_length 4"):
            model(*sides(*lengths))


@pytest.mark.parametrize("convex", [False, True])
def test_it_learns_to_turn_sentences_round(convex, tmp_path):
    """Train, translate, score; the attention has learned where to look."""
    random = np.random.default_rng(0)
    texts = [random.permutation(np.arange(4, 9))[: random.integers(2, 5)] for _ in range(60)]
    pairs = [(text.tolist(), text[::-1].tolist()) for text in texts]
    batch = collate_pairs(write_pairs(tmp_path, pairs), np.arange(60))
    kind = {"normalizer": Softmax(), "dropout": 0.1, "convex": convex}
    model = RecurrentTranslator(9, 16, 32, 2, **kind).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, fused=True)
    for _ in range(150):
        optimizer.zero_grad()
        Translation(0.0).loss(model, batch, 0).mean.backward()
        optimizer.step()
    found = Beam(1).search(model.eval(), batch.source, batch.source_layout).best()
    right = sum(one == list(text[::-1]) for one, text in zip(found, texts, strict=True))
    assert right >= 50
