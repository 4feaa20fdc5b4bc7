"""English sentences most of whose words have three classes, and German ones, for the demo.

`light` is a noun, a verb or an adjective; which, and so which German word it is, its sentence alone
tells. No such word comes twice in a sentence. German puts the infinitive last; its nouns are all
neuter, so that its determiners and adjectives have one form each.
"""

import random

from workflow.datasets.grammars.translations import STOP, Sentence, TranslatedPair, TranslatedWords

HOMOGRAPHS = {
    form: {
        "noun": TranslatedPair(form, noun, "noun", "NN"),
        "verb": TranslatedPair(form, verb, "verb", "VB"),
        "adjective": TranslatedPair(form, adjective, "adjective", "JJ"),
    }
    for form, noun, verb, adjective in (
        line.split()
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
    )
}
"""By form and class."""
DETERMINERS = [
    TranslatedPair("the", "das", "determiner", "DT"),
    TranslatedPair("this", "dieses", "determiner", "DT"),
]
MODALS = [
    TranslatedPair("can", "kann", "auxiliary", "MD"),
    TranslatedPair("must", "muss", "auxiliary", "MD"),
]
PREPOSITIONS = [
    TranslatedPair("for", "für", "preposition", "IN"),
    TranslatedPair("without", "ohne", "preposition", "IN"),
]


def sentence(generator: random.Random) -> Sentence:
    """Draw a sentence."""
    forms = generator.sample(sorted(HOMOGRAPHS), 7)
    subject, objects = _noun_phrase(forms, generator), _noun_phrase(forms, generator)
    modal = generator.choice(MODALS)
    verb = HOMOGRAPHS[forms.pop()]["verb"]
    if generator.random() < 0.4:
        objects += [generator.choice(PREPOSITIONS), *_noun_phrase(forms, generator)]
    return [*subject, modal, verb, *objects, STOP], [*subject, modal, *objects, verb, STOP]


def _noun_phrase(forms: list[str], generator: random.Random) -> TranslatedWords:
    """Return a determiner, perhaps an adjective, and a noun; their forms are taken away."""
    words = [generator.choice(DETERMINERS)]
    if generator.random() < 0.5:
        words.append(HOMOGRAPHS[forms.pop()]["adjective"])
    return [*words, HOMOGRAPHS[forms.pop()]["noun"]]


def lexicon() -> list[TranslatedPair]:
    """Return all forms that translate each other, by class."""
    others = [*DETERMINERS, *MODALS, *PREPOSITIONS, STOP]
    return others + [entry for meanings in HOMOGRAPHS.values() for entry in meanings.values()]
