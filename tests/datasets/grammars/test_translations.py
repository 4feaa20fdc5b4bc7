"""The grammar: each word has a class and a translation, German agrees and moves its verbs."""

import random
from collections import Counter, defaultdict

import pytest

from workflow.datasets.grammars.translations import (
    CLASSES,
    CONJUNCTIONS,
    ENDINGS,
    MODALS,
    NOUNS,
    ORDERS,
    TranslatedPair,
    chunk_tags,
    clause,
    lexicon,
    sentence,
)

LEXICON = [entry[:3] for entry in lexicon()]
DRAWN = [sentence(random.Random(f"test {number}")) for number in range(3000)]
SENTENCES = [
    ([e.english for e in english if e.english], [e.german for e in german if e.german])
    for english, german in DRAWN
]
CLASS = [{entry[side]: entry[2] for entry in LEXICON if entry[side]} for side in (0, 1)]

# A determiner and the ending of an adjective after it, by gender or `p` for plural, by hand.
LEGAL = {
    "m": "der-e den-en dieser-e diesen-en mein-er meinen-en ein-er einen-en",
    "f": "die-e diese-e meine-e eine-e",
    "n": "das-e dieses-e mein-es ein-es",
    "p": "die-en diese-en meine-en -e",
}


def test_every_word_has_one_class_and_is_in_the_lexicon():
    for side in (0, 1):
        classes = defaultdict(set)
        for entry in LEXICON:
            classes[entry[side]].add(entry[2])
        assert all(len(found) == 1 for word, found in classes.items() if word)
        used = {word for pair in SENTENCES for word in pair[side]}
        assert used == {*CLASS[side]}
    assert {entry[2] for entry in LEXICON} == {*CLASSES}
    assert len({*LEXICON}) == len(LEXICON)


def test_words_translate_each_other_one_by_one():
    german = defaultdict(set)
    for english, form, _ in LEXICON:
        german[english].add(form)
    for first, second in SENTENCES:
        left = Counter(second)
        for word in sorted(first, key=lambda word: len(german[word])):
            found = [form for form in german[word] if left[form]]
            assert found or german[word] == {""}, (first, second)
            left[next(iter(found), "")] -= 1
        # A comma before a clause with a conjunction has no counterpart.
        assert {word for word, count in left.items() if word and count > 0} <= {","}


def test_a_sentence_has_one_translation_and_the_other_way_round():
    pairs = {(" ".join(first), " ".join(second)) for first, second in SENTENCES}
    assert len(pairs) > 2500
    assert len({first for first, _ in pairs}) == len({second for _, second in pairs}) == len(pairs)


def test_determiners_and_adjectives_agree():
    genders = {noun.forms[0].german: noun.gender for noun in NOUNS}
    genders |= {noun.forms[1].german: "p" for noun in NOUNS}
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
                ending = max((e for e in ENDINGS if adjective.endswith(e)), key=len)
                assert [determiner, ending] in legal, words
            else:
                assert determiner in [one for one, _ in legal], words
            checked[genders[noun], bool(adjective)] += 1
    assert len(checked) == 8 and min(checked.values()) > 50


def test_finite_verbs_agree_with_the_subject():
    modals = [form for modal in MODALS for form in modal.forms]
    plurals = {noun.forms[1] for noun in NOUNS}
    for number in range(500):
        subject, [finite], _, _ = clause(random.Random(number))
        plural = bool(plurals & {*subject}) or "and" in [word.english for word in subject]
        if finite in modals:
            assert finite.german.endswith("en") == plural
        else:
            assert finite.english.endswith("s") != plural
            assert finite.german.endswith("n") == plural


PARTS = {
    **{"s": "der Mann", "v": "hat", "r": "gesehen", "o": "einen Hund", "a": "heute"},
    **{"S": "die Frau", "V": "muss", "R": "warten", "O": "", "c": "weil", "t": "dass", "d": "tut"},
}
HAND = {
    "plain": "der Mann hat gesehen einen Hund . / der Mann hat einen Hund gesehen .",
    "front": "heute der Mann hat gesehen einen Hund . / heute hat der Mann einen Hund gesehen .",
    "question": "tut der Mann hat einen Hund ? / hat der Mann einen Hund ?",
    "that": "der Mann hat gesehen dass die Frau muss warten . / "
    "der Mann hat gesehen , dass die Frau warten muss .",
    "before": "weil der Mann hat gesehen einen Hund , die Frau muss warten . / "
    "weil der Mann einen Hund gesehen hat , muss die Frau warten .",
    "after": "der Mann hat gesehen einen Hund weil die Frau muss warten . / "
    "der Mann hat einen Hund gesehen , weil die Frau warten muss .",
}


def test_the_order_of_words_by_hand():
    """English words in the English order, and German ones in the German order."""
    for kind, (_, *orders) in ORDERS.items():
        written = [" ".join(PARTS.get(part, part) for part in order) for order in orders]
        assert " / ".join(" ".join(text.split()) for text in written) == HAND[kind]


def test_tags_and_chunks_by_hand():
    known: dict[str, TranslatedPair] = {}
    for words, _ in DRAWN:
        for word in words:
            assert known.setdefault(word.english, word).tag == word.tag
    text = "while my small dogs have seen the man , does a woman and the dogs sleep can ."
    parts = "IN DT JJ NNS VB VBN DT NN , VBZ DT NN CC DT NNS VB MD ."
    chunks = "B-SBAR B-NP I-NP I-NP B-VP I-VP B-NP I-NP O B-VP B-NP I-NP O B-NP I-NP B-VP I-VP O"
    words = [known[word] for word in text.split()]
    assert [word.tag for word in words] == parts.split()
    assert chunk_tags(words) == chunks.split()


@pytest.mark.parametrize("conjunction", ["dass", *(one.german for one in CONJUNCTIONS)])
def test_the_verb_is_last_after_a_conjunction(conjunction):
    found = [words for _, words in SENTENCES if conjunction in words]
    assert len(found) > 30
    for words in found:
        start = words.index(conjunction)
        end = next(place for place in range(start, len(words)) if words[place] in (",", "."))
        assert CLASS[1][words[end - 1]] in ("verb", "auxiliary")
        assert CLASS[1][words[start + 1]] not in ("verb", "auxiliary")
        if words[end] == ",":  # the main clause follows: its verb comes first
            assert CLASS[1][words[end + 1]] in ("verb", "auxiliary")
