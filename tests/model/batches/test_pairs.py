"""Batches of sentence pairs: nothing lost, little padded, resumable."""

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.batches.batching import BOS, PAD, plan_batches
from model.batches.corpus import Split
from model.batches.pairs import (
    EOS,
    PairSampler,
    bucketed,
    collate_pairs,
    pair_lengths,
    pairs_in_order,
)
from model.layers.packing import Layout
from tests.model.translators import write_pairs

MULTI30K = Path(__file__).parents[4] / "shared/data/multi30k"


def padding_efficiency(lengths: np.ndarray, tokens: int) -> float:
    """Share of real tokens in the batches of one epoch, both sides."""
    order = bucketed(lengths, np.random.default_rng(0).permutation(len(lengths)), tokens)
    batches = plan_batches(lengths.max(axis=1), order, {"tokens": tokens})
    places = sum(len(b) * int(lengths[b, 0].max() + lengths[b, 1].max()) for b in batches)
    return int(lengths.sum()) / places


def test_a_batch_by_hand(tmp_path):
    split = write_pairs(tmp_path, [([5, 6, 7], [8]), ([9], [10, 11])])
    batch = collate_pairs(split, np.array([1, 0]))
    assert batch.source.tolist() == [[9, EOS, PAD, PAD], [5, 6, 7, EOS]]
    assert batch.tokens.tolist() == [[BOS, 10, 11, EOS], [BOS, 8, EOS, PAD]]
    assert batch.source_layout.real.tolist() == [[True, True, False, False], [True] * 4]
    assert batch.layout.real.tolist() == [[True] * 3, [True, True, False]]
    assert batch.layout.pack(batch.tokens[:, 1:]).tolist() == [10, 11, EOS, 8, EOS]
    assert batch.layout.columns.tolist() == [0, 1, 2, 0, 1]
    assert batch.padding == 1
    assert batch.examples.tolist() == [1, 0]


@given(st.data())
def test_a_layout_splits_and_merges_like_a_loop(data):
    lengths = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    heads, parts = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    real = torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]
    layout = Layout(real)
    x = torch.randn(sum(lengths), parts * heads * 2, dtype=torch.double, requires_grad=True)
    split = layout.split(x, heads, parts)
    row = 0
    for b, length in enumerate(lengths):
        for t in range(length):
            for part in range(parts):
                for head in range(heads):
                    start = (part * heads + head) * 2
                    assert torch.equal(split[part][b, head, t], x[row, start : start + 2])
            row += 1
    assert torch.equal(layout.merge(split[0]), x[:, : heads * 2])
    # What is read at padding counts for nothing, forwards and backwards.
    scale = torch.randn_like(split[0]).masked_fill(~real[:, None, :, None], 1e9)
    layout.merge(split[-1] * scale).sum().backward()
    expected = torch.zeros_like(x)
    expected[:, (parts - 1) * heads * 2 :] = layout.merge(scale)
    assert torch.equal(x.grad, expected)


def test_every_pair_once_and_epochs_differ_but_repeat(tmp_path):
    random = np.random.default_rng(0)
    pairs = [
        (random.integers(4, 9, random.integers(1, 12)), random.integers(4, 9, 3 + n % 5))
        for n in range(300)
    ]
    split = write_pairs(tmp_path, pairs)
    sampler = PairSampler(split, {"tokens": 120, "micro_tokens": 40}, seed=3)
    epochs = [sampler.epoch(e) for e in range(3)]
    for epoch in epochs:
        assert len(epoch) == sampler.updates_per_epoch
        together = np.concatenate([micro for update in epoch for micro in update])
        assert sorted(together.tolist()) == list(range(300))
        for update in epoch:
            assert all(len(m) * sampler.lengths[m].max() <= 40 for m in update if len(m) > 1)
            assert len(update) <= 3
    flat = [[m.tolist() for u in epoch for m in u] for epoch in epochs]
    assert flat[0] != flat[1]
    again = PairSampler(split, {"tokens": 120, "micro_tokens": 40}, seed=3).epoch(1)
    assert [m.tolist() for u in again for m in u] == flat[1]
    (batch,) = sampler.batches(epochs[0][0][:1], torch.device("cpu"))
    assert batch.examples.tolist() == epochs[0][0][0].tolist()
    seen = [n for b in pairs_in_order(split, 120, torch.device("cpu")) for n in b.examples]
    assert sorted(seen) == list(range(300))
    by_examples = PairSampler(split, {"examples": 7}, seed=0)
    assert {len(u[0]) for u in by_examples.epoch(0)} == {7, 300 % 7}


def test_little_is_padding_at_lengths_like_iwslt():
    from benchmarks.made_up import made_up_pairs

    assert padding_efficiency(pair_lengths(made_up_pairs()), 4096) >= 0.92


@pytest.mark.skipif(not MULTI30K.is_dir(), reason="the mirror of the data is not here")
def test_little_is_padding_at_the_lengths_of_multi30k():
    sides = []
    for side in ("de", "en"):
        with gzip.open(MULTI30K / f"train.{side}.gz", "rt") as lines:
            sides.append([len(line.split()) + 1 for line in lines])
    assert padding_efficiency(np.array(sides).T, 4096) >= 0.92


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=60))
def test_bucketing_is_a_permutation_by_lengths_alone(lengths):
    table = np.array(lengths)
    one = bucketed(table, np.arange(len(table)), 50)
    two = bucketed(table, np.random.default_rng(0).permutation(len(table)), 50)
    assert sorted(one.tolist()) == list(range(len(table)))
    assert table[one].tolist() == table[two].tolist()


def test_bad_corpora_are_told(tmp_path):
    split = write_pairs(tmp_path / "a", [([5], [6]), ([7], [8])])
    split.columns = {}
    with pytest.raises(ValueError, match="no column 'source'"):
        pair_lengths(split)
    write_pairs(tmp_path / "b", [([5], [6]), ([7], [8])])
    np.save(tmp_path / "b/pairs/train.source.npy", np.array([2, 4], np.int32))
    with pytest.raises(ValueError, match="pair 1 of the corpus has an empty side"):
        PairSampler(Split(tmp_path / "b/pairs", "train"), {"tokens": 10}, 0)
