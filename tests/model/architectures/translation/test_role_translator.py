"""Encoder-decoders with roles: equal to their parts, cached, counted by hand, trained, matched."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from model.architectures.translation.beam_search import Beam
from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.architectures.translation.with_roles import (
    MatchedEncoderDecoder,
    RoleEncoderDecoder,
    parameters,
)
from model.batches.pairs import collate_pairs
from model.layers.blocks import sinusoids
from model.layers.role_interaction import Roles
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.objectives.role_translation import RoleTranslation
from model.training.loop import TrainingFailed
from tests.model.architectures.translation.test_decoding import (
    assert_same,
    assert_searches_equal,
    assert_steps_follow,
    often_ending,
    plain,
)
from tests.model.corpora import resumed_alike, run
from tests.model.specs import GUMBEL, SOFTMAX, part, tiny
from tests.model.translators import (
    KINDS,
    SIZES,
    assert_copied,
    make_roles,
    repeated_pairs,
    sentences,
    sides,
    write_pairs,
)


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_the_layer_stands_between_embedding_and_positions(kind):
    model, baseline = make_roles(kind), EncoderDecoder(20, **SIZES, normalizer=Softmax()).double()
    missing = baseline.load_state_dict(model.state_dict(), strict=False)
    assert not missing.missing_keys
    inputs = source, source_layout, target, layout = sides([5, 3], [4, 6])
    found = model(*inputs).states
    e = model.source_roles(model.source.tokens(source_layout.pack(source)), source_layout)
    d = model.target_roles(model.target.tokens(layout.pack(target)), layout)
    positions = sinusoids(1024, SIZES["width"])
    h0 = torch.zeros(*source.shape, SIZES["width"], dtype=torch.float64)
    h0[source_layout.real] = e + positions[source_layout.columns]
    # The baseline decodes the same vectors where each token is a word of its own.
    words = torch.zeros_like(target)
    words[layout.real] = torch.arange(len(d))
    baseline.target.token = nn.Embedding(len(d), SIZES["width"], _weight=d / baseline.target.scale)
    expected = baseline.eval()(source, source_layout, words, layout, h0).states
    assert torch.allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_search_equals_the_plain_one(kind):
    """Hypotheses change beams and sentences end at different steps: states must go with them."""
    assert_searches_equal(lambda: make_roles(kind, tie="none"), seeds=2)


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_a_step_follows_the_hypothesis_that_it_continues(kind):
    """At every step both beams go on from the second one, whose prefix alone counts."""
    assert_steps_follow(make_roles(kind), before=torch.tensor([[0.0, 1.0], [0.0, 1.0]]))


@settings(max_examples=12)
@given(
    vocabulary=st.integers(60, 3000),
    heads=st.sampled_from([1, 2, 4]),
    width=st.integers(4, 12),
    ratio=st.sampled_from([1, 2, 4]),
    layers=st.integers(1, 3),
    number=st.integers(1, 32),
)
def test_the_matched_baseline_has_about_as_many_parameters(
    vocabulary, heads, width, ratio, layers, number
):
    width = 4 * width
    shape = {"width": width, "hidden": ratio * width, "layers": layers, "heads": heads}
    shape |= {"normalizer": Softmax(), "roles": Roles(number, Softmax())}
    target = count(RoleEncoderDecoder(vocabulary, **shape))
    matched = MatchedEncoderDecoder(vocabulary, **shape)
    assert matched.matched == target
    assert abs(count(matched) / target - 1) < 0.01
    assert matched.width >= width
    assert matched.width % heads == 0


def test_the_matched_baseline_of_the_small_shape():
    shape = {"width": 256, "hidden": 512, "layers": 3, "heads": 4, "normalizer": Softmax()}
    matched = MatchedEncoderDecoder(10_000, **shape, roles=Roles(32, Softmax()))
    assert matched.width == 364
    assert abs(count(matched) / matched.matched - 1) < 0.001
    before = torch.get_rng_state()
    parameters(EncoderDecoder, 100, **shape)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_learns_to_copy(kind, tmp_path):
    roles = Roles(5, **KINDS[kind])
    shape = {"width": 32, "hidden": 64, "layers": 1, "heads": 2, "normalizer": Softmax()}
    model = RoleEncoderDecoder(9, **shape, roles=roles, norm="pre")
    assert_copied(model, RoleTranslation(0.0), 200, tmp_path)


def test_the_temperature_falls_to_its_lowest(tmp_path):
    """From 5 by 0.9995 an update 0.5 is reached after 4605 (weissenborn2019 section 4)."""
    objective = RoleTranslation(temperature=5, decay=0.9995, lowest=0.5)
    split = write_pairs(tmp_path, [([4, 5], [6])] * 8)
    objective.sampler(split, {"examples": 2}, 0)
    batch, model = collate_pairs(split, np.arange(2)), make_roles("onehot").train()
    for update, expected in ((0, 5), (1, 4.9975), (4604, 0.5000047), (4605, 0.5)):
        objective.loss(model, batch, update / 4)
        for layer in (model.source_roles, model.target_roles):
            assert layer.assignment.temperature == pytest.approx(expected, abs=1e-7)
    objective.loss(model.eval(), batch, math.inf)


def spec_of(**changes):
    roles = part("layers.role_interaction:Roles", number=4)
    model = {
        "path": "model.architectures.translation.with_roles:RoleEncoderDecoder",
        "width": 8, "hidden": 12, "layers": 1, "heads": 2, "normalizer": SOFTMAX, "dropout": 0.2,
        "roles": roles | changes.pop("roles", {}),
    }  # fmt: skip
    objective = part("objectives.role_translation:RoleTranslation")
    objective |= changes.pop("objective", {})
    batch = {"tokens": 60, "micro_tokens": 30}
    return tiny(model, objective, **{"epochs": 2, "batch": batch} | changes)


SOFT, ONE_HOT = {"assignment": SOFTMAX}, {"assignment": GUMBEL}
COOLING = {"temperature": 5, "decay": 0.9, "lowest": 0.5}


def test_fine_tuning_cools_the_assignment_by_the_update(tmp_path, monkeypatch):
    """Starts from a softmax model; micro-batches of one update share its temperature."""
    corpus = repeated_pairs(tmp_path / "pairs")
    softmax = run(spec_of(roles=SOFT), corpus)
    used: list[float] = []
    plain_forward = Gumbel.forward

    def noting(self, scores):
        if self.training:
            used.append(self.temperature)
        return plain_forward(self, scores)

    monkeypatch.setattr(Gumbel, "forward", noting)
    tuned = spec_of(roles=ONE_HOT, objective=COOLING, start_from="softmax", epochs=3)
    found = run(tuned, corpus, parents={"softmax": softmax.weights})
    temperatures = sorted(set(used), reverse=True)
    expected = [max(0.5, 5 * 0.9**n) for n in range(found.updates)]
    assert temperatures == pytest.approx(sorted(set(expected), reverse=True))
    assert len(used) > 2 * found.updates
    assert found.weights.keys() == softmax.weights.keys()


def test_a_killed_fine_tuning_goes_on_bit_for_bit(tmp_path):
    """Under way the temperature falls, which depends on the update alone."""
    spec = spec_of(roles=ONE_HOT, objective=COOLING)
    assert resumed_alike(spec, repeated_pairs(tmp_path / "pairs"), 3).updates > 6


def test_a_run_does_not_start_from_one_of_another_shape(tmp_path):
    corpus = repeated_pairs(tmp_path / "pairs")
    dense = run(spec_of(epochs=1), corpus)
    spec = spec_of(roles=ONE_HOT, objective=COOLING, start_from="dense")
    with pytest.raises(TrainingFailed, match="parent 'dense' belong to another architecture"):
        run(spec, corpus, parents={"dense": dense.weights})


def test_a_temperature_needs_the_gumbel_softmax(tmp_path):
    with pytest.raises(ValueError, match=r"objective\.temperature is of the Gumbel-softmax"):
        run(spec_of(roles=SOFT, objective=COOLING), repeated_pairs(tmp_path / "pairs"))


def test_a_window_that_no_sentence_fills_is_refused(tmp_path):
    run(spec_of(roles={"window": 3}, epochs=1), repeated_pairs(tmp_path / "fitting", longest=4))
    for folder, repeats in (("pairs", 1), ("longer_targets", 3)):
        corpus = repeated_pairs(tmp_path / folder, longest=4, repeats=repeats)
        with pytest.raises(ValueError, match=r"width 5 .* sentence \(the training split's has 4\)"):
            run(spec_of(roles={"window": 5}, epochs=1), corpus)


@pytest.mark.parametrize("kind", [EncoderDecoder, MatchedEncoderDecoder])
def test_the_objective_refuses_a_model_without_roles(kind):
    with pytest.raises(ValueError, match=f"a RoleEncoderDecoder, not a {kind.__name__}"):
        RoleTranslation().loss(kind.__new__(kind), None, 0)


def test_a_search_without_beams_to_follow_starts_anew():
    """The cache of one search is not that of the next."""
    model = often_ending(make_roles("softmax", tie="none"), 0)
    source, layout = sentences([5, 2])
    first, second = (Beam(3).search(model, source, layout) for _ in range(2))
    assert torch.equal(first.tokens, second.tokens)


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(sorted(KINDS)),
    beam=st.integers(1, 6),
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=5),
)
def test_the_search_equals_the_plain_one_whatever_the_sentences(seed, kind, beam, lengths):
    torch.manual_seed(seed)
    model = often_ending(make_roles(kind, 12, tie="none", layers=1), seed)
    source, layout = sentences(lengths, 12)
    how = Beam(beam, length_extra=4)
    assert_same(how.search(model, source, layout), plain(model, source, layout, how))
