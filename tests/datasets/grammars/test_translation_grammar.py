"""The grammar: each word has a class and a translation, German agrees and moves its verbs."""

import random
from collections import Counter, defaultdict

import pytest

from workflow.datasets.grammars.translation_grammar import (
    CLASSES,
    CONJUNCTIONS,
    ENDINGS,
    NOUNS,
    Clause,
    Phrase,
    lexicon,
    sentence,
)

LEXICON = lexicon()
SENTENCES = [sentence(random.Random(f"test {number}")) for number in range(3000)]
CLASS = [{entry[side]: entry.word_class for entry in LEXICON if entry[side]} for side in (0, 1)]

# A determiner and the ending of an adjective after it, by gender or `p` for plural, by hand.
LEGAL = {
    "m": "der-e den-en dieser-e diesen-en mein-er meinen-en ein-er einen-en",
    "f": "die-e diese-e meine-e eine-e",
    "n": "das-e dieses-e mein-es ein-es",
    "p": "die-en diese-en meine-en -e",
}


def test_every_word_has_one_class_and_is_in_the_lexicon() -> None:
    for side in (0, 1):
        classes = defaultdict(set)
        for entry in LEXICON:
            classes[entry[side]].add(entry.word_class)
        assert all(len(found) == 1 for word, found in classes.items() if word)
        used = {word for pair in SENTENCES for word in pair[side]}
        assert used == {*CLASS[side]}
    assert {entry.word_class for entry in LEXICON} == {*CLASSES}
    assert len({*LEXICON}) == len(LEXICON)


def test_words_translate_each_other_one_by_one() -> None:
    german = defaultdict(set)
    for entry in LEXICON:
        german[entry.english].add(entry.german)
    for first, second in SENTENCES:
        left = Counter(second)
        for word in sorted(first, key=lambda word: len(german[word])):
            found = [form for form in german[word] if left[form]]
            assert found or german[word] == {""}, (first, second)
            left[next(iter(found), "")] -= 1
        # A comma before a clause with a conjunction has no counterpart.
        assert {word for word, count in left.items() if word and count > 0} <= {","}


def test_a_sentence_has_one_translation_and_the_other_way_round() -> None:
    pairs = {(" ".join(first), " ".join(second)) for first, second in SENTENCES}
    assert len(pairs) > 2500
    assert len({first for first, _ in pairs}) == len({second for _, second in pairs}) == len(pairs)


def test_determiners_and_adjectives_agree() -> None:
    genders = {noun.german[0]: noun.gender for noun in NOUNS}
    genders |= {noun.german[1]: "p" for noun in NOUNS}
    checked = Counter()
    for _, words in SENTENCES:
        for place, noun in enumerate(words):
            if noun not in genders:
                continue
            before = words[place - 1] if place else ""
            adjective = before if CLASS[1].get(before) == "adjective" else ""
            place -= 2 if adjective else 1
            determiner = words[place] if place >= 0 else ""
            determiner = determiner if CLASS[1].get(determiner) == "determiner" else ""
            legal = [one.split("-") for one in LEGAL[genders[noun]].split()]
            if adjective:
                ending = next(
                    e for e in sorted(ENDINGS, key=len, reverse=True) if adjective.endswith(e)
                )
                assert [determiner, ending] in legal, words
            else:
                assert determiner in [one for one, _ in legal], words
            checked[genders[noun], bool(adjective)] += 1
    assert len(checked) == 8 and min(checked.values()) > 50


def test_finite_verbs_agree_with_the_subject() -> None:
    singular = {"has", "does"} | {
        entry.english
        for entry in LEXICON
        if entry.word_class == "verb" and entry.english.endswith("s")
    }
    for number in range(500):
        clause = Clause.draw(random.Random(number))
        english, german = clause.finite
        if english in ("can", "must", "should"):
            assert german.endswith("en") == clause.subject.plural
        else:
            assert (english in singular) != clause.subject.plural
            assert german.endswith("n") == clause.subject.plural


CLAUSE = Clause(
    Phrase(["the", "man"], ["der", "Mann"]),
    ("has", "hat"),
    ("seen", "gesehen"),
    Phrase(["a", "dog"], ["einen", "Hund"]),
)


def test_the_order_of_words_by_hand() -> None:
    assert " ".join(CLAUSE.english()) == "the man has seen a dog"
    assert " ".join(CLAUSE.verb_second()) == "der Mann hat einen Hund gesehen"
    assert " ".join(CLAUSE.verb_first()) == "hat der Mann einen Hund gesehen"
    assert " ".join(CLAUSE.verb_last()) == "der Mann einen Hund gesehen hat"


@pytest.mark.parametrize("conjunction", ["dass", *(pair[1] for pair in CONJUNCTIONS)])
def test_the_verb_is_last_after_a_conjunction(conjunction: str) -> None:
    found = [words for _, words in SENTENCES if conjunction in words]
    assert len(found) > 30
    for words in found:
        start = words.index(conjunction)
        end = next(place for place in range(start, len(words)) if words[place] in (",", "."))
        assert CLASS[1][words[end - 1]] in ("verb", "auxiliary")
        assert CLASS[1][words[start + 1]] not in ("verb", "auxiliary")
        if words[end] == ",":  # the main clause follows: its verb comes first
            assert CLASS[1][words[end + 1]] in ("verb", "auxiliary")
