"""A small grammar of English sentences most of whose words have three classes, and of German ones.

`light` is a noun, a verb or an adjective; which, and so which German word it is, its sentence alone
tells. No such word comes twice in a sentence. German puts the infinitive last; its nouns are all
neuter, so that its determiners and adjectives have one form each.
"""

import random

from workflow.datasets.grammars.translation_grammar import Entry

HOMOGRAPHS = {
    line.split()[0]: dict(zip(("noun", "verb", "adjective"), line.split()[1:], strict=True))
    for line in """
light Licht erleuchten leichte
double Doppel verdoppeln zweifache
level Niveau ebnen flache
square Quadrat quadrieren eckige
blind Rollo blenden blinde
cool Kühlhaus kühlen kühle
open Turnier öffnen offene
dry Trockendock trocknen trockene
model Modell formen vorbildliche
fancy Faible mögen schicke
present Geschenk zeigen anwesende
total Ergebnis addieren gesamte
""".strip().splitlines()
}
"""By form the German noun, infinitive and adjective."""
DETERMINERS = {"the": "das", "this": "dieses"}
MODALS = {"can": "kann", "must": "muss"}
PREPOSITIONS = {"for": "für", "without": "ohne"}
STOP = "."


def sentence(generator: random.Random) -> tuple[list[str], list[str]]:
    """Return the words of an English sentence and of its translation, marks included."""
    forms = generator.sample(sorted(HOMOGRAPHS), 7)
    subject, field = _noun_phrase(forms, generator), _noun_phrase(forms, generator)
    modal = generator.choice(sorted(MODALS))
    verb = forms.pop()
    if generator.random() < 0.4:
        preposition = generator.choice(sorted(PREPOSITIONS))
        english, german = _noun_phrase(forms, generator)
        field[0].extend([preposition, *english])
        field[1].extend([PREPOSITIONS[preposition], *german])
    infinitive = HOMOGRAPHS[verb]["verb"]
    return (
        [*subject[0], modal, verb, *field[0], STOP],
        [*subject[1], MODALS[modal], *field[1], infinitive, STOP],
    )


def _noun_phrase(forms: list[str], generator: random.Random) -> tuple[list[str], list[str]]:
    """Return a determiner, perhaps an adjective, and a noun; their forms are taken away."""
    determiner = generator.choice(sorted(DETERMINERS))
    english, german = [determiner], [DETERMINERS[determiner]]
    for word_class in (*(["adjective"] if generator.random() < 0.5 else []), "noun"):
        english.append(forms.pop())
        german.append(HOMOGRAPHS[english[-1]][word_class])
    return english, german


def lexicon() -> list[Entry]:
    """Return all forms that translate each other, by class."""
    others = {"determiner": DETERMINERS, "auxiliary": MODALS, "preposition": PREPOSITIONS}
    entries = [
        Entry(english, german, word_class)
        for word_class, pairs in (*others.items(), ("mark", {STOP: STOP}))
        for english, german in pairs.items()
    ]
    for english, meanings in HOMOGRAPHS.items():
        entries += [Entry(english, german, name) for name, german in meanings.items()]
    return entries
