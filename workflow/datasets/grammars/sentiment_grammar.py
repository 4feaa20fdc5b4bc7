"""A small generated sentiment corpus whose salient words are known.

A sentence is a few clauses of neutral words, some of them with one salient word each; its label is
the polarity of most of its salient words. Words are drawn by Zipf's law, so that some of those in
the dev and test sets are rare or unknown, as in real text.
"""

import random
from collections.abc import Iterator

from workflow.datasets.grammars.clause_grammar import Grammar, balanced, draw, words

NEGATIVE, POSITIVE = 0, 1

SALIENT = {
    "adjective": (
        words(
            "dull tedious clumsy lifeless shallow tiresome bland awful dreary stale pointless "
            "inept hollow lazy grating sluggish muddled feeble vapid contrived soggy charmless"
        ),
        words(
            "moving brilliant charming witty graceful superb delightful gripping warm fresh wise "
            "tender thrilling elegant vivid heartfelt inventive radiant dazzling "
            "sublime rich lively"
        ),
    ),
    "noun": (
        words("mess bore failure disaster chore letdown blunder dud"),
        words("triumph joy gem delight treasure marvel treat masterpiece"),
    ),
    "verb": (
        words("bores fails annoys drags stumbles disappoints flounders irritates"),
        words("charms shines delights soars sparkles succeeds enchants satisfies"),
    ),
}

NEUTRAL = {
    "noun": words(
        "film story plot cast script director camera ending scene actor music dialogue movie hero "
        "comedy drama sequel city family war river house summer season novel village train letter "
        "teacher soldier street winter journey island captain garden hospital widow banker twin"
    ),
    "adjective": words(
        "long french second young dark quiet small early urban rural silent main modern old final "
        "ordinary foreign distant odd nearby"
    ),
    "verb": words(
        "follows opens moves returns turns begins walks speaks travels waits arrives changes "
        "drifts wanders gathers"
    ),
    "adverb": words("slowly again often mostly simply quickly rarely almost nearly always"),
    "preposition": words("in of with about through from under near after before"),
    "determiner": words("the a this its every one"),
    "copula": words("is looks feels remains"),
    "joint": words(", and but while as ;"),
}

GRAMMAR = Grammar(
    salient=SALIENT,
    neutral=NEUTRAL,
    salient_clauses=("dJn", "dnV", "dnbrJ", "dnpdnbJ", "dJnpdn", "djnrV", "dNp*", "*vpdJn", "djN"),
    neutral_clauses=("dnv", "dnbj", "dnvpdn", "djnvr", "dnpdnvr", "pdjn", "*rvpdjn", "*v"),
)
LENGTHS = (0.5, 0.3, 0.2)  # chances of one, two or three salient words of the label's polarity
NEUTRAL_COUNTS = (0.3, 0.4, 0.3)  # chances of no, one or two neutral clauses
MIXED = 0.5  # chance of one word of the other polarity, where the label's has a majority anyway


def salient_words() -> list[str]:
    """Return every word that carries polarity, sorted."""
    return GRAMMAR.salient_words()


def sentences(count: int, generator: random.Random) -> Iterator[tuple[int, str]]:
    """Yield `count` pairs (label, text) in random order, half of them negative."""
    for label in balanced(count, generator):
        yield label, _sentence(label, generator)


def _sentence(label: int, generator: random.Random) -> str:
    """Return a text whose salient words are, by majority, of the label's polarity."""
    agreeing = draw(LENGTHS, generator) + 1
    polarities = [label] * agreeing
    if agreeing > 1 and generator.random() < MIXED:
        polarities.append(1 - label)
    clauses = [GRAMMAR.salient_clause(polarity, generator) for polarity in polarities]
    clauses += [GRAMMAR.neutral_clause(generator) for _ in range(draw(NEUTRAL_COUNTS, generator))]
    generator.shuffle(clauses)
    return " ".join(GRAMMAR.sentence(clauses, generator))
