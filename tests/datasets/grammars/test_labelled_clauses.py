"""The grammar of labelled texts: the majority of its salient words is a text's label."""

import hashlib
import math
import random
from collections import Counter
from collections.abc import Callable

import pytest

from workflow.datasets.grammars.labelled_clauses import NEWS, SENTIMENT, SPORTS, balanced, draw

Texts = Callable[[int, int], list[tuple[int, list[str]]]]


def stories(lexicon) -> Texts:
    """Texts of two to four words of their label and one to three neutral clauses."""

    def texts(count: int, seed: int) -> list[tuple[int, list[str]]]:
        generator = random.Random(seed)
        pairs = []
        for label in balanced(count, generator):
            sizes = (generator.randint(2, 4), generator.randint(1, 3))
            story = lexicon.story(label, *sizes, generator)
            pairs.append((label, [word for sentence in story for word in sentence]))
        return pairs

    return texts


def sentences(count: int, seed: int) -> list[tuple[int, list[str]]]:
    """The texts of the demo's SST."""
    pairs = SENTIMENT.sentences(count, random.Random(seed))
    return [(label, text.split(" ")) for label, text in pairs]


LEXICONS = {"sentiment": SENTIMENT, "sports": SPORTS, "news": NEWS}
CORPORA = {name: (lexicon, stories(lexicon)) for name, lexicon in LEXICONS.items()}
each_corpus = pytest.mark.parametrize(
    ("lexicon", "texts"), [*CORPORA.values(), (SENTIMENT, sentences)], ids=[*CORPORA, "sentences"]
)


@pytest.mark.parametrize("lexicon", LEXICONS.values(), ids=LEXICONS)
def test_no_word_is_both_salient_and_neutral_or_of_two_labels(lexicon):
    salient = [w for slot, words in lexicon.words.items() if slot[0].isupper() for w in words]
    assert sorted(salient) == [*lexicon.labels] and set(lexicon.labels.values()) == {0, 1}
    assert all(word.isalpha() and word.islower() for word in salient)
    for slot, words in lexicon.words.items():
        assert len(words) == len(set(words))
        assert slot[0].isupper() or not set(words) & set(salient)


@each_corpus
def test_the_label_has_the_majority_of_the_salient_words(lexicon, texts):
    mixed, agreeing = 0, set()
    for label, words in texts(600, 0):
        labels = [lexicon.labels[word] for word in words if word in lexicon.labels]
        assert 2 * labels.count(label) > len(labels)
        mixed += len(set(labels)) == 2
        agreeing.add(labels.count(label))
    assert agreeing == ({1, 2, 3} if texts is sentences else {2, 3, 4})
    assert 100 < mixed < 400


@each_corpus
def test_words_tell_of_the_label_only_if_they_are_salient(lexicon, texts):
    pairs = texts(3000, 1)
    seen = Counter(word for _, words in pairs for word in set(words))
    ones = Counter(word for label, words in pairs if label == 1 for word in set(words))
    for word, count in seen.items():
        share = ones[word] / count
        if count >= 50 and word in lexicon.labels:
            assert share > 0.55 if lexicon.labels[word] else share < 0.45
        elif count >= 50:
            assert abs(share - 0.5) < 4.5 * math.sqrt(0.25 / count)


@each_corpus
def test_salient_words_are_few_and_some_are_rare(lexicon, texts):
    counts = Counter(word for _, words in texts(600, 2) for word in words)
    salient = [counts[word] for word in lexicon.labels]
    assert 0.05 < sum(salient) / counts.total() < 0.3
    assert max(salient) > 80
    assert sum(count < 10 for count in salient) > 5
    assert sum(count == 1 for count in counts.values()) > 50


def test_labels_are_balanced_in_random_order_and_lengths_vary():
    labels = [label for label, _ in sentences(501, 2)]
    assert (labels.count(0), labels.count(1)) == (251, 250)
    assert labels != sorted(labels) and labels[:20] != [0, 1] * 10
    lengths = sorted(len(words) for _, words in sentences(501, 2))
    assert lengths[0] <= 6 and 12 <= lengths[250] <= 20 and 25 <= lengths[-1] <= 60


def test_a_word_count_classifier_learns_it_from_the_demo_size():
    train, dev = sentences(1500, 3), sentences(300, 4)
    counts = [Counter(w for y, words in train if y == label for w in words) for label in (0, 1)]

    def score(word: str) -> float:
        rates = [(count[word] + 1) / count.total() for count in counts]
        return math.log(rates[1] / rates[0])

    right = sum((sum(map(score, words)) > 0) == (label == 1) for label, words in dev)
    assert right / len(dev) > 0.85
    assert {word for _, words in dev for word in words} - set(counts[0]) - set(counts[1])


def test_draw_has_the_given_chances():
    generator = random.Random(4)
    counts = Counter(draw((0.2, 0.0, 0.8), generator) for _ in range(2000))
    assert set(counts) == {0, 2}
    assert abs(counts[0] - 400) < 4.5 * math.sqrt(2000 * 0.2 * 0.8)


def test_the_sentences_of_a_seed_stay_what_they_were():
    """The demo's SST is made of them: another text would train its runs again."""
    lines = [f"{label} {text}" for label, text in SENTIMENT.sentences(300, random.Random(0))]
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == (
        "f3116fe5d84cc7099b543f941996f2a2600150a6fcaf5f21d367e9ff7bbd54ab"
    )
