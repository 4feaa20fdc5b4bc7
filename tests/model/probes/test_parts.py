"""Small parts: building from a spec, reading a corpus, schedules."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.build import build, locate
from model.normalizers.gumbel import Gumbel
from model.training.optimization import learning_rate
from tests.model.specs import part, shape


def test_nodes_are_built_inside_out_with_the_context():
    normalizer = part("normalizers.gumbel:Gumbel", temperature=2)
    encoder = part("architectures.transformer:Transformer", **shape(8, 8), normalizer=normalizer)
    node = part("architectures.classifier:Classifier", classes=3, encoder=encoder)
    model = build(node, vocabulary_size=11)
    assert model.output.out_features == 3
    assert model.encoder.embedding.token.num_embeddings == 11
    assert isinstance(model.encoder.layers[0].normalizer, Gumbel)
    assert model.encoder.layers[0].normalizer.temperature == 2


def test_a_function_is_bound_not_called():
    double = build(part("training.optimization:learning_rate", name="constant", peak=2.0))
    assert double(5, 10) == 2.0


@pytest.mark.parametrize("path", ["nothing.here:X", "model.build:absent", "model.build"])
def test_a_path_that_names_nothing_is_told(path):
    with pytest.raises(ValueError, match=path):
        locate(path)


def test_a_cut_array_is_told(keywords):
    path = keywords.folder / "train.tokens.npy"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match=r"train\.tokens\.npy.*run again to rebuild"):
        keywords.split("train")


def test_columns_that_do_not_fit_are_told(keywords):
    np.save(keywords.folder / "train.label.npy", np.zeros(3))
    with pytest.raises(ValueError, match="column 'label' of 'train' does not fit"):
        keywords.split("train")
    np.save(keywords.folder / "dev.offsets.npy", np.arange(4))
    with pytest.raises(ValueError, match="tokens and offsets of 'dev'"):
        keywords.split("dev")


def test_a_missing_split_is_told(keywords):
    with pytest.raises(ValueError, match="no split 'validation'"):
        keywords.split("validation")


def test_schedules_by_hand():
    assert learning_rate(7, 100, 2.0, "constant") == 2.0
    assert learning_rate(50, 1000, 1.0, "inverse_sqrt", warmup=100, start=0.2) == pytest.approx(0.6)
    assert learning_rate(400, 1000, 1.0, "inverse_sqrt", warmup=100) == pytest.approx(0.5)
    assert learning_rate(55, 100, 3.0, "cosine", warmup=10) == pytest.approx(1.5)
    assert learning_rate(100, 100, 3.0, "cosine", warmup=10) == pytest.approx(0, abs=1e-12)
    with pytest.raises(ValueError, match="'linear' is unknown"):
        learning_rate(1, 2, 1.0, "linear")


@given(st.sampled_from(["constant", "inverse_sqrt", "cosine"]), st.integers(1, 500))
def test_warm_up_meets_the_schedule_at_its_peak(name, warmup):
    assert learning_rate(warmup, 1000, 0.5, name, warmup) == pytest.approx(0.5)
    rates = [learning_rate(u, 1000, 0.5, name, warmup) for u in range(1, 1001)]
    assert max(rates) <= 0.5 * (1 + 1e-12)
    assert all(b <= a + 1e-15 for a, b in zip(rates[warmup:], rates[warmup + 1 :], strict=False))
    assert not any(math.isnan(rate) for rate in rates)
