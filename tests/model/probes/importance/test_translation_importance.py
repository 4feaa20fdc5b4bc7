"""Tau on translations, against finite differences, slow loops and scipy."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.architectures.translation.two_stream import TwoStreamEncoderDecoder
from model.batches.pairs import collate_pairs
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.probes.importance.translation import (
    evenly_spaced,
    prediction_scores,
    translation_importance,
)
from model.probes.measure import Subject
from tests.model.corpora import CPU
from tests.model.parallel import write_parallel
from tests.model.translators import read_by

MODELS = {
    "soft": (EncoderDecoder, Softmax),
    "discrete": (EncoderDecoder, Gumbel),
    "two streams": (TwoStreamEncoderDecoder, Gumbel),
}


@pytest.fixture
def corpus(tmp_path):
    random = np.random.default_rng(0)

    def text(low):
        return " ".join(random.choice(list("abcdef"), random.integers(low, 8)))

    pairs = [(text(2), text(1)) for _ in range(12)]
    return write_parallel(tmp_path / "c", {"train": pairs, "test": pairs})


@pytest.fixture(params=MODELS)
def model(request, corpus):
    kind, normalizer = MODELS[request.param]
    torch.manual_seed(0)
    return kind(len(corpus.vocabulary), 8, 16, 2, 2, normalizer()).double().eval()


def positions(model, corpus, examples):
    batch = collate_pairs(corpus.split("test"), np.array(examples))
    return batch, list(prediction_scores(model, batch))


def test_importance_is_the_gradient_of_each_prediction(model, corpus):
    """Batched with padding equals one sentence at a time, by finite differences of y_hat.

    Steps are so small that none crosses a corner of the feed-forward networks.
    """
    _, together = positions(model, corpus, range(4))
    split, step = corpus.split("test"), 1e-7
    for example in range(4):
        alone = collate_pairs(split, np.array([example]))
        h0 = model.source(alone.source).detach()
        length, size = alone.tokens.shape[1] - 1, h0.numel()
        shifts = step * torch.eye(size, dtype=h0.dtype).view(size, *h0.shape[1:])
        batch = collate_pairs(split, np.full(2 * size + 1, example))
        out = model(*read_by(batch), h0=torch.cat([h0, h0 + shifts, h0 - shifts]))
        p = model.logits(out.states).detach().softmax(-1).view(2 * size + 1, length, -1)
        y_hat = p.gather(2, p[:1].argmax(-1, keepdim=True).expand(len(p), -1, -1)).squeeze(2)
        slopes = (y_hat[1 : size + 1] - y_hat[size + 1 :]) / (2 * step)
        expected = slopes.view(*h0.shape[1:], length).norm(dim=1)  # (S, T)
        for position in range(length):
            found = together[position].norm[example, : h0.shape[1]]
            assert torch.allclose(found, expected[:, position], atol=1e-7)
        predicted = [bool(scores.predicted[example]) for scores in together]
        assert predicted == [position < length for position in range(len(together))]


def test_attention_is_summed_over_what_leads_to_the_prediction(model, corpus):
    batch, found = positions(model, corpus, range(5))
    weights = model(*read_by(batch), need_weights=True).weights
    for row in range(5):
        source = int(batch.source_layout.real[row].sum())
        for position in range(int(batch.layout.real[row].sum())):
            for token in range(source):
                own = [w[row, :, position, token] for w in weights.cross]
                led = [w[row, :, : position + 1, token] for w in weights.cross]
                led += [w[row, :, :source, token] for w in weights.encoder]
                scores = found[position]
                for one, parts in ((scores.cross, own), (scores.attention, led)):
                    total = sum(float(part.detach().sum()) for part in parts)
                    assert float(one[row, token]) == pytest.approx(total)


def test_tau_is_scipys_averaged_over_the_predictions_of_a_sentence(model, corpus):
    measured = translation_importance(Subject(model, corpus, CPU, 0), tokens=20)
    assert measured.arrays["sentence"] == list(range(12))
    for name, field in (("tau_norm", "attention"), ("tau_norm_cross", "cross")):
        means, undefined = [], 0
        for example in range(12):
            batch, scores = positions(model, corpus, [example])
            words = int(batch.source_layout.real.sum()) - 1  # EOS is left out
            taus = [
                kendalltau(
                    getattr(one, field)[0, :words].detach().numpy(),
                    one.norm[0, :words].detach().numpy(),
                ).statistic
                for one in scores
            ]
            known = [tau for tau in taus if not math.isnan(tau)]
            undefined += len(taus) - len(known)
            means.append(np.mean(known) if known else math.nan)
        found = measured.arrays[name]
        assert [t is None for t in found] == [math.isnan(mean) for mean in means]
        defined = [mean for mean in means if not math.isnan(mean)]
        assert [t for t in found if t is not None] == pytest.approx(defined, abs=1e-4)
        if defined:
            assert measured.scalars[name]["value"] == pytest.approx(np.mean(defined), abs=1e-4)
        if len(defined) > 1:
            spread = measured.scalars[name]["std"]
            assert spread == pytest.approx(np.std(defined, ddof=1), abs=1e-4)
        assert measured.scalars[f"undefined_{name}"]["value"] == undefined


@given(st.integers(1, 60), st.integers(1, 60))
def test_sentences_are_evenly_spaced(count, wanted):
    chosen = evenly_spaced(count, wanted).tolist()
    assert len(chosen) == min(count, wanted)
    assert chosen[0] == 0 and chosen[-1] < count
    gaps = {b - a for a, b in itertools.pairwise(chosen)}
    assert not gaps or (min(gaps) >= 1 and max(gaps) - min(gaps) <= 1)


def test_some_sentences_stand_for_all(corpus):
    torch.manual_seed(0)
    model = EncoderDecoder(len(corpus.vocabulary), 8, 16, 2, 2, Softmax()).eval()
    subject = Subject(model, corpus, CPU, 0)
    whole, part = translation_importance(subject), translation_importance(subject, sentences=3)
    assert part.arrays["sentence"] == [0, 4, 8]
    expected = [whole.arrays["tau_norm"][n] for n in (0, 4, 8)]
    assert part.arrays["tau_norm"] == pytest.approx(expected, abs=1e-4)
