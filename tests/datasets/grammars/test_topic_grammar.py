"""The grammars of generated texts: the majority of its salient words is a text's label."""

import math
import random
from collections import Counter

import pytest

from workflow.datasets.grammars.clause_grammar import Grammar, balanced, draw
from workflow.datasets.grammars.sentiment_grammar import GRAMMAR as SENTIMENT
from workflow.datasets.grammars.topic_grammar import NEWS, SPORTS

GRAMMARS = {"sports": SPORTS, "news": NEWS, "sentiment": SENTIMENT}
each_grammar = pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)


def topics(grammar: Grammar) -> dict[str, int]:
    """The label that each salient word speaks for."""
    pairs = grammar.salient.values()
    return {word: label for pair in pairs for label in (0, 1) for word in pair[label]}


def texts(grammar: Grammar, count: int, seed: int) -> list[tuple[int, list[str]]]:
    """Labelled stories of two to four words of their label and one to three neutral clauses."""
    generator = random.Random(seed)
    pairs = []
    for label in balanced(count, generator):
        agreeing, neutral = generator.randint(2, 4), generator.randint(1, 3)
        story = grammar.story(label, agreeing, neutral, generator)
        pairs.append((label, [word for sentence in story for word in sentence]))
    return pairs


@each_grammar
def test_no_word_is_both_salient_and_neutral_or_of_two_labels(grammar):
    salient = grammar.salient_words()
    assert len(salient) == len(set(salient)) == len(topics(grammar))
    neutral = {word for words in grammar.neutral.values() for word in words}
    assert not neutral & set(salient)
    assert all(word.isalpha() and word.islower() for word in salient)
    for words in [
        *grammar.neutral.values(),
        *(w for pair in grammar.salient.values() for w in pair),
    ]:
        assert len(words) == len(set(words))


@each_grammar
def test_the_label_has_the_majority_of_the_salient_words(grammar):
    speaks_for = topics(grammar)
    mixed, agreeing_words = 0, set()
    for label, words in texts(grammar, 600, 0):
        found = [speaks_for[word] for word in words if word in speaks_for]
        assert found.count(label) in (2, 3, 4)
        assert 2 * found.count(label) > len(found)
        mixed += len(set(found)) == 2
        agreeing_words.add(found.count(label))
    assert agreeing_words == {2, 3, 4}
    assert 150 < mixed < 400


@each_grammar
def test_words_tell_of_the_label_only_if_they_are_salient(grammar):
    speaks_for = topics(grammar)
    pairs = texts(grammar, 3000, 1)
    seen = Counter(word for _, words in pairs for word in set(words))
    ones = Counter(word for label, words in pairs if label == 1 for word in set(words))
    for word, count in seen.items():
        if count < 50:
            continue
        share = ones[word] / count
        if word in speaks_for:
            assert share > 0.55 if speaks_for[word] else share < 0.45
        else:
            assert abs(share - 0.5) < 4.5 * math.sqrt(0.25 / count)


@each_grammar
def test_salient_words_are_few_and_some_are_rare(grammar):
    pairs = texts(grammar, 600, 2)
    counts = Counter(word for _, words in pairs for word in words)
    salient = {word: counts[word] for word in grammar.salient_words()}
    assert 0.05 < sum(salient.values()) / counts.total() < 0.3
    assert max(salient.values()) > 100
    assert sum(count < 10 for count in salient.values()) > 5
    assert sum(count == 1 for count in counts.values()) > 50


def test_labels_are_balanced_in_random_order():
    labels = balanced(501, random.Random(3))
    assert (labels.count(0), labels.count(1)) == (251, 250)
    assert labels != sorted(labels) and labels[:20] != [0, 1] * 10


def test_draw_has_the_given_chances():
    generator = random.Random(4)
    counts = Counter(draw((0.2, 0.0, 0.8), generator) for _ in range(2000))
    assert set(counts) == {0, 2}
    assert abs(counts[0] - 400) < 4.5 * math.sqrt(2000 * 0.2 * 0.8)
