"""Batches: nothing lost, nothing twice, limits kept, order a function of seed and epoch."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.batches.batching import BOS, PAD, Sampler, collate, in_order, plan_batches, plan_updates

LENGTHS = st.lists(st.integers(1, 30), min_size=1, max_size=60).map(np.array)


@given(LENGTHS, st.integers(1, 80), st.sampled_from(["examples", "tokens"]), st.integers(0, 99))
def test_batches_hold_every_example_once_within_the_limit(lengths, limit, kind, seed):
    order = np.random.default_rng(seed).permutation(len(lengths))
    batches = plan_batches(lengths, order, {kind: limit})
    assert np.concatenate(batches).tolist() == order.tolist()
    for batch in batches:
        size = len(batch) if kind == "examples" else lengths[batch].max() * len(batch)
        assert size <= limit or len(batch) == 1
    # By length, they are as large as the limit allows.
    batches = plan_batches(lengths, np.argsort(lengths, kind="stable"), {"tokens": limit})
    for batch, following in itertools.pairwise(batches):
        assert (len(batch) + 1) * lengths[following[0]] > limit


def test_collate_equals_a_loop(keywords):
    split = keywords.split("train")
    examples = np.array([5, 0, 17])
    batch = collate(split, examples)
    for row, example in enumerate(examples):
        inside = slice(split.offsets[example], split.offsets[example + 1])
        own = split.tokens[inside].tolist()
        rest = batch.tokens.shape[1] - 1 - len(own)
        assert batch.tokens[row].tolist() == [BOS, *own, *[PAD] * rest]
        assert batch.real[row].tolist() == [True] * (1 + len(own)) + [False] * rest
        assert batch.columns["label"][row] == split.columns["label"][example]
        salient = split.columns["salient"][inside].tolist()
        assert batch.columns["salient"][row].tolist() == [0, *salient, *[0] * rest]
    assert batch.padding == int((~batch.real).sum())


@pytest.mark.parametrize("limit", [{"examples": 32}, {"tokens": 150}])
def test_epochs_are_shuffled_by_seed_and_epoch_and_have_one_length(keywords, limit):
    split = keywords.split("train")
    sampler = Sampler(split, limit, seed=3)

    def flat(s: Sampler, epoch: int) -> list[int]:
        return [int(n) for update in s.epoch(epoch) for batch in update for n in batch]

    assert sorted(flat(sampler, 0)) == list(range(len(split)))
    assert flat(sampler, 2) == flat(Sampler(split, limit, seed=3), 2)
    assert flat(sampler, 0) != flat(sampler, 1)
    assert flat(sampler, 0) != flat(Sampler(split, limit, seed=4), 0)
    assert {len(sampler.epoch(e)) for e in range(5)} == {sampler.updates_per_epoch}


def test_micro_batches_split_an_update_without_changing_it(keywords):
    split = keywords.split("train")
    whole = Sampler(split, {"examples": 20}, seed=0).epoch(0)
    parts = Sampler(split, {"examples": 20, "micro_tokens": 40}, seed=0).epoch(0)
    for joined, split_up in zip(whole, parts, strict=True):
        assert np.concatenate(split_up).tolist() == np.concatenate(joined).tolist()
    assert max(len(u) for u in parts) > 1
    lengths = split.lengths + 1
    assert all(lengths[b].max() * len(b) <= 40 for u in parts for b in u)


def test_an_update_of_micro_batches_is_a_mixture_of_lengths():
    """Each micro-batch has one length, but updates have the mean of all, as shuffled batches do."""
    lengths, random = np.repeat(np.arange(5, 25), 200), np.random.default_rng(0)
    updates = plan_updates(
        lengths,
        {"tokens": 2000, "micro_tokens": 100},
        random,
        lambda order, _: order[np.argsort(lengths[order], kind="stable")],
    )
    assert sorted(np.concatenate([m for u in updates for m in u])) == list(range(4000))
    assert {len(update) for update in updates[:-1]} == {20}
    assert all(lengths[m].max() * len(m) <= 100 for u in updates for m in u)
    assert np.mean([np.ptp(lengths[m]) for u in updates for m in u]) < 1
    means = [lengths[np.concatenate(update)].mean() for update in updates[:-1]]
    assert np.std(means) < lengths.std() / 2


def test_in_order_visits_a_split_once(keywords):
    batches = in_order(keywords.split("test"), 100, torch.device("cpu"))
    assert sorted(n for batch in batches for n in batch.examples) == list(range(80))
