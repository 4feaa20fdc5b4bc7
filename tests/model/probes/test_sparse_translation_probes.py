"""The probes of Explicit Sparse Transformer: top-k in training alone, attention maps, speed."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.batches.pairs import collate_pairs
from model.build import build
from model.normalizers.softmax import Softmax
from model.normalizers.topk import TopK
from model.probes.cost import stopwatch
from model.probes.cost import translation_speed as speed
from model.probes.importance.attention_maps import attention_maps
from model.probes.measure import Measured, Subject, scalar
from model.probes.quality.training_only import training_only
from model.training.loop import build_model
from tests.model.corpora import CPU
from tests.model.parallel import write_parallel
from tests.model.specs import part, tell, timed, tiny
from tests.model.translators import SIZES, read_by, unpadded


@pytest.fixture
def corpus(tmp_path):
    random = np.random.default_rng(0)

    def text(low, high):
        return " ".join(random.choice(list("abcdef"), random.integers(low, high)))

    pairs = [(text(2, 6), text(1, 8)) for _ in range(5)] + [(text(9, 10), text(3, 8))]
    return write_parallel(tmp_path / "c", {"train": pairs, "test": pairs})


def spec_of(path="model.normalizers.topk:TopK", kind="encoder_decoder:EncoderDecoder", **more):
    node = part(f"architectures.translation.{kind}", **SIZES)
    node["normalizer"] = {"path": path, **more}
    return tiny(node, "model.objectives.translation:Translation", batch={"tokens": 30})


def subject_of(spec, corpus):
    return Subject(build_model(spec, corpus).eval(), corpus, CPU, 0)


def test_training_only_measures_the_same_weights_with_softmax(corpus):
    """The probe's model gives the logits of a softmax model that loads the run's weights."""
    run = subject_of(spec_of(k=1), corpus)
    soft = build_model(spec_of("model.normalizers.softmax:Softmax"), corpus).eval()
    soft.load_state_dict(run.model.state_dict())
    batch = collate_pairs(corpus.split("test"), np.arange(6))
    sides, seen = read_by(batch), []

    def probe(subject):
        seen.append(subject.model(*sides).states)
        return Measured({"one": scalar(1.0, "1")}, {})

    assert training_only(run, probe).scalars == {"one": scalar(1.0, "1")}
    assert torch.equal(seen[0], soft(*sides).states)
    assert not torch.equal(seen[0], run.model(*sides).states)
    assert sum(isinstance(part, TopK) for part in run.model.modules()) == 6


def test_training_only_reaches_the_places_of_two_streams(corpus):
    kind = "two_stream:TwoStreamEncoderDecoder"
    run, kinds = subject_of(spec_of(kind=kind, k=1), corpus), []

    def probe(subject):
        kinds.extend(type(part) for part in subject.model.modules())
        return Measured({}, {})

    training_only(run, probe)
    assert TopK not in kinds
    assert kinds.count(Softmax) == 6


def test_training_only_needs_top_k(corpus):
    run = subject_of(spec_of("model.normalizers.softmax:Softmax"), corpus)
    with pytest.raises(ValueError, match="no top-k attention"):
        training_only(run, lambda subject: Measured({}, {}))


def test_training_only_can_be_named_in_an_experiment(corpus):
    probe = part("probes.importance.attention_maps:attention_maps", shortest=3)
    node = part("probes.quality.training_only:training_only", probe=probe)
    found = build(node, spec={}, history=[])(subject_of(spec_of(k=1), corpus))
    own = np.array(found.arrays["own"])
    assert (own > 0).all()


def test_maps_are_means_over_heads_of_one_sentence(corpus):
    run = subject_of(spec_of(k=2), corpus)
    found = attention_maps(run, shortest=10)
    source, target = found.arrays["source"], found.arrays["target"]
    split = corpus.split("test")
    assert len(source) == 10
    ids = split.tokens[split.offsets[5] : split.offsets[5] + 10]
    assert source == [corpus.vocabulary[token] for token in ids]
    assert target[-1] == source[-1] == "<eos>"
    words = [1, *(corpus.vocabulary.index(word) for word in target[:-1])]
    one, two = torch.from_numpy(ids.astype(np.int64))[None], torch.tensor([words])
    weights = run.model(*unpadded(one), *unpadded(two), need_weights=True).weights
    (word,) = found.arrays["word"]
    assert word == 5
    expected = {
        "own": weights.encoder[0].mean(1)[0, word],
        "cross_bottom": weights.cross[0].mean(1)[0],
        "cross_top": weights.cross[1].mean(1)[0],
    }
    for name, value in expected.items():
        assert np.allclose(found.arrays[name], value.detach().numpy(), atol=6e-5)
    assert 1 <= np.count_nonzero(found.arrays["own"]) <= 4


def test_a_short_corpus_shows_its_longest_sentence(corpus):
    found = attention_maps(subject_of(spec_of(k=2), corpus), shortest=1000)
    assert len(found.arrays["source"]) == 10


def test_the_weight_of_the_last_source_token_by_a_slow_loop(corpus):
    run = subject_of(spec_of("model.normalizers.softmax:Softmax"), corpus)
    split = corpus.split("test")
    weights = {0: [], 1: []}
    for example in range(4):
        pair = collate_pairs(split, np.array([example]))
        cross = run.model(*read_by(pair), need_weights=True).weights.cross
        for layer, found in weights.items():
            found += cross[layer][0, :, :, -1].mean(0).tolist()
    scalars = attention_maps(run, sentences=4).scalars
    for name, layer in (("last_bottom", 0), ("last_top", 1)):
        assert scalars[name]["value"] == pytest.approx(np.mean(weights[layer]), rel=1e-5)
        assert scalars[name]["n"] == len(weights[layer])


def test_speeds_are_tokens_by_time_and_alike_on_the_same_work(corpus, monkeypatch):
    tell(monkeypatch, stopwatch)
    spec = spec_of("model.normalizers.softmax:Softmax")
    nodes = {"a": timed(1), "b": timed(4)}
    run = subject_of(spec, corpus)
    found = speed.translation_speed(run, spec, nodes, updates=1, rounds=1, sentences=6, beam=2)
    assert set(found.scalars) == {"training_a", "training_b", "inference_a", "inference_b"}
    for kind in ("training", "inference"):
        fast, slow = (found.scalars[f"{kind}_{name}"] for name in "ab")
        assert fast["value"] == pytest.approx(4 * slow["value"])
        assert (fast["unit"], fast["n"]) == ("K tokens/s", 1)
    # Three places in each of two layers, one forward pass: 6 units of time for a batch's tokens.
    second = stopwatch.training_batches(run, spec, 2)[1]
    assert found.scalars["training_a"]["value"] == pytest.approx(len(second.layout.places) / 6000)


@given(st.integers(2, 9), st.integers(0, 40))
def test_all_mechanisms_meet_what_the_others_leave_behind_alike(count, first):
    names = [str(n) for n in range(count)]
    rows = [stopwatch.turn_order(names, turn) for turn in range(first, first + 2 * count)]
    assert all(sorted(row) == sorted(names) for row in rows)
    before = Counter(pair for row in rows for pair in itertools.pairwise(row))
    assert before == dict.fromkeys(itertools.permutations(names, 2), 2)
    assert all(Counter(place) == dict.fromkeys(names, 2) for place in zip(*rows, strict=True))


def test_measuring_speed_changes_neither_weights_nor_random_numbers(corpus):
    spec = spec_of(k=2)
    run = subject_of(spec, corpus)
    before = {name: value.clone() for name, value in run.model.state_dict().items()}
    nodes = {
        "topk": spec["model"]["normalizer"],
        "alpha": part("normalizers.entmax_alpha:EntmaxAlpha", heads=2),
    }
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    scalars = speed.translation_speed(run, spec, nodes, updates=1, rounds=1, sentences=2).scalars
    assert torch.equal(torch.rand(3), expected)
    assert all(torch.equal(before[name], now) for name, now in run.model.state_dict().items())
    assert all(math.isfinite(one["value"]) and one["value"] > 0 for one in scalars.values())
