"""English sentences and their German translations for the demo, each the only right one.

German moves verbs: infinitives and participles go to the end of a clause, the finite verb to the
end of a clause with a conjunction, and before the subject after an adverb or another clause. Its
determiners and adjectives agree with the noun in gender, number and case (nominative, accusative).
Every word form has one class; the lexicon lists which forms translate each other.
"""

import random
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

CLASSES = (
    *("determiner", "adjective", "noun", "verb", "participle"),
    *("auxiliary", "adverb", "preposition", "conjunction", "mark"),
)
CHUNKS = {
    **dict.fromkeys(("determiner", "adjective", "noun"), "NP"),
    **dict.fromkeys(("verb", "participle", "auxiliary"), "VP"),
    **{"adverb": "ADVP", "preposition": "PP", "conjunction": "SBAR"},
}


class TranslatedPair(NamedTuple):
    """Two forms that translate each other; one is empty where a word has no counterpart."""

    english: str
    german: str
    word_class: str
    tag: str
    """Of the English form, in the Penn Treebank."""


TranslatedWords = list[TranslatedPair]
Sentence = tuple[TranslatedWords, TranslatedWords]
"""The words in their English order, and in their German one."""


class Lemma(NamedTuple):
    """The forms of a word: of nouns singular and plural, of verbs third person, plural, participle.

    A noun has a gender.
    """

    forms: tuple[TranslatedPair, ...]
    gender: str


class Determiner(NamedTuple):
    """A determiner's forms by number; without an English plural, it has none."""

    english: tuple[str, str]
    german: Mapping[tuple[str, str], str]
    """By case and gender, `p` for plural."""
    adjective: Mapping[tuple[str, str], str]
    """Endings of adjectives after it, in the same way."""

    def entry(self, case: str, gender: str) -> TranslatedPair:
        """Return the form for a noun."""
        english = self.english[gender == "p"]
        return TranslatedPair(english, self.german[case, gender], "determiner", "DT")


FORMS: Mapping[str, Sequence[tuple[str, str]]] = {
    "noun": (("noun", "NN"), ("noun", "NNS")),
    "verb": (("verb", "VBZ"), ("verb", "VB"), ("participle", "VBN")),
    "auxiliary": (("auxiliary", "VBZ"), ("auxiliary", "VB")),
    "modal": (("auxiliary", "MD"), ("auxiliary", "MD")),
    "adjective": (("adjective", "JJ"),),
    "adverb": (("adverb", "RB"),),
    "preposition": (("preposition", "IN"),),
    "conjunction": (("conjunction", "IN"),),
}
"""Class and tag of each form of a kind of words."""


def lemmas(kind: str, text: str) -> list[Lemma]:
    """Read lemmas: English forms, as many German ones (`-` for none), and of nouns the gender."""
    read = []
    for line in text.split(";"):
        words = [word.strip("-") for word in line.split()]
        gender = words.pop() if len(words) % 2 else ""
        half = len(words) // 2
        rows = zip(words[:half], words[half:], FORMS[kind], strict=True)
        forms = (TranslatedPair(english, german, *known) for english, german, known in rows)
        read.append(Lemma(tuple(forms), gender))
    return read


def single(kind: str, text: str) -> TranslatedWords:
    """Read words of one form."""
    return [form for lemma in lemmas(kind, text) for form in lemma.forms]


def _table(text: str) -> dict[tuple[str, str], str]:
    """Read forms, nominative and accusative, of masculine, feminine, neuter and plural."""
    forms = (form.replace("-", "") for form in text.replace("/", "").split())
    return dict(zip(product(("nominative", "accusative"), "mfnp"), forms, strict=True))


NOUNS = lemmas(
    "noun",
    """man men Mann Männer m; woman women Frau Frauen f; child children Kind Kinder n;
    dog dogs Hund Hunde m; cat cats Katze Katzen f; horse horses Pferd Pferde n;
    friend friends Freund Freunde m; sister sisters Schwester Schwestern f;
    house houses Haus Häuser n; tree trees Baum Bäume m; street streets Straße Straßen f;
    book books Buch Bücher n; table tables Tisch Tische m; flower flowers Blume Blumen f;
    picture pictures Bild Bilder n; ball balls Ball Bälle m; door doors Tür Türen f;
    boat boats Boot Boote n; letter letters Brief Briefe m; cup cups Tasse Tassen f;
    shirt shirts Hemd Hemden n""",
)
TRANSITIVE = lemmas(
    "verb",
    """sees see seen sieht sehen gesehen; finds find found findet finden gefunden;
    buys buy bought kauft kaufen gekauft; loves love loved liebt lieben geliebt;
    paints paint painted malt malen gemalt; carries carry carried trägt tragen getragen;
    needs need needed braucht brauchen gebraucht; holds hold held hält halten gehalten;
    pulls pull pulled zieht ziehen gezogen; chooses choose chosen wählt wählen gewählt""",
)
INTRANSITIVE = lemmas(
    "verb",
    """sleeps sleep slept schläft schlafen geschlafen; laughs laugh laughed lacht lachen gelacht;
    works work worked arbeitet arbeiten gearbeitet; waits wait waited wartet warten gewartet;
    sings sing sung singt singen gesungen; dances dance danced tanzt tanzen getanzt""",
)
REPORTING = lemmas(
    "verb",
    """says say said sagt sagen gesagt; believes believe believed glaubt glauben geglaubt;
    hopes hope hoped hofft hoffen gehofft""",
)
HAVE, DO = lemmas("auxiliary", "has have hat haben; does do - -")
MODALS = lemmas("modal", "can can kann können; must must muss müssen; should should soll sollen")
ADJECTIVES = single(
    "adjective",
    """thick dick; young jung; small klein; big groß; red rot; green grün; new neu;
    beautiful schön; quick schnell; slow langsam; poor arm; rich reich; strong stark; clever klug;
    white weiß; black schwarz""",
)
ADVERBS = single(
    "adverb", "today heute; often oft; now jetzt; here hier; rarely selten; again wieder"
)
PREPOSITIONS = single("preposition", "for für; without ohne; against gegen; around um")
"""All with the accusative."""
CONJUNCTIONS = single("conjunction", "because weil; when wenn; while während; although obwohl")
[THAT] = single("conjunction", "that dass")
AND = TranslatedPair("and", "und", "conjunction", "CC")
MARKS = [TranslatedPair(mark, mark, "mark", mark) for mark in ".?,"]
STOP = MARKS[0]
WEAK = _table("-e -e -e -en / -en -e -e -en")
MIXED = _table("-er -e -es -en / -en -e -es -en")
STRONG = _table("-er -e -es -e / -en -e -es -e")
ENDINGS = ("e", "er", "es", "en")
DETERMINERS = (
    Determiner(("the", "the"), _table("der die das die / den die das die"), WEAK),
    Determiner(
        ("this", "these"), _table("dieser diese dieses diese / diesen diese dieses diese"), WEAK
    ),
    Determiner(("my", "my"), _table("mein meine mein meine / meinen meine mein meine"), MIXED),
    Determiner(("a", ""), _table("ein eine ein - / einen eine ein -"), MIXED),
)
BARE = Determiner(("", ""), _table("- - - - / - - - -"), STRONG)
"""No determiner, before a plural."""

ORDERS = {
    "plain": (4, "svro.", "svor."),
    "front": (2, "asvro.", "avsor."),
    "question": (1, "dsvo?", "vso?"),
    "that": (2, "svrtSVRO.", "svr,tSORV."),
    "before": (2, "csvro,SVRO.", "csorv,VSOR."),
    "after": (2, "svrocSVRO.", "svor,cSORV."),
}
"""Weight of each kind of sentence, and the order of its parts in either language.

A clause has a subject `s`, a finite verb `v`, the rest of the verb `r` and objects `o`; a second
one is in capitals. Before them come an adverb `a`, a conjunction `c`, `that` `t` and `do` `d`.
"""


def sentence(generator: random.Random) -> Sentence:
    """Draw a sentence."""
    [kind] = generator.choices([*ORDERS], [weight for weight, _, _ in ORDERS.values()])
    parts: dict[str, TranslatedWords] = {mark.english: [mark] for mark in MARKS}
    if kind == "question":
        parts |= _question(generator)
    elif kind == "that":
        parts |= _report(generator)
    else:
        if kind == "front":
            parts["a"] = [generator.choice(ADVERBS)]
        elif kind != "plain":
            parts["c"] = [generator.choice(CONJUNCTIONS)]
        parts |= zip("svro", clause(generator), strict=True)
        if "S" in ORDERS[kind][1]:
            parts |= zip("SVRO", clause(generator), strict=True)
    _, english, german = ORDERS[kind]
    return [w for part in english for w in parts[part]], [w for p in german for w in parts[p]]


def clause(
    generator: random.Random,
) -> tuple[TranslatedWords, TranslatedWords, TranslatedWords, TranslatedWords]:
    """Return a subject, a finite verb, the infinitive or participle with it, and objects."""
    subject, plural = _subject(generator)
    verb, objects = _predicate(generator)
    return subject, *_forms(verb, plural, generator), objects


def _question(generator: random.Random) -> dict[str, TranslatedWords]:
    """Return the parts of a question: English needs `do`, German puts the verb first."""
    subject, plural = _subject(generator)
    verb, objects = _predicate(generator)
    asked = verb.forms[1]._replace(german=verb.forms[plural].german)
    return {"d": [DO.forms[plural]], "s": subject, "v": [asked], "o": objects}


def _report(generator: random.Random) -> dict[str, TranslatedWords]:
    """Return the parts of a sentence on what somebody says."""
    subject, plural = _subject(generator)
    said = dict(zip("SVRO", clause(generator), strict=True))
    finite, rest = _forms(generator.choice(REPORTING), plural, generator)
    return {"s": subject, "v": finite, "r": rest, "t": [THAT], **said}


def _forms(
    verb: Lemma, plural: bool, generator: random.Random
) -> tuple[TranslatedWords, TranslatedWords]:
    """Return the finite verb, and what goes with it: present, perfect or after a modal."""
    tense = generator.choice(("present", "present", "perfect", "modal"))
    if tense == "present":
        return [verb.forms[plural]], []
    if tense == "perfect":
        return [HAVE.forms[plural]], [verb.forms[2]]
    return [generator.choice(MODALS).forms[plural]], [verb.forms[1]]


def _predicate(generator: random.Random) -> tuple[Lemma, TranslatedWords]:
    """Return a verb, and the object and prepositional phrase that go with it."""
    objects: TranslatedWords = []
    if generator.random() < 0.7:
        verb, objects = generator.choice(TRANSITIVE), _noun_phrase("accusative", generator)[0]
    else:
        verb = generator.choice(INTRANSITIVE)
    if generator.random() < 0.2:
        preposition = generator.choice(PREPOSITIONS)
        objects = [*objects, preposition, *_noun_phrase("accusative", generator)[0]]
    return verb, objects


def _subject(generator: random.Random) -> tuple[TranslatedWords, bool]:
    """Return a subject, and whether it is plural: a noun phrase, or two, plural together."""
    words, plural = _noun_phrase("nominative", generator)
    if generator.random() < 0.9:
        return words, plural
    return [*words, AND, *_noun_phrase("nominative", generator)[0]], True


def _noun_phrase(case: str, generator: random.Random) -> tuple[TranslatedWords, bool]:
    """Return a determiner, perhaps an adjective, and a noun; and whether it is plural."""
    noun, plural = generator.choice(NOUNS), generator.random() < 0.4
    determiner = generator.choice(DETERMINERS)
    if plural and not determiner.english[1]:
        determiner = BARE
    gender = "p" if plural else noun.gender
    words = [determiner.entry(case, gender)] if determiner != BARE else []
    if generator.random() < 0.4:
        adjective = generator.choice(ADJECTIVES)
        ending = determiner.adjective[case, gender]
        words.append(adjective._replace(german=adjective.german + ending))
    return [*words, noun.forms[plural]], plural


def lexicon() -> list[TranslatedPair]:
    """Return all forms that translate each other, and those without a counterpart, by class."""
    verbs = [*TRANSITIVE, *INTRANSITIVE, *REPORTING]
    known = {form for lemma in (*NOUNS, *verbs, HAVE, DO, *MODALS) for form in lemma.forms}
    known |= {*ADVERBS, *PREPOSITIONS, *CONJUNCTIONS, THAT, AND, *MARKS}
    for verb in (*TRANSITIVE, *INTRANSITIVE):  # as in `does the man sleep`
        known.add(verb.forms[1]._replace(german=verb.forms[0].german))
    for one in DETERMINERS:
        known |= {one.entry(*form) for form, german in one.german.items() if german}
    known |= {word._replace(german=word.german + end) for word in ADJECTIVES for end in ENDINGS}
    return sorted(known, key=lambda entry: (CLASSES.index(entry.word_class), *entry))


def chunk_tags(words: Sequence[TranslatedPair]) -> list[str]:
    """Return the chunk tags of an English sentence.

    Verbs that follow each other are one chunk; a noun ends its noun phrase. Marks, and the `and`
    between two noun phrases, are in no chunk.
    """
    tags: list[str] = []
    for place, word in enumerate(words):
        kind = CHUNKS.get(word.word_class) if word != AND else None
        inside = place and tags[-1].endswith(f"-{kind}") and words[place - 1].word_class != "noun"
        tags.append(f"{'I' if inside else 'B'}-{kind}" if kind else "O")
    return tags
