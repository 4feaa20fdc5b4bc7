"""The generated sentiment corpus: its labels follow from the salient words alone."""

import hashlib
import math
import random
from collections import Counter

from workflow.datasets.grammars.sentiment_grammar import (
    NEGATIVE,
    POSITIVE,
    SALIENT,
    salient_words,
    sentences,
)

POLARITY = {
    word: label
    for pair in SALIENT.values()
    for label in (NEGATIVE, POSITIVE)
    for word in pair[label]
}


def corpus(count: int, seed: int) -> list[tuple[int, list[str]]]:
    return [(label, text.split(" ")) for label, text in sentences(count, random.Random(seed))]


def test_the_majority_of_the_salient_words_is_the_label() -> None:
    mixed = 0
    for label, words in corpus(1000, 0):
        polarities = [POLARITY[word] for word in words if word in POLARITY]
        assert 2 * polarities.count(label) > len(polarities)
        mixed += len(set(polarities)) == 2
    assert mixed > 100


def test_salient_words_are_those_with_a_polarity() -> None:
    assert salient_words() == sorted(POLARITY)
    assert len(salient_words()) == len(set(salient_words()))


def test_neutral_words_say_nothing_of_the_label() -> None:
    pairs = corpus(4000, 1)
    seen = Counter(word for _, words in pairs for word in set(words))
    positive = Counter(word for label, words in pairs if label == POSITIVE for word in set(words))
    for word, count in seen.items():
        if count < 50:
            continue
        share = positive[word] / count
        if word in POLARITY:
            assert share > 0.55 if POLARITY[word] == POSITIVE else share < 0.45
        else:
            assert abs(share - 0.5) < 4.5 * math.sqrt(0.25 / count)


def test_labels_are_balanced_in_random_order_and_lengths_vary() -> None:
    pairs = corpus(501, 2)
    labels = [label for label, _ in pairs]
    assert labels.count(POSITIVE) == 250
    assert labels != sorted(labels) and labels[:20] != [NEGATIVE, POSITIVE] * 10
    lengths = sorted(len(words) for _, words in pairs)
    assert lengths[0] <= 6 and 12 <= lengths[250] <= 20 and 25 <= lengths[-1] <= 60


def test_a_word_count_classifier_learns_it_from_the_demo_size() -> None:
    train, dev = corpus(1500, 3), corpus(300, 4)
    counts = {label: Counter(w for y, ws in train if y == label for w in ws) for label in (0, 1)}
    totals = {label: sum(counts[label].values()) for label in (0, 1)}

    def score(word: str) -> float:
        rate = {label: (counts[label][word] + 1) / totals[label] for label in (0, 1)}
        return math.log(rate[POSITIVE] / rate[NEGATIVE])

    right = sum((sum(map(score, words)) > 0) == (label == POSITIVE) for label, words in dev)
    unknown = {word for _, words in dev for word in words} - set(counts[0]) - set(counts[1])
    assert right / len(dev) > 0.85
    assert unknown


def test_sentences_depend_on_the_generator_only() -> None:
    assert corpus(50, 5) == corpus(50, 5)
    assert corpus(50, 5) != corpus(50, 6)


def test_the_sentences_of_a_seed_stay_what_they_were() -> None:
    """The demo's SST is made of them: another text would make its published numbers stale."""
    lines = [f"{label} {text}" for label, text in sentences(300, random.Random(0))]
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == (
        "f3116fe5d84cc7099b543f941996f2a2600150a6fcaf5f21d367e9ff7bbd54ab"
    )
