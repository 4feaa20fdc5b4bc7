"""A small grammar of English sentences and their German translations, each the only right one.

German moves verbs: infinitives and participles go to the end of a clause, the finite verb to the
end of a clause with a conjunction, and before the subject after an adverb or another clause. Its
determiners and adjectives agree with the noun in gender, number and case (nominative, accusative).
Every word form has one class; the lexicon lists which forms translate each other.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

ENGLISH, GERMAN = "en", "de"
CLASSES = (
    "determiner",
    "adjective",
    "noun",
    "verb",
    "participle",
    "auxiliary",
    "adverb",
    "preposition",
    "conjunction",
    "mark",
)


class Noun(NamedTuple):
    """A noun's forms, singular and plural, and its gender."""

    english: tuple[str, str]
    german: tuple[str, str]
    gender: str


class Verb(NamedTuple):
    """A verb's forms: third person singular, plural, participle."""

    english: tuple[str, str, str]
    german: tuple[str, str, str]


class Determiner(NamedTuple):
    """A determiner's forms by number; an empty English plural means that it has none."""

    english: tuple[str, str]
    german: Mapping[str, Mapping[str, str]]
    """By case, then by gender or `p` for plural."""
    adjective: Mapping[str, Mapping[str, str]]
    """Endings of adjectives after it, in the same way."""


class Entry(NamedTuple):
    """Two forms that translate each other; one is empty where a word has no counterpart."""

    english: str
    german: str
    word_class: str


@dataclass(frozen=True)
class Phrase:
    """A phrase in both languages, and whether it is in the plural."""

    english: list[str]
    german: list[str]
    plural: bool = False


def _nouns(text: str) -> list[Noun]:
    rows = (line.split() for line in text.strip().splitlines())
    return [Noun((a, b), (c, d), gender) for a, b, c, d, gender in rows]


def _verbs(text: str) -> list[Verb]:
    rows = (line.split() for line in text.strip().splitlines())
    return [Verb((a, b, c), (d, e, f)) for a, b, c, d, e, f in rows]


def _pairs(text: str) -> list[tuple[str, str]]:
    words = text.split()
    return list(zip(words[::2], words[1::2], strict=True))


def _table(text: str) -> dict[str, dict[str, str]]:
    """Read two rows, nominative and accusative, of four forms: masculine to neuter, plural."""
    rows = [line.split() for line in text.split("/")]
    return {
        case: dict(zip("mfnp", (form.replace("-", "") for form in row), strict=True))
        for case, row in zip(("nominative", "accusative"), rows, strict=True)
    }


NOUNS = _nouns("""
man men Mann Männer m
woman women Frau Frauen f
child children Kind Kinder n
dog dogs Hund Hunde m
cat cats Katze Katzen f
horse horses Pferd Pferde n
friend friends Freund Freunde m
sister sisters Schwester Schwestern f
house houses Haus Häuser n
tree trees Baum Bäume m
street streets Straße Straßen f
book books Buch Bücher n
table tables Tisch Tische m
flower flowers Blume Blumen f
picture pictures Bild Bilder n
ball balls Ball Bälle m
door doors Tür Türen f
boat boats Boot Boote n
letter letters Brief Briefe m
cup cups Tasse Tassen f
shirt shirts Hemd Hemden n
""")
TRANSITIVE = _verbs("""
sees see seen sieht sehen gesehen
finds find found findet finden gefunden
buys buy bought kauft kaufen gekauft
loves love loved liebt lieben geliebt
paints paint painted malt malen gemalt
carries carry carried trägt tragen getragen
needs need needed braucht brauchen gebraucht
holds hold held hält halten gehalten
pulls pull pulled zieht ziehen gezogen
chooses choose chosen wählt wählen gewählt
""")
INTRANSITIVE = _verbs("""
sleeps sleep slept schläft schlafen geschlafen
laughs laugh laughed lacht lachen gelacht
works work worked arbeitet arbeiten gearbeitet
waits wait waited wartet warten gewartet
sings sing sung singt singen gesungen
dances dance danced tanzt tanzen getanzt
""")
REPORTING = _verbs("""
says say said sagt sagen gesagt
believes believe believed glaubt glauben geglaubt
hopes hope hoped hofft hoffen gehofft
""")
HAVE = Verb(("has", "have", ""), ("hat", "haben", ""))
DO = Verb(("does", "do", ""), ("", "", ""))
MODALS = (
    Verb(("can", "can", ""), ("kann", "können", "")),
    Verb(("must", "must", ""), ("muss", "müssen", "")),
    Verb(("should", "should", ""), ("soll", "sollen", "")),
)
ADJECTIVES = _pairs("""
thick dick young jung small klein big groß red rot green grün new neu beautiful schön quick schnell
slow langsam poor arm rich reich strong stark clever klug white weiß black schwarz
""")
ADVERBS = _pairs("today heute often oft now jetzt here hier rarely selten again wieder")
PREPOSITIONS = _pairs("for für without ohne against gegen around um")
"""All with the accusative."""
CONJUNCTIONS = _pairs("because weil when wenn while während although obwohl")
THAT, AND = ("that", "dass"), ("and", "und")
STOP, QUESTION, COMMA = ".", "?", ","
WEAK = _table("-e -e -e -en / -en -e -e -en")
MIXED = _table("-er -e -es -en / -en -e -es -en")
STRONG = _table("-er -e -es -e / -en -e -es -e")
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
ENDINGS = ("e", "er", "es", "en")
KINDS = ("plain", "front", "question", "that", "before", "after")
WEIGHTS = (4, 2, 1, 2, 2, 2)


def sentence(generator: random.Random) -> tuple[list[str], list[str]]:
    """Return the words of an English sentence and of its translation, marks included."""
    [kind] = generator.choices(KINDS, WEIGHTS)
    if kind == "question":
        english, german = _question(generator)
        return [*english, QUESTION], [*german, QUESTION]
    if kind == "that":
        english, german = _report(generator)
    elif kind == "before":
        conjunction = generator.choice(CONJUNCTIONS)
        side, main = Clause.draw(generator), Clause.draw(generator)
        english = [conjunction[0], *side.english(), COMMA, *main.english()]
        german = [conjunction[1], *side.verb_last(), COMMA, *main.verb_first()]
    elif kind == "after":
        conjunction = generator.choice(CONJUNCTIONS)
        main, side = Clause.draw(generator), Clause.draw(generator)
        english = [*main.english(), conjunction[0], *side.english()]
        german = [*main.verb_second(), COMMA, conjunction[1], *side.verb_last()]
    elif kind == "front":
        adverb, clause = generator.choice(ADVERBS), Clause.draw(generator)
        english = [adverb[0], *clause.english()]
        german = [adverb[1], *clause.verb_first()]
    else:
        clause = Clause.draw(generator)
        english, german = clause.english(), clause.verb_second()
    return [*english, STOP], [*german, STOP]


@dataclass(frozen=True)
class Clause:
    """A clause in parts, to be put in the order of either language."""

    subject: Phrase
    finite: tuple[str, str]
    """The finite verb, English and German."""
    rest: tuple[str, str]
    """The infinitive or participle that goes with it; empty without."""
    field: Phrase
    """Object and prepositional phrase."""

    @classmethod
    def draw(cls, generator: random.Random) -> "Clause":
        """Draw a clause."""
        subject = _subject(generator)
        verb, field = _predicate(generator)
        finite, rest = _forms(verb, subject.plural, generator)
        return cls(subject, finite, rest, field)

    def english(self) -> list[str]:
        """Return the English words: subject, verbs, object."""
        return _words(self.subject.english, self.finite[0], self.rest[0], self.field.english)

    def verb_second(self) -> list[str]:
        """Return the German words of a main clause: the infinitive or participle is last."""
        return _words(self.subject.german, self.finite[1], self.field.german, self.rest[1])

    def verb_first(self) -> list[str]:
        """Return the German words of a main clause after something else: the verb comes first."""
        return _words(self.finite[1], self.subject.german, self.field.german, self.rest[1])

    def verb_last(self) -> list[str]:
        """Return the German words of a clause with a conjunction: all verbs are last."""
        return _words(self.subject.german, self.field.german, self.rest[1], self.finite[1])


def _question(generator: random.Random) -> tuple[list[str], list[str]]:
    """Return a question: English needs `do`, German puts the verb first."""
    subject = _subject(generator)
    verb, field = _predicate(generator)
    do = DO.english[subject.plural]
    english = _words(do, subject.english, verb.english[1], field.english)
    return english, _words(verb.german[subject.plural], subject.german, field.german)


def _report(generator: random.Random) -> tuple[list[str], list[str]]:
    """Return a sentence on what somebody says."""
    subject, said = _subject(generator), Clause.draw(generator)
    finite, rest = _forms(generator.choice(REPORTING), subject.plural, generator)
    english = _words(subject.english, finite[0], rest[0], THAT[0], said.english())
    german = _words(subject.german, finite[1], rest[1], COMMA, THAT[1], said.verb_last())
    return english, german


def _forms(
    verb: Verb, plural: bool, generator: random.Random
) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the finite verb, and what goes with it: present, perfect or after a modal."""
    tense = generator.choice(("present", "present", "perfect", "modal"))
    if tense == "present":
        return (verb.english[plural], verb.german[plural]), ("", "")
    if tense == "perfect":
        return (HAVE.english[plural], HAVE.german[plural]), (verb.english[2], verb.german[2])
    modal = generator.choice(MODALS)
    return (modal.english[plural], modal.german[plural]), (verb.english[1], verb.german[1])


def _predicate(generator: random.Random) -> tuple[Verb, Phrase]:
    """Return a verb, and the object and prepositional phrase that go with it."""
    field = Phrase([], [])
    if generator.random() < 0.7:
        verb, field = generator.choice(TRANSITIVE), _noun_phrase("accusative", generator)
    else:
        verb = generator.choice(INTRANSITIVE)
    if generator.random() < 0.2:
        english, german = generator.choice(PREPOSITIONS)
        noun = _noun_phrase("accusative", generator)
        field = Phrase(
            [*field.english, english, *noun.english], [*field.german, german, *noun.german]
        )
    return verb, field


def _subject(generator: random.Random) -> Phrase:
    """Return a subject: a noun phrase, or two, which are plural together."""
    first = _noun_phrase("nominative", generator)
    if generator.random() < 0.9:
        return first
    second = _noun_phrase("nominative", generator)
    english, german = ([*a, word, *b] for a, word, b in zip(
        (first.english, first.german), AND, (second.english, second.german), strict=True
    ))  # fmt: skip
    return Phrase(english, german, plural=True)


def _noun_phrase(case: str, generator: random.Random) -> Phrase:
    """Return a determiner, perhaps an adjective, and a noun."""
    noun, plural = generator.choice(NOUNS), generator.random() < 0.4
    determiner = generator.choice(DETERMINERS)
    if plural and not determiner.english[1]:
        determiner = BARE
    form = "p" if plural else noun.gender
    english, german = [determiner.english[plural]], [determiner.german[case][form]]
    if generator.random() < 0.4:
        adjective = generator.choice(ADJECTIVES)
        english.append(adjective[0])
        german.append(adjective[1] + determiner.adjective[case][form])
    english.append(noun.english[plural])
    german.append(noun.german[plural])
    return Phrase(_words(english), _words(german), plural)


def _words(*parts: str | list[str]) -> list[str]:
    """Return the words of all parts, empty ones left out."""
    together = (word for part in parts for word in ([part] if isinstance(part, str) else part))
    return [word for word in together if word]


def lexicon() -> list[Entry]:
    """Return all forms that translate each other, and those without a counterpart, by class."""
    return sorted({*_entries()}, key=lambda e: (CLASSES.index(e.word_class), e.english, e.german))


def _entries() -> Iterator[Entry]:
    """Yield the entries of the lexicon; some come more than once."""
    for noun in NOUNS:
        for number in (0, 1):
            yield Entry(noun.english[number], noun.german[number], "noun")
    for determiner in DETERMINERS:
        for forms in determiner.german.values():
            for gender, form in forms.items():
                if form:
                    yield Entry(determiner.english[gender == "p"], form, "determiner")
    for english, german in ADJECTIVES:
        for ending in ENDINGS:
            yield Entry(english, german + ending, "adjective")
    for verb in (*TRANSITIVE, *INTRANSITIVE, *REPORTING):
        for number in (0, 1):
            yield Entry(verb.english[number], verb.german[number], "verb")
        yield Entry(verb.english[2], verb.german[2], "participle")
    for verb in (*TRANSITIVE, *INTRANSITIVE):  # as in `does the man sleep`
        yield Entry(verb.english[1], verb.german[0], "verb")
    for verb in (HAVE, DO, *MODALS):
        for number in (0, 1):
            yield Entry(verb.english[number], verb.german[number], "auxiliary")
    for word_class, pairs in (
        ("adverb", ADVERBS),
        ("preposition", PREPOSITIONS),
        ("conjunction", [*CONJUNCTIONS, THAT, AND]),
        ("mark", [(mark, mark) for mark in (STOP, QUESTION, COMMA)]),
    ):
        for english, german in pairs:
            yield Entry(english, german, word_class)
