"""Streams over a text: every character is predicted from those before it, in order."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.batches.batching import BOS, PAD
from model.batches.corpus import Split
from model.batches.streams import StreamSampler, streams_in_order
from tests.model.corpora import CPU, write_corpus


def split_of(folder: Path, length: int) -> Split:
    text = np.random.default_rng(length).integers(3, 9, length).tolist()
    splits = {"train": [text], "dev": [text], "test": [text]}
    return write_corpus(folder, splits, 9, {}).split("train")


def test_an_update_is_the_next_segment_of_every_stream(tmp_path):
    split = split_of(tmp_path / "text", 29)
    sampler = StreamSampler(split, {"tokens": 6}, 0, segment=3)
    assert sampler.updates_per_epoch == 4
    text = split.tokens.tolist()
    epoch = sampler.epoch(5)
    for number, update in enumerate(epoch):
        [batch] = sampler.batches(update, CPU)
        assert batch.streams.tolist() == [0, 1]
        assert (batch.before, batch.padding) == (3 * number, 0)
        for stream, start in ((0, 3 * number), (1, 12 + 3 * number)):
            assert batch.targets[stream].tolist() == text[start : start + 3]
            before = BOS if number == 0 else text[start - 1]
            assert batch.tokens[stream].tolist() == [before, *text[start : start + 2]]
    assert len(epoch) == 4


def test_micro_batches_share_the_streams(tmp_path):
    split = split_of(tmp_path / "text", 40)
    [whole] = StreamSampler(split, {"tokens": 20}, 0, segment=4).epoch(0)[1]
    sampler = StreamSampler(split, {"tokens": 20, "micro_tokens": 8}, 0, segment=4)
    parts = sampler.epoch(0)[1]
    assert [len(part) for part in parts] == [2, 2, 1]
    assert np.array_equal(np.concatenate(parts), whole)
    found = list(sampler.batches([part[1:] for part in parts[:2]], CPU))
    assert [batch.streams.tolist() for batch in found] == [[1], [3]]


@given(length=st.integers(1, 60), streams=st.integers(1, 9), segment=st.integers(1, 12))
def test_in_order_every_character_comes_once(tmp_path_factory, length, streams, segment):
    split = split_of(tmp_path_factory.mktemp("text") / "t", length)
    batches = list(streams_in_order(split, streams, segment, CPU))
    targets = torch.cat([batch.targets for batch in batches], dim=1)
    assert targets[targets != PAD].tolist() == split.tokens.tolist()
    assert sum(batch.targets.numel() - batch.padding for batch in batches) == length
    tokens = torch.cat([batch.tokens for batch in batches], dim=1)
    assert (tokens[:, 0] == BOS).all()
    inside = targets[:, 1:] != PAD
    assert torch.equal(tokens[:, 1:][inside], targets[:, :-1][inside])
    assert [batch.before for batch in batches] == [segment * n for n in range(len(batches))]


@pytest.mark.parametrize(
    ("batch", "says"),
    [
        ({"examples": 4}, "training.batch.tokens is missing; give a multiple of the segment's 4"),
        ({"tokens": 10}, "training.batch.tokens is 10; give a multiple of the segment's 4"),
        ({"tokens": 8, "micro_tokens": 2}, "training.batch.micro_tokens is 2; give a multiple"),
        ({"tokens": 800}, "the text of 40 characters is too short for 200 segments of 4"),
    ],
)
def test_a_batch_that_is_no_number_of_segments_is_told(tmp_path, batch, says):
    with pytest.raises(ValueError, match=says):
        StreamSampler(split_of(tmp_path / "text", 40), batch, 0, segment=4)
