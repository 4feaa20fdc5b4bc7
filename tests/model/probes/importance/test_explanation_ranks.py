"""The ranks of eleven explanations beside those of eight, and how they agree."""

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau

from model.batches.batching import collate
from model.layers.receptive_field import receptive_field
from model.probes.importance.attribution import attribution
from model.probes.importance.explanation_ranks import all_explanations, explanation_ranks
from model.probes.next_symbol import as_classifier, at_predicting, cut
from tests.model.corpora import learned, sharpened, uneven, values
from tests.model.specs import GUMBEL, SOFTMAX

ENCODERS = ["transformer:Transformer", "two_stream:TwoStreamTransformer"]


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("normalizer", [SOFTMAX, GUMBEL], ids=["softmax", "gumbel"])
def test_the_eight_have_the_scores_that_attribution_gives_them(
    keywords, classifier_spec, encoder, normalizer
):
    """The order of ties is drawn; soft scores have none."""
    s = uneven(classifier_spec, keywords, normalizer, encoder)
    found = values(explanation_ranks(s, examples=20, replacements=3, steps=2, tokens=60))
    eight = values(attribution(s, examples=20, replacements=3, steps=2, tokens=60))
    for name in all_explanations(2).keys() - {"attnlrp", "gim", "alti_logit"}:
        assert found[f"effect_{name}"] == pytest.approx(eight[f"effect_{name}"])
        if normalizer is SOFTMAX:
            comprehensive = f"comprehensiveness_{name}"
            assert found[comprehensive] == pytest.approx(eight[comprehensive])


def test_the_eleven_are_ranked_by_their_means(keywords, classifier_spec):
    classifier_spec["training"]["epochs"] = 4
    trained, _ = learned(classifier_spec, keywords)
    found = values(explanation_ranks(trained, examples=40, steps=4))
    names = list(all_explanations(4))
    assert len(names) == 11
    effect, needed, lacking = (
        np.array([found[f"{metric}_{name}"] for name in names])
        for metric in ("effect", "comprehensiveness", "sufficiency")
    )
    by_needed = kendalltau(effect, needed).statistic
    assert found["effect_by_comprehensiveness"] == pytest.approx(by_needed)
    assert found["effect_by_sufficiency"] == pytest.approx(kendalltau(effect, -lacking).statistic)
    for name in ("attnlrp", "gim", "alti_logit"):
        assert found[f"effect_{name}"] > found["effect_random"] + 0.2
        assert found[f"comprehensiveness_{name}"] > found["comprehensiveness_random"]


@pytest.mark.parametrize("normalizer", [SOFTMAX, GUMBEL], ids=["softmax", "gumbel"])
def test_a_beginning_in_a_batch_has_the_scores_that_it_has_alone(copies, language_spec, normalizer):
    language_spec["model"]["decoder"]["normalizer"] = normalizer
    model = as_classifier(sharpened(language_spec, copies).model)
    lengths = np.array([4, 6, 3])
    batch = cut(collate(copies.split("test"), np.arange(3)), lengths)
    for name, explain in all_explanations(2).items():
        scores = explain(model, batch)
        for row, length in enumerate(lengths):
            alone = cut(collate(copies.split("test"), np.array([row])), lengths[row : row + 1])
            expected = explain(model, alone)[0, 1:]
            assert torch.allclose(scores[row, 1:length], expected, atol=1e-9), name


@pytest.mark.parametrize("encoder", ENCODERS)
def test_those_of_today_are_0_outside_a_discrete_field(keywords, classifier_spec, encoder):
    model = uneven(classifier_spec, keywords, GUMBEL, encoder).model
    batch = collate(keywords.split("test"), np.arange(8))
    field = at_predicting(
        model, batch.real, receptive_field(model(batch.tokens, batch.real).weights)
    )
    outside = (field == 0) & batch.real
    assert outside.any()
    for name in ("attnlrp", "gim", "alti_logit"):
        scores = all_explanations(1)[name](model, batch)
        assert (scores[outside] == 0).all(), name
        assert (scores[~outside & batch.real] != 0).any(), name
