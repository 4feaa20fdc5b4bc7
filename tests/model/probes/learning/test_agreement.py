"""A, A-hat and xi by slow loops over their definitions, and the agreements over runs."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model.probes.checkpoint_ranks import Record, SplitRecord, ranks
from model.probes.kendall import tau_b
from model.probes.learning.agreement import Xi, agreement, chance, xi
from model.probes.learning.agreements import PAIRS, bootstrap, learning
from model.probes.measure import Subject

VALUE = st.integers(-2, 2).map(float) | st.floats(-3, 3)


@st.composite
def rows(draw, most=45):
    """Two lists of values of one length, often with ties."""
    length = draw(st.integers(1, most))
    values = st.lists(VALUE, min_size=length, max_size=length)
    return draw(values), draw(values)


def slow(u: list[float], v: list[float]) -> bool:
    best = max(range(len(u)), key=lambda j: (u[j], -j))
    return sum(x > v[best] for x in v) < 0.05 * len(v)


def padded(lists: list[list[float]]) -> np.ndarray:
    """Lists side by side, with what must not count behind them."""
    width = max(map(len, lists))
    return np.array([[*row, *[99.0] * (width - len(row))] for row in lists])


@settings(max_examples=100)
@given(st.lists(rows(), min_size=1, max_size=4))
def test_agreement_one_row_at_a_time(pairs):
    """snell2021 eq. 7."""
    us, vs = zip(*pairs, strict=True)
    found = agreement(padded(us), padded(vs), np.array([len(u) for u in us]))
    assert found.tolist() == [slow(u, v) for u, v in pairs]


@given(st.lists(rows(), min_size=1, max_size=4))
def test_chance_is_the_share_of_positions_that_agree(pairs):
    vs = [v for _, v in pairs]
    found = chance(padded(vs), np.array([len(v) for v in vs]))
    shares = [
        sum(slow([float(j == at) for j in range(len(v))], v) for at in range(len(v))) / len(v)
        for v in vs
    ]
    assert found.tolist() == pytest.approx(shares)


@given(rows(most=5))
def test_chance_is_the_mean_over_all_shuffles(pair):
    u, v = pair
    shuffled = list(itertools.permutations(v))
    lengths = np.full(len(shuffled), len(v))
    found = agreement(np.array([u] * len(shuffled)), np.array(shuffled), lengths)
    assert chance(np.array([v]), np.array([len(v)]))[0] == pytest.approx(found.mean())


def test_single_words_and_constant_values_agree():
    assert agreement(np.array([[3.0]]), np.array([[-1.0]]), np.array([1])).all()
    assert chance(np.array([[-1.0]]), np.array([1])) == 1
    u, constant = np.arange(30.0)[None], np.zeros((1, 30))
    assert agreement(u, constant, np.array([30])).all()
    assert chance(constant, np.array([30])) == 1
    # A constant u points to the first position.
    assert not agreement(constant, u, np.array([30])).any()
    assert agreement(constant, -u, np.array([30])).all()


def test_twenty_and_twenty_one_positions_by_hand():
    for length, hits in ((20, 1), (21, 2), (40, 2), (41, 3)):
        v = np.tile(np.arange(length, dtype=float), (length, 1))
        found = agreement(np.eye(length), v, np.full(length, length))
        assert found.tolist() == [False] * (length - hits) + [True] * hits


@pytest.mark.parametrize(
    ("reached", "value", "exceeded"),
    [(0.05, 20.0, True), (0.1, 20.0, True), (0.3, 40.0, True), (0.35, 40.0, True),
     (0.5, 40.0, False), (0.9, 40.0, False)],
)  # fmt: skip
def test_xi_by_hand(reached, value, exceeded):
    """snell2021 eq. 8."""
    along, performance = [0.02, 0.3, 0.2, 0.5, 0.4], [10.0, 20.0, 25.0, 40.0, 30.0]
    assert xi(reached, along, performance) == Xi(value, exceeded)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0, 1), st.floats(0, 1))
def test_xi_never_falls_where_performance_never_does(along, one, two):
    performance = list(map(float, range(len(along))))
    low, high = sorted((one, two))
    assert xi(low, along, performance).value <= xi(high, along, performance).value


LENGTHS = np.array([1, 3, 8, 8, 25, 40])
SUBJECT = Subject(torch.nn.Identity(), None, torch.device("cpu"), 0)  # type: ignore[arg-type]


def made(seed: int, steps: int = 4, delta: bool = True) -> tuple[Record, dict[str, np.ndarray]]:
    """A record of random values, and these by quantity (C, N, L)."""
    random = np.random.default_rng(seed)
    values = {name: random.normal(size=(steps, 6, 40)) for name in ("alpha", "beta")}
    performance = np.sort(random.uniform(50, 90, steps))[::-1].copy()
    performance[min(1, steps - 1)] += 50
    best = int(performance.argmax())
    if delta:
        values["delta"] = random.normal(size=(1, 6, 40))
    ranked = {n: np.stack([ranks(one, LENGTHS) for one in v]) for n, v in values.items()}
    important = np.array([best] if delta else [], np.int64)
    examples = np.array([0, 0, 1, 1, 1, 2])
    split = SplitRecord(LENGTHS, examples, ranked, {"accuracy": performance}, important)
    return Record(np.arange(steps) * 10, {"dev": split, "train": split}), values


def test_every_agreement_is_that_of_its_definition():
    (own, mine), (other, theirs), (third, thirds) = made(0), made(1), made(5)
    (uniform, uf), (proxy, px), (frozen, fr) = made(2), made(3, steps=1), made(4)
    found = learning(SUBJECT, own, [other, third], uniform, proxy, frozen)
    value = {name: one["value"] for name, one in found.scalars.items()}
    alpha, delta = mine["alpha"][1], mine["delta"][0]
    for prefix, compare, mean in (("", agreement, np.mean), ("tau_", tau_b, np.nanmean)):

        def most(u, vs, compare=compare, mean=mean):
            return max(float(mean(compare(u, v, LENGTHS))) for v in vs)

        assert value[f"{prefix}alpha_uniform"] == pytest.approx(100 * most(alpha, uf["beta"]))
        expected = 100 * most(px["beta"][0], uf["beta"])
        assert value[f"{prefix}uniform_proxy"] == pytest.approx(expected)
        assert value[f"{prefix}delta_uniform"] == pytest.approx(100 * most(delta, uf["beta"]))
        assert value[f"{prefix}alpha_frozen"] == pytest.approx(100 * most(alpha, fr["alpha"]))
        betas = [most(alpha, one["beta"]) for one in (theirs, thirds)]
        assert value[f"{prefix}alpha_beta"] == pytest.approx(100 * np.mean(betas))
        at_best = [mean(compare(alpha, one["alpha"][1], LENGTHS)) for one in (theirs, thirds)]
        assert value[f"{prefix}alpha_alpha"] == pytest.approx(100 * np.mean(at_best))
        # The other runs' curves are averaged before they are compared with A.
        along = [
            float(np.mean([mean(compare(alpha, v, LENGTHS)) for v in at]))
            for at in zip(theirs["alpha"], thirds["alpha"], strict=True)
        ]
        performance = [one.splits["dev"].performance["accuracy"] for one in (other, third)]
        for name, reached in (("uniform", most(alpha, uf["beta"])), ("beta", np.mean(betas))):
            expected = xi(reached, along, np.mean(performance, axis=0).tolist())
            assert value[f"{prefix}xi_alpha_{name}"] == pytest.approx(expected.value)
            assert value[f"{prefix}xi_alpha_{name}_never"] == (not expected.exceeded)
    hits = [agreement(alpha, v, LENGTHS).mean() for v in uf["beta"]]
    at = int(np.argmax(hits))
    baseline = chance(uf["beta"][at], LENGTHS).mean()
    assert value["alpha_uniform_at"] == 10 * at
    assert value["alpha_uniform_chance"] == pytest.approx(100 * baseline)
    assert value["alpha_uniform_ratio"] == pytest.approx(max(hits) / baseline)
    assert found.arrays["alpha_uniform_curve"] == pytest.approx(np.multiply(100, hits), abs=1e-3)
    assert value["xi_star"] == own.splits["dev"].performance["accuracy"][1]
    assert value["best_step"] == 10
    assert value["final"] == own.splits["dev"].performance["accuracy"][-1]
    assert found.scalars["xi_star"]["n"] == len(LENGTHS)


def test_with_itself_attention_agrees_and_what_lacks_a_record_has_no_value():
    own, _ = made(0)
    same = learning(SUBJECT, own, [own])
    value = {name: one["value"] for name, one in same.scalars.items()}
    assert value["alpha_alpha"] == 100
    assert value["tau_alpha_alpha"] == pytest.approx(100)
    assert value["alpha_alpha_low"] == value["alpha_alpha_high"] == 100
    assert not {name for name in value if "xi_alpha_alpha" in name}
    alone = learning(SUBJECT, own)
    for name in PAIRS:
        for scalar in (name, f"{name}_low", f"{name}_ratio", f"xi_{name}", f"tau_xi_{name}_never"):
            if "xi_alpha_alpha" not in scalar:
                assert alone.scalars[scalar]["value"] is None
    assert alone.scalars["xi_star"] == same.scalars["xi_star"]
    assert alone.scalars["final"]["value"] is not None


def test_rows_of_single_words_have_no_tau_and_constant_attention_agrees_with_itself():
    lengths = np.array([1, 1])
    flat = ranks(np.zeros((2, 1)), lengths)[None]
    split = SplitRecord(
        lengths,
        np.arange(2),
        {"alpha": flat, "beta": flat},
        {"accuracy": np.array([50.0])},
        np.array([], np.int64),
    )
    record = Record(np.array([0]), {"dev": split})
    found = learning(SUBJECT, record, [record], record, record, record).scalars
    assert found["alpha_uniform"]["value"] == 100
    assert found["alpha_uniform_chance"]["value"] == 100
    assert found["tau_alpha_uniform"]["value"] is None
    assert found["tau_xi_alpha_uniform"]["value"] is None


def test_the_bootstrap_draws_whole_examples():
    random = np.random.default_rng(0)
    rows = random.uniform(size=400)
    low, high = bootstrap(rows, np.arange(400))
    error = rows.std() / 20
    assert low == pytest.approx(rows.mean() - 1.96 * error, abs=0.3 * error)
    assert high == pytest.approx(rows.mean() + 1.96 * error, abs=0.3 * error)
    # Rows of one example are one observation.
    again = bootstrap(np.repeat(rows, 9), np.repeat(np.arange(400), 9))
    assert again == pytest.approx((low, high))
    with_gaps = bootstrap(np.append(rows, np.nan), np.append(np.arange(400), 7))
    assert with_gaps == pytest.approx((low, high), abs=0.3 * error)


def test_records_of_other_texts_are_refused():
    own, _ = made(0)
    split = own.splits["dev"]
    shorter = SplitRecord(LENGTHS[:5], np.arange(5), {}, split.performance, split.important)
    other = Record(own.steps, {"dev": shorter})
    with pytest.raises(ValueError, match="other texts of 'dev': give their variants the same"):
        learning(SUBJECT, own, uniform=other)
    with pytest.raises(ValueError, match="no 'bleu' on 'dev' was recorded, only splits dev, train"):
        learning(SUBJECT, own, metric="bleu")


def test_the_proxy_needs_no_performance_and_is_read_where_it_ended():
    (own, _), (uniform, uf), (proxy, px) = made(0), made(1), made(2)
    bare = Record(proxy.steps, {"dev": replace(proxy.splits["dev"], performance={})})
    found = learning(SUBJECT, own, uniform=uniform, proxy=bare).scalars
    best = max(float(np.mean(agreement(px["beta"][-1], v, LENGTHS))) for v in uf["beta"])
    assert found["uniform_proxy"]["value"] == pytest.approx(100 * best)


def test_the_best_checkpoint_is_that_of_the_split():
    own, mine = made(0)
    at = 3
    performance = np.arange(4.0)
    split = replace(own.splits["train"], performance={"accuracy": performance})
    split = replace(split, important=np.array([at]))
    record = Record(own.steps, {"dev": own.splits["dev"], "train": split})
    other, theirs = made(1)
    found = learning(SUBJECT, record, uniform=other, split="train").scalars
    assert (found["best_step"]["value"], found["xi_star"]["value"]) == (30, 3)
    hits = [agreement(mine["alpha"][at], v, LENGTHS).mean() for v in theirs["beta"]]
    assert found["alpha_uniform"]["value"] == pytest.approx(100 * max(hits))
