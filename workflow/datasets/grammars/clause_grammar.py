"""Texts made of clauses, some of which hold one salient word; most salient words tell the label.

The words of a class are drawn by Zipf's law, so that some of those in dev and test are rare or
unknown, as in real text.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

Clause = list[str]

# Slots of a clause: a capital letter is a salient word, a small one a neutral word of its class.
NAME = "*"
SLOTS = {
    "n": "noun",
    "j": "adjective",
    "v": "verb",
    "r": "adverb",
    "p": "preposition",
    "d": "determiner",
    "b": "copula",
    "g": "genitive",
    "c": "number",
    "J": "adjective",
    "N": "noun",
    "V": "verb",
}


def words(text: str) -> list[str]:
    """Split a list of words that is written as one string, the most frequent word first."""
    return text.split()


SYLLABLES = (
    words("bar dor fen gal har kel lan mor nor per ros tam vel win"),
    words("ba de li mo no ra sa ti vo"),
    words("ck ff ll n nd r s th"),
)
PER_SENTENCE = (0.4, 0.4, 0.2)  # chances that a sentence of a story has one, two or three clauses


@dataclass(frozen=True)
class Grammar:
    """Words and clauses of texts with two labels; the words of a list are the most frequent first.

    A clause is a string of slots, see `SLOTS`.
    """

    salient: Mapping[str, tuple[Sequence[str], Sequence[str]]]
    """Words of each class that speak for label 0 and for label 1."""
    neutral: Mapping[str, Sequence[str]]
    """Words of each class that say nothing of the label, and the `joint` of two clauses."""
    salient_clauses: Sequence[str]
    neutral_clauses: Sequence[str]

    def salient_words(self) -> list[str]:
        """Return every word that speaks for a label, sorted."""
        return sorted(word for pair in self.salient.values() for side in pair for word in side)

    def salient_clause(self, label: int, generator: random.Random) -> Clause:
        """Return the words of a clause, one of which speaks for the label."""
        return self._clause(self.salient_clauses, label, generator)

    def neutral_clause(self, generator: random.Random) -> Clause:
        """Return the words of a clause that says nothing of the label."""
        return self._clause(self.neutral_clauses, 0, generator)

    def sentence(self, clauses: Sequence[Clause], generator: random.Random) -> list[str]:
        """Return the words of a sentence of these clauses, with words or marks that join them."""
        text = clauses[0]
        for clause in clauses[1:]:
            text = [*text, _word(self.neutral["joint"], generator), *clause]
        return [*text, "."]

    def story(
        self, label: int, agreeing: int, neutral: int, generator: random.Random
    ) -> list[list[str]]:
        """Return the words of the sentences of a text.

        It has `agreeing` salient words of its label, fewer of the other one, often none, and
        `neutral` clauses besides.
        """
        opposing = min(generator.randrange(agreeing), generator.randrange(agreeing))
        labels = [label] * agreeing + [1 - label] * opposing
        clauses = [self.salient_clause(each, generator) for each in labels]
        clauses += [self.neutral_clause(generator) for _ in range(neutral)]
        generator.shuffle(clauses)
        sentences = []
        while clauses:
            size = draw(PER_SENTENCE, generator) + 1
            sentences.append(self.sentence(clauses[:size], generator))
            clauses = clauses[size:]
        return sentences

    def _clause(self, kinds: Sequence[str], label: int, generator: random.Random) -> Clause:
        """Return the words of one clause of these kinds."""
        return [
            name(generator) if slot == NAME else _word(self._words(slot, label), generator)
            for slot in generator.choice(kinds)
        ]

    def _words(self, slot: str, label: int) -> Sequence[str]:
        """Return the words that may fill a slot."""
        word_class = SLOTS[slot]
        return self.salient[word_class][label] if slot.isupper() else self.neutral[word_class]


def balanced(count: int, generator: random.Random) -> list[int]:
    """Return `count` labels in random order, as many 1 as 0 or one fewer."""
    labels = [0, 1] * (count // 2) + [0] * (count % 2)
    generator.shuffle(labels)
    return labels


def name(generator: random.Random) -> str:
    """Make up a name: there are so many that some of dev and test do not occur in train."""
    return "".join(generator.choice(syllables) for syllables in SYLLABLES)


def draw(chances: Sequence[float], generator: random.Random) -> int:
    """Draw 0, 1, 2, ... with the given chances."""
    return generator.choices(range(len(chances)), weights=chances)[0]


def _word(choices: Sequence[str], generator: random.Random) -> str:
    """Draw a word, the n-th of the list with a weight of 1/n."""
    return generator.choices(choices, cum_weights=_zipf(len(choices)))[0]


@cache
def _zipf(count: int) -> list[float]:
    """Return the sums of 1, 1/2, ... up to each of `count` terms."""
    return list(accumulate(1 / rank for rank in range(1, count + 1)))
