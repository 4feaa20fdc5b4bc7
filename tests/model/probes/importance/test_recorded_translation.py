"""Recorded translations: a hand-made model's weights, words and gradients."""

import numpy as np
import pytest
import torch

from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.batches.pairs import collate_pairs
from model.normalizers.softmax import Softmax
from model.probes.importance.recorded_translation import _rounded, recorded_translation
from model.probes.importance.translation import prediction_scores
from model.probes.measure import Subject
from tests.model.corpora import CPU
from tests.model.parallel import write_parallel

TEST = [("a b c d", "a"), ("a b", "c d b"), ("c", "a")]


@pytest.fixture
def corpus(tmp_path):
    return write_parallel(tmp_path / "c", {"train": TEST, "test": TEST})


@pytest.fixture
def model(corpus):
    torch.manual_seed(0)
    return EncoderDecoder(len(corpus.vocabulary), 8, 12, 2, 2, Softmax()).double().eval()


def test_even_weights_and_one_word_by_hand(corpus, model):
    """Without queries every score is 0: each token attends evenly to all that it may see."""
    with torch.no_grad():
        for name, one in model.named_parameters():
            if "project" in name or "query" in name:
                one.zero_()
    found = recorded_translation(Subject(model, corpus, CPU, 0), sentences=1, longest=3)
    arrays = found.arrays
    assert found.scalars == {}
    assert arrays["source"] == [["a", "b", "<eos>"]]
    assert arrays["target"] == [["c", "d", "b", "<eos>"]]
    (encoder,), (decoder,), (cross,) = arrays["encoder"], arrays["decoder"], arrays["cross"]
    assert encoder == [[[[0.333] * 3] * 3] * 2] * 2
    assert cross == [[[[0.333] * 3] * 4] * 2] * 2
    seen = [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.333, 0.333, 0.333, 0], [0.25] * 4]
    assert decoder == [[seen] * 2] * 2


def test_only_a_weight_of_0_is_0():
    weights = torch.tensor([[0.0, 0.00012345], [1.0, 0.98765]])
    assert _rounded(weights) == [[0, 0.000123], [1, 0.988]]


def test_words_and_importance_are_those_of_each_prediction(corpus, model):
    arrays = recorded_translation(Subject(model, corpus, CPU, 0), longest=3).arrays
    assert [len(one) for one in arrays["source"]] == [3, 2]
    for place, example in enumerate((1, 2)):
        batch = collate_pairs(corpus.split("test"), np.array([example]))
        states, _ = model(batch.source, batch.source_layout, batch.tokens[:, :-1], batch.layout)
        best = model.logits(states).argmax(-1).tolist()
        assert arrays["predicted"][place] == [corpus.vocabulary[word] for word in best]
        norms = [one.norm[0].tolist() for one in prediction_scores(model, batch)]
        assert np.allclose(arrays["importance"][place], norms, rtol=6e-3, atol=0)
