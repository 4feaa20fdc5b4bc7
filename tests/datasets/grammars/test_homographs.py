"""Sentences of words with several classes: each has one translation, told by its place."""

import random

from workflow.datasets.grammars.homographs import HOMOGRAPHS, MODALS, lexicon, sentence
from workflow.datasets.grammars.translations import CLASSES


def classes(english: list[str]) -> list[str]:
    """Tell the classes of a sentence from left to right, by what stands before and after."""
    known = {entry.english: entry.word_class for entry in lexicon()}
    modals = {entry.english for entry in MODALS}
    found = []
    for place, word in enumerate(english):
        if word not in HOMOGRAPHS:
            found.append(known[word])
        elif english[place - 1] in modals:
            found.append("verb")
        else:
            found.append("adjective" if english[place + 1] in HOMOGRAPHS else "noun")
    return found


def test_the_class_of_every_word_is_told_by_its_place():
    generator = random.Random(0)
    meanings = {(entry.english, entry.word_class): entry.german for entry in lexicon()}
    for _ in range(300):
        drawn = sentence(generator)
        english, german = [e.english for e in drawn[0]], [e.german for e in drawn[1]]
        found = classes(english)
        words = [meanings[pair] for pair in zip(english, found, strict=True)]
        verb = words.pop(found.index("verb"))
        assert german == [*words[:-1], verb, words[-1]]
        forms = [word for word in english if word in HOMOGRAPHS]
        assert len(forms) == len(set(forms))


def test_every_form_has_three_translations_of_its_own():
    entries = lexicon()
    lower = [entry.german.lower() for entry in entries]
    assert len(lower) == len(set(lower))
    assert {entry.word_class for entry in entries} <= set(CLASSES)
    for form, meanings in HOMOGRAPHS.items():
        assert {kind: (one.english, one.word_class) for kind, one in meanings.items()} == {
            kind: (form, kind) for kind in ("noun", "verb", "adjective")
        }
