"""BLEU from counts and its paired bootstrap, against sacrebleu; claims over corpora."""

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from tests.reporting.synthetic import judged, one_run
from workflow.reporting.measures import EvaluatedRun
from workflow.reporting.statistics.bootstrap import (
    SAMPLES,
    bleu,
    resample,
    statistics,
)
from workflow.reporting.statistics.decisions import Hypothesis, decide_corpora
from workflow.runtime.errors import InputError, ReportingError

WORDS = [f"w{n}" for n in range(20)]
sentences = st.lists(st.sampled_from("abcdA"), max_size=9).map(" ".join)


def system(seed: int, wrong: float, count: int = 80) -> tuple[list[str], list[str]]:
    """Return hypotheses and references; a share of the words of a hypothesis is wrong."""
    texts = np.random.default_rng(0).choice(WORDS, (count, 12))
    random = np.random.default_rng(seed)
    noise = random.choice(WORDS, texts.shape)
    mine = np.where(random.random(texts.shape) < wrong, noise, texts)
    return [" ".join(row) for row in mine], [" ".join(row) for row in texts]


@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5))
def test_bleu_is_sacrebleus_without_smoothing(pairs: list[tuple[str, str]]) -> None:
    hypotheses, references = map(list, zip(*pairs, strict=True))
    metric = BLEU(lowercase=True, tokenize="none", force=True, smooth_method="none")
    expected = metric.corpus_score(hypotheses, [references]).score
    assert bleu(statistics(hypotheses, references).sum(0)) == pytest.approx(expected, abs=1e-9)


def test_one_seed_is_sacrebleus_paired_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "SACREBLEU_SEED", "12345")
    (right, references), (left, _) = system(1, 0.30), system(2, 0.27)
    metric = BLEU(tokenize="none", force=True)
    systems = [("base", right), ("left", left)]
    test = PairedTest(systems, {"BLEU": metric}, [references], "bs", n_samples=1000)
    base, other = test()[1]["BLEU"]
    pairs = [(statistics(left, references), statistics(right, references))]
    found = resample(pairs)
    assert found.estimate == pytest.approx(other.score - base.score, abs=1e-4)
    assert found.sentences == 80
    assert found.low < found.estimate < found.high


def test_seeds_are_averaged_on_the_same_samples() -> None:
    texts = [system(seed, wrong) for seed, wrong in ((1, 0.3), (2, 0.2), (3, 0.3), (4, 0.2))]
    one, two, three, four = (statistics(*pair) for pair in texts)
    single = [resample([pair]) for pair in ((two, one), (four, three))]
    both = resample([(two, one), (four, three)])
    assert both.per_seed == [found.estimate for found in single]
    assert both.estimate == pytest.approx(np.mean(both.per_seed))
    mirrored = resample([(one, two), (three, four)])
    assert (mirrored.low, mirrored.high) == pytest.approx((-both.high, -both.low))


def test_a_system_equals_itself() -> None:
    counts = statistics(*system(1, 0.3))
    found = resample([(counts, counts)])
    assert (found.estimate, found.low, found.high) == (0, 0, 0)


@pytest.mark.parametrize(
    ("seeds", "direction", "margin", "verdict"),
    [
        (3, "greater", 0.0, "holds"),
        (3, "less", 0.0, "does not hold"),
        (3, "greater", 80.0, "does not hold"),
        (2, "greater", 0.0, "undecided"),
        (1, "greater", 0.0, "undecided"),
        (0, "greater", 0.0, "not run"),
    ],
)
def test_decisions(seeds: int, direction: str, margin: float, verdict: str) -> None:
    pair = (statistics(*system(5, 0.1)), statistics(*system(6, 0.4)))
    assert decide_corpora([pair] * seeds, Hypothesis(direction, margin)).verdict == verdict


def test_seeds_that_differ_widen_the_interval() -> None:
    better, worse = statistics(*system(5, 0.05)), statistics(*system(6, 0.4))
    slightly = statistics(*system(7, 0.42))
    decision = decide_corpora([(better, worse), (slightly, worse)], Hypothesis("greater", 0.0))
    assert decision.estimate is not None and decision.estimate > 0
    assert decision.ci_low is not None and decision.ci_low < 0
    assert decision.verdict == "undecided"


def test_other_test_sets_are_refused() -> None:
    with pytest.raises(ReportingError, match="2 hypotheses and 1 references"):
        statistics(["a", "b"], ["a"])
    one, other = statistics(["a"], ["a"]), statistics(["a", "b"], ["a", "b"])
    with pytest.raises(ReportingError, match=r"different numbers of sentences \(\[1, 2\]\)"):
        resample([(one, other)])


def translated(variant: str, seed: int, wrong: float) -> EvaluatedRun:
    hypotheses, references = system(10 * seed + len(variant), wrong)
    texts: dict[str, Any] = {"hypotheses": hypotheses, "references": references}
    score = float(bleu(statistics(hypotheses, references).sum(0)))
    return one_run(variant, seed, {"bleu": score, "other": 1.0}, texts)


OF_BLEU: dict[str, Any] = {"measure": "probe.bleu", "label": "BLEU", "unit": "BLEU", "digits": 1}


def test_a_claim_over_corpora() -> None:
    runs = [translated("good", seed, 0.1) for seed in range(3)]
    runs += [translated("bad", seed, 0.4) for seed in range(2)]
    found = judged(runs, **OF_BLEU, over="corpora")
    assert (found["n"], found["seeds"]) == (80, [0, 1])
    scores = [[run.number("probe.bleu") for run in runs[at : at + 2]] for at in (0, 3)]
    assert [found[side]["mean"] for side in ("left", "right")] == pytest.approx(
        [np.mean(side) for side in scores]
    )
    assert found["estimate"] == pytest.approx(found["left"]["mean"] - found["right"]["mean"])


def test_a_claim_needs_the_translations() -> None:
    runs = [one_run(variant, 0, {"bleu": 30.0}) for variant in ("good", "bad")]
    with pytest.raises(ReportingError, match="probe keeps no translations"):
        judged(runs, **OF_BLEU, over="corpora")


def test_corpora_have_no_fixed_value() -> None:
    with pytest.raises(InputError, match="claim toy: corpora are compared with corpora"):
        judged([], **OF_BLEU, over="corpora", right={"value": 30})


def test_a_side_may_have_a_measure_of_its_own() -> None:
    runs = [one_run("good", seed, {"bleu": 30.0 + seed, "other": 29.5}) for seed in range(3)]
    right = {"variant": "good", "label": "other", "measure": "probe.other"}
    found = judged(runs, **OF_BLEU, right=right)
    assert found["estimate"] == pytest.approx(np.mean([0.5, 1.5, 2.5]))
    assert [found[side]["mean"] for side in ("left", "right")] == [31.0, 29.5]


GERMAN = ["der", "Hund", "sieht", "ein", "boot", "im", "see", "und", "die", "katze", "schläft"]


def texts(share: float, seed: int, count: int = 60) -> tuple[list[str], list[str]]:
    """References, and hypotheses with this share of their words changed."""
    random = np.random.default_rng(0)
    references = [list(random.choice(GERMAN, random.integers(5, 12))) for _ in range(count)]
    random = np.random.default_rng(seed)
    made = [
        " ".join(w if random.random() > share else str(random.choice(GERMAN)) for w in reference)
        for reference in references
    ]
    return [" ".join(reference) for reference in references], made


@pytest.mark.parametrize("share", [0.26, 0.3, 0.4])
def test_scores_and_samples_are_sacrebleus(share: float) -> None:
    """The interval is near that of samples drawn in a loop, and a system's near sacrebleu's."""
    references, one = texts(0.25, 1)
    _, other = texts(share, 2)
    metric = BLEU(lowercase=True, tokenize="none", force=True, smooth_method="none")
    systems = [("one", one), ("other", other)]
    _, found = PairedTest(systems, {"BLEU": metric}, [references], test_type="bs")()
    theirs = found["BLEU"]
    counts = [statistics(side, references) for side in (one, other)]
    ours = resample([(counts[0], counts[1])])
    assert ours.estimate == pytest.approx(theirs[0].score - theirs[1].score)
    assert ours.sentences == 60
    drawn = np.random.default_rng(0).choice(60, size=(SAMPLES // 4, 60), replace=True)
    scores = [[bleu(side[sample].sum(0)) for sample in drawn] for side in counts]
    expected = np.quantile(np.subtract(*scores), [0.025, 0.975])
    assert (ours.low, ours.high) == pytest.approx(tuple(expected), abs=0.6)
    low, high = np.quantile(scores[1], [0.025, 0.975])
    assert theirs[1].mean == pytest.approx(np.mean(scores[1]), abs=0.4)
    assert theirs[1].ci == pytest.approx((high - low) / 2, abs=0.3)


def test_equal_systems_are_rarely_called_different() -> None:
    """The interval leaves out 0 in about one pair in twenty."""
    rejected = 0
    for seed in range(100):
        references, one = texts(0.3, 10 + 2 * seed)
        _, other = texts(0.3, 11 + 2 * seed)
        found = resample([(statistics(one, references), statistics(other, references))])
        rejected += found.low > 0 or found.high < 0
    assert rejected <= 10


def test_a_much_better_system_is_seen_and_an_equal_one_is_not() -> None:
    references, bad = texts(0.5, 1)
    counts = [statistics(side, references) for side in (bad, texts(0.1, 2)[1], texts(0.1, 3)[1])]
    found = resample([(counts[1], counts[0])])
    assert 10 < found.low < found.estimate < found.high
    equal = resample([(counts[1], counts[2])])
    assert equal.low < 0 < equal.high
