"""A small generated sentiment corpus whose salient words are known.

A sentence is a few clauses of neutral words, some of them with one salient word each; its label is
the polarity of most of its salient words. Words are drawn by Zipf's law, so that some of those in
the dev and test sets are rare or unknown, as in real text.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate

NEGATIVE, POSITIVE = 0, 1


def _words(text: str) -> list[str]:
    """Split a list of words that is written as one string, the most frequent word first."""
    return text.split()


SALIENT: dict[str, tuple[list[str], list[str]]] = {
    "adjective": (
        _words(
            "dull tedious clumsy lifeless shallow tiresome bland awful dreary stale pointless "
            "inept hollow lazy grating sluggish muddled feeble vapid contrived soggy charmless"
        ),
        _words(
            "moving brilliant charming witty graceful superb delightful gripping warm fresh wise "
            "tender thrilling elegant vivid heartfelt inventive radiant dazzling "
            "sublime rich lively"
        ),
    ),
    "noun": (
        _words("mess bore failure disaster chore letdown blunder dud"),
        _words("triumph joy gem delight treasure marvel treat masterpiece"),
    ),
    "verb": (
        _words("bores fails annoys drags stumbles disappoints flounders irritates"),
        _words("charms shines delights soars sparkles succeeds enchants satisfies"),
    ),
}

NEUTRAL = {
    "noun": _words(
        "film story plot cast script director camera ending scene actor music dialogue movie hero "
        "comedy drama sequel city family war river house summer season novel village train letter "
        "teacher soldier street winter journey island captain garden hospital widow banker twin"
    ),
    "adjective": _words(
        "long french second young dark quiet small early urban rural silent main modern old final "
        "ordinary foreign distant odd nearby"
    ),
    "verb": _words(
        "follows opens moves returns turns begins walks speaks travels waits arrives changes "
        "drifts wanders gathers"
    ),
    "adverb": _words("slowly again often mostly simply quickly rarely almost nearly always"),
    "preposition": _words("in of with about through from under near after before"),
    "determiner": _words("the a this its every one"),
    "copula": _words("is looks feels remains"),
    "joint": [",", "and", "but", "while", "as", ";"],
}

SYLLABLES = (
    _words("bar dor fen gal har kel lan mor nor per ros tam vel win"),
    _words("ba de li mo no ra sa ti vo"),
    _words("ck ff ll n nd r s th"),
)

# Slots: a capital letter is a salient word, a small one a neutral word of the same class.
NAME = "*"
SLOTS = {
    "n": "noun",
    "j": "adjective",
    "v": "verb",
    "r": "adverb",
    "p": "preposition",
    "d": "determiner",
    "b": "copula",
    "J": "adjective",
    "N": "noun",
    "V": "verb",
}
NEUTRAL_CLAUSES = ("dnv", "dnbj", "dnvpdn", "djnvr", "dnpdnvr", "pdjn", "*rvpdjn", "*v")
SALIENT_CLAUSES = ("dJn", "dnV", "dnbrJ", "dnpdnbJ", "dJnpdn", "djnrV", "dNp*", "*vpdJn", "djN")
LENGTHS = (0.5, 0.3, 0.2)  # chances of one, two or three salient words of the label's polarity
NEUTRAL_COUNTS = (0.3, 0.4, 0.3)  # chances of no, one or two neutral clauses
MIXED = 0.5  # chance of one word of the other polarity, where the label's has a majority anyway


def salient_words() -> list[str]:
    """Return every word that carries polarity, sorted."""
    return sorted(word for pair in SALIENT.values() for words in pair for word in words)


def sentences(count: int, generator: random.Random) -> Iterator[tuple[int, str]]:
    """Yield `count` pairs (label, text) in random order, half of them negative."""
    labels = [NEGATIVE, POSITIVE] * (count // 2) + [NEGATIVE] * (count % 2)
    generator.shuffle(labels)
    for label in labels:
        yield label, _sentence(label, generator)


def _sentence(label: int, generator: random.Random) -> str:
    """Return a text whose salient words are, by majority, of the label's polarity."""
    agreeing = _count(LENGTHS, generator) + 1
    polarities = [label] * agreeing
    if agreeing > 1 and generator.random() < MIXED:
        polarities.append(1 - label)
    clauses = [_clause(SALIENT_CLAUSES, polarity, generator) for polarity in polarities]
    for _ in range(_count(NEUTRAL_COUNTS, generator)):
        clauses.append(_clause(NEUTRAL_CLAUSES, label, generator))
    generator.shuffle(clauses)
    words = clauses[0]
    for clause in clauses[1:]:
        words = [*words, _word(NEUTRAL["joint"], generator), *clause]
    return " ".join([*words, "."])


def _clause(kinds: Sequence[str], polarity: int, generator: random.Random) -> list[str]:
    """Return the words of one clause; a salient one among them has the given polarity."""
    return [
        _name(generator) if slot == NAME else _word(_list(slot, polarity), generator)
        for slot in generator.choice(kinds)
    ]


def _list(slot: str, polarity: int) -> list[str]:
    """Return the words that may fill a slot."""
    word_class = SLOTS[slot]
    return SALIENT[word_class][polarity] if slot.isupper() else NEUTRAL[word_class]


def _name(generator: random.Random) -> str:
    """Make up a name: there are so many that some of dev and test do not occur in train."""
    return "".join(generator.choice(syllables) for syllables in SYLLABLES)


def _word(words: Sequence[str], generator: random.Random) -> str:
    """Draw a word, the n-th of the list with a weight of 1/n."""
    weights = accumulate(1 / rank for rank in range(1, len(words) + 1))
    return generator.choices(words, cum_weights=list(weights))[0]


def _count(chances: Sequence[float], generator: random.Random) -> int:
    """Draw 0, 1, 2, ... with the given chances."""
    return generator.choices(range(len(chances)), weights=chances)[0]
