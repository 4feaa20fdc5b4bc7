"""Paired bootstrap of two systems: sacrebleu's own, and systems whose answer is known."""

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from workflow.reporting.statistics.bootstrap import (
    SAMPLES,
    bleu,
    resample,
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
