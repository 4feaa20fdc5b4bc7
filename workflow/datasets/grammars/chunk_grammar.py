"""The English sentences of the translation grammar with parts of speech and chunks.

They are in the format of CoNLL-2000, for models that were trained on the generated translations.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from workflow.datasets.grammars.translation_grammar import (
    AND,
    DO,
    HAVE,
    INTRANSITIVE,
    MODALS,
    NOUNS,
    REPORTING,
    TRANSITIVE,
    lexicon,
    sentence,
)
from workflow.datasets.io.files import write_lines

PLURALS = frozenset(noun.english[1] for noun in NOUNS)
THIRD_PERSON = frozenset(
    verb.english[0] for verb in (*TRANSITIVE, *INTRANSITIVE, *REPORTING, HAVE, DO)
)
MODAL = frozenset(verb.english[0] for verb in MODALS)
CLASS = {entry.english: entry.word_class for entry in lexicon()}
TAGS = {
    "determiner": "DT",
    "adjective": "JJ",
    "noun": "NN",
    "verb": "VB",
    "participle": "VBN",
    "auxiliary": "VB",
    "adverb": "RB",
    "preposition": "IN",
    "conjunction": "IN",
}
CHUNKS = {
    "determiner": "NP",
    "adjective": "NP",
    "noun": "NP",
    "verb": "VP",
    "participle": "VP",
    "auxiliary": "VP",
    "adverb": "ADVP",
    "preposition": "PP",
    "conjunction": "SBAR",
}


def write_tagged(out: Path, sizes: Mapping[str, int], seed: int) -> None:
    """Write files with so many sentences each, every file with a stream of its own."""
    for name, count in sizes.items():
        generator = random.Random(f"{seed} conll2000 {name}")
        write_lines(out / name, _lines(count, generator))


def _lines(count: int, generator: random.Random) -> Iterator[str]:
    for _ in range(count):
        words, _ = sentence(generator)
        for word, chunk in zip(words, chunk_tags(words), strict=True):
            yield f"{word} {part_of_speech(word)} {chunk}"
        yield ""


def part_of_speech(word: str) -> str:
    """Return the tag of a word in the Penn Treebank; of present forms only the third person's."""
    if word in PLURALS:
        return "NNS"
    if word in THIRD_PERSON:
        return "VBZ"
    if word in MODAL:
        return "MD"
    if word == AND[0]:
        return "CC"
    return TAGS.get(CLASS[word], word)


def chunk_tags(words: Sequence[str]) -> list[str]:
    """Return the chunk tags of a sentence.

    Verbs that follow each other are one chunk; a noun ends its noun phrase. Marks, and the `and`
    between two noun phrases, are in no chunk.
    """
    tags: list[str] = []
    for place, word in enumerate(words):
        kind = CHUNKS.get(CLASS[word]) if word != AND[0] else None
        if kind is None:
            tags.append("O")
            continue
        before = words[place - 1] if place else ""
        goes_on = bool(tags) and tags[-1].endswith(f"-{kind}") and CLASS[before] != "noun"
        tags.append(f"{'I' if goes_on else 'B'}-{kind}")
    return tags
