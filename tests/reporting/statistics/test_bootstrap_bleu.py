"""Paired bootstrap of two systems: sacrebleu's own, and systems whose answer is known."""

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest
from scipy import stats

from workflow.reporting.statistics.bootstrap import (
    SAMPLES,
    SEED,
    bleu,
    resample,
    resample_mean,
    statistics,
)

WORDS = ["der", "Hund", "sieht", "ein", "boot", "im", "see", "und", "die", "katze", "schläft"]


def texts(share: float, seed: int, count: int = 60) -> tuple[list[str], list[str]]:
    """References, and hypotheses with this share of their words changed."""
    random = np.random.default_rng(0)
    references = [list(random.choice(WORDS, random.integers(5, 12))) for _ in range(count)]
    random = np.random.default_rng(seed)
    made = [
        " ".join(w if random.random() > share else str(random.choice(WORDS)) for w in reference)
        for reference in references
    ]
    return [" ".join(reference) for reference in references], made


@pytest.mark.parametrize("share", [0.26, 0.3, 0.4])
def test_scores_and_samples_are_sacrebleus(share: float) -> None:
    """Both draw the same sentences; the p-value is near that of a normal with their spread."""
    references, one = texts(0.25, 1)
    _, other = texts(share, 2)
    metric = BLEU(lowercase=True, tokenize="none", force=True, smooth_method="none")
    systems = [("one", one), ("other", other)]
    _, found = PairedTest(systems, {"BLEU": metric}, [references], test_type="bs")()
    theirs = found["BLEU"]
    counts = [statistics(side, references) for side in (one, other)]
    ours = resample([(counts[0], counts[1])], margin=0)
    assert ours.estimate == pytest.approx(theirs[0].score - theirs[1].score)
    assert ours.sentences == 60
    drawn = np.random.default_rng(SEED).choice(60, size=(SAMPLES, 60), replace=True)
    scores = [
        [bleu(side[sample].sum(0)) for sample in drawn] for side in counts
    ]  # fmt: skip
    spread = float(np.std(np.subtract(*scores)))
    normal = 2 * stats.norm.sf(abs(ours.estimate) / spread)
    assert ours.p_value == pytest.approx(normal, abs=0.06)
    # sacrebleu's interval of one system is that of its own samples.
    low, high = np.quantile(scores[1], [0.025, 0.975])
    assert theirs[1].mean == pytest.approx(np.mean(scores[1]), abs=0.2)
    assert theirs[1].ci == pytest.approx((high - low) / 2, abs=0.2)


def test_equal_systems_are_rarely_called_different() -> None:
    """At .05 about one pair in twenty; sacrebleu's own p-value calls twice as many so."""
    rejected = 0
    for seed in range(100):
        references, one = texts(0.3, 10 + 2 * seed)
        _, other = texts(0.3, 11 + 2 * seed)
        pair = (statistics(one, references), statistics(other, references))
        rejected += resample([pair], margin=0).p_value < 0.05
    assert rejected <= 10


def test_a_much_better_system_is_seen_and_an_equal_one_is_not() -> None:
    references, bad = texts(0.5, 1)
    counts = [statistics(side, references) for side in (bad, texts(0.1, 2)[1], texts(0.1, 3)[1])]
    found = resample([(counts[1], counts[0])], margin=0)
    assert found.p_value < 0.01 and found.low > 10
    assert found.low < found.estimate < found.high
    equal = resample([(counts[1], counts[2])], margin=0)
    assert equal.p_value > 0.05 and equal.low < 0 < equal.high


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.3])
def test_a_mean_is_drawn_as_scipy_draws_it(shift: float) -> None:
    """Both take the 2.5th and 97.5th percentile of the means of samples with replacement."""
    values = np.random.default_rng(1).exponential(1.0, 150) - 1 + shift
    found = resample_mean(values.tolist(), [0.5, 0.5], margin=0)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(2)
    )
    assert found.estimate == pytest.approx(values.mean())
    assert found.low == pytest.approx(theirs.confidence_interval.low, abs=0.02)
    assert found.high == pytest.approx(theirs.confidence_interval.high, abs=0.02)
    error = values.std() / np.sqrt(len(values))
    normal = 2 * stats.norm.sf(abs(values.mean()) / error)
    assert found.p_value == pytest.approx(normal, abs=0.06)
    assert found.sentences == 150 and found.per_seed == [0.5, 0.5]
