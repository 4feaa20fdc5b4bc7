"""Beam search against the plain one, which reads every prefix anew."""

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from benchmarks.plain_search import plain_search
from model.architectures.translation.beam_search import BLOCK, Beam, candidates, largest_of
from model.architectures.translation.translator import Translator
from model.batches.batching import BOS, PAD
from model.batches.pairs import EOS
from model.layers.cached_attention import Cache
from model.layers.packing import Layout
from tests.model.translators import MECHANISMS, make, sentences, unpadded


def uncached(model: Translator, source: Tensor, source_layout: Layout):
    """log p of the next word, by the forward pass that training uses."""

    def log_p(prefixes: Tensor, rows: Tensor) -> Tensor:
        own = Layout(source_layout.real[rows])
        states = model(source[rows], own, *unpadded(prefixes)).states
        last = states.view(*prefixes.shape, -1)[:, -1]
        return model.logits(last).log_softmax(-1)

    return log_p


def plain(model: Translator, source: Tensor, layout: Layout, how: Beam):
    lengths = layout.real.sum(1).tolist()
    longest = [int(how.length_ratio * length) + how.length_extra for length in lengths]
    with torch.no_grad():
        return plain_search(uncached(model, source, layout), longest, how)


def assert_same(found, reference) -> None:
    for n, hypotheses in enumerate(reference):
        scores = found.scores[n]
        assert torch.equal(scores, scores.sort(descending=True).values)
        assert int((scores > -math.inf).sum()) == len(hypotheses)
        for rank, one in enumerate(hypotheses):
            words = [w for w in found.tokens[n, rank].tolist() if w != PAD]
            assert words == one.words
            assert float(scores[rank]) == pytest.approx(one.score, abs=1e-9)


@torch.no_grad()
def shaken(model: Translator, seed: int) -> Translator:
    """A model whose weights are moved at random."""
    torch.manual_seed(seed)
    for p in model.parameters():
        p += 0.3 * torch.randn_like(p)
    return model


def often_ending(model: Translator, seed: int) -> Translator:
    """Make EOS a likely word, so that sentences end at different steps."""
    with torch.no_grad():
        shaken(model, seed).output.mul_(2)
        model.output[EOS] += model.output.mean(0)
    return model


def assert_searches_equal(make: Callable[[], Translator], seeds: int = 3, ending=often_ending):
    """Greedy and with a beam, by whatever weights: the search is the plain one."""
    for seed in range(seeds):
        model = ending(make(), seed)
        source, layout = sentences([5, 2, 7, 4, 1])
        for how in (Beam(1), Beam(4, penalty=0.6, penalty_form="gnmt", length_extra=4)):
            assert_same(how.search(model, source, layout), plain(model, source, layout, how))


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_search_equals_the_plain_one(mechanism, norm):
    assert_searches_equal(lambda: make(mechanism, norm=norm, tie="none"))


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    beam=st.integers(1, 6),
    vocabulary=st.integers(4, 90),
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=6),
    penalty=st.floats(0, 2),
    form=st.sampled_from(["fairseq", "gnmt"]),
    ratio=st.floats(0, 1.5),
    extra=st.integers(1, 4),
)
# In single precision the ratio would be 1.5.
@example(0, 1, 4, [2], 0.0, "fairseq", 1.4999999999999998, 1)
def test_the_search_equals_the_plain_one_whatever_its_settings(
    seed, beam, vocabulary, lengths, penalty, form, ratio, extra
):
    torch.manual_seed(seed)
    model = often_ending(make("softmax", vocabulary, tie="none", layers=1), seed)
    source, layout = sentences(lengths, vocabulary)
    how = Beam(beam, penalty, form, ratio, extra)
    found = how.search(model, source, layout)
    assert_same(found, plain(model, source, layout, how))
    for text, length in zip(found.best(), lengths, strict=True):
        assert len(text) + 1 <= int(ratio * length) + extra
        assert not {PAD, BOS, EOS} & set(text)


def assert_steps_follow(model: Translator, before: Tensor) -> None:
    """Two beams go on from those before (2, 2, one-hot) at each step, as the whole prefix does."""
    source, source_layout = sentences([5, 3])
    encoding = model.encode(source, source_layout)
    words = torch.randint(3, 20, (2, 2, 6))
    caches, layout = model.caches(12), Layout(torch.ones(2, 2, dtype=torch.bool))
    for t in range(6):
        seen = torch.cat([before.repeat(1, t), torch.eye(2)], 1).double().log()
        mask = seen.expand(2, 1, 2, 2 * t + 2)
        states = model.step(words[:, :, t], t, layout, encoding, caches, mask).view(2, 2, -1)
        for beam, origin in enumerate(before.argmax(1)):
            prefix = torch.cat([words[:, origin, :t], words[:, beam, t : t + 1]], 1)
            whole = model(source, source_layout, *unpadded(prefix)).states
            assert torch.allclose(states[:, beam], whole.view(2, t + 1, -1)[:, -1], atol=1e-10)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@torch.no_grad()
def test_a_step_with_the_cache_equals_the_whole_prefix(mechanism):
    """Top-k must count the visible keys alone: two beams share the cache, half of it is hidden."""
    assert_steps_follow(make(mechanism), before=torch.eye(2))


@given(st.integers(1, 5), st.integers(1, 12), st.integers(12, 40 * BLOCK), st.integers(0, 99))
def test_the_largest_of_long_rows(rows, count, width, seed):
    x = torch.randn(rows, width, generator=torch.Generator().manual_seed(seed))
    values, columns = largest_of(x, count)
    assert torch.equal(values, x.topk(count).values)
    assert torch.equal(x.gather(1, columns), values)


def test_penalties_by_hand():
    assert Beam(penalty=0).divisor(9) == 1
    assert Beam(penalty=2.0).divisor(3) == 9
    assert Beam(penalty=0.6, penalty_form="gnmt").divisor(7) == pytest.approx(2**0.6)


def test_the_length_is_bounded_by_the_models_positions():
    model = make("softmax", max_length=5)
    found = Beam(2, length_ratio=3).search(model, *sentences([4, 2]))
    assert found.tokens.shape[2] == 5


def test_a_translation_may_be_empty():
    """Where the end is by far the likeliest first word; fairseq-generate would write another."""
    model = make("softmax", tie="none")
    source, layout = sentences([4, 2])
    states = model(source, layout, torch.full((2, 1), BOS), Layout(torch.ones(2, 1).bool())).states
    with torch.no_grad():
        model.output[EOS] = 50 * states.view(2, -1).mean(0)
    assert Beam(2).search(model, source, layout).best() == [[], []]


def test_a_cache_keeps_the_order_and_drops_sentences():
    cache = Cache(6)
    first, second = torch.randn(3, 2, 2, 4), torch.randn(3, 2, 2, 4)
    assert torch.equal(cache.append(first)[0], first)
    assert torch.equal(cache.append(second)[0], torch.cat([first, second], 2))
    cache.select(torch.tensor([2, 0]))
    third = torch.randn(2, 2, 2, 4)
    expected = torch.cat([first[[2, 0]], second[[2, 0]], third], 2)
    assert torch.equal(cache.append(third)[0], expected)


def test_candidates_are_log_probabilities_without_pad_and_bos():
    logits = torch.randn(3, 16).double() * 5
    expected = logits[:, :9].log_softmax(-1)
    values, words = candidates(logits.clone(), 7, vocabulary=9)
    assert torch.allclose(values, expected.gather(1, words))
    assert words[:, -1].tolist() == [EOS] * 3
    for row in range(3):
        assert sorted(words[row, :-1].tolist()) == [2, 3, 4, 5, 6, 7, 8]
