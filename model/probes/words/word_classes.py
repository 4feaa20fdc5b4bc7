"""What kind of word a token belongs to: by a lexicon, by its part of speech, or by its form."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from model.batches.corpus import REBUILD, Corpus, read_lines, text_lines
from model.probes.words.subwords import (
    CONTINUED,
    SubWords,
    english_side,
    frequent_words,
    plain,
    unigram_tags,
    vocabulary,
)

LEXICON = "lexicon.tsv"
OTHER = "other"
FREQUENT_WORDS = 100
"""So many of the most frequent words are a class of their own where no lexicon is known."""
PARTS_OF_SPEECH = {
    "NN": "noun", "VB": "verb", "MD": "verb", "JJ": "adjective", "RB": "adverb", "WRB": "adverb",
    "DT": "determiner", "PDT": "determiner", "WDT": "determiner", "PRP": "pronoun",
    "WP": "pronoun", "EX": "pronoun", "IN": "preposition", "TO": "preposition",
    "CC": "conjunction", "CD": "number", "RP": "particle", "POS": "particle",
}  # fmt: skip
"""Parts of speech by how tags of the Penn Treebank begin; `IN` has some conjunctions too."""
MARK, NUMBER = re.compile(r"(&\S+;|[^\w&])+"), re.compile(r"[\d.,]*\d[\d.,]*")


def word_classes(
    corpus: Corpus,
    tokens: np.ndarray,
    offsets: np.ndarray,
    split: str,
    side: str,
    tagged: Corpus | None = None,
) -> list[str]:
    """The class of each of the tokens (M,) of a side of a split, whose sentences begin at (N + 1,).

    In a corpus with a lexicon it is that of the token's word there; of several the first whose
    translation stands in the other side's sentence. Without one it is told by the form: `mark`,
    `number`, `prefix`, `infix` or `suffix` of a word in several pieces; any other has its part of
    speech in `tagged`, or is a `frequent word`, one of the hundred most frequent, or a `rarer
    word`.

    Raises:
        ValueError: `tagged` is no tagged corpus, or is given for a side that is not English.
    """
    symbols, path = vocabulary(corpus, side), corpus.folder / LEXICON
    parts: dict[str, str] = {}
    if tagged is not None:
        if english_side(corpus) != side:
            raise ValueError(
                f"tagged: the words of the {side} are not English: take it away, or ask for the "
                f"roles of the other side."
            )
        parts = _parts_of_speech(tagged, SubWords(corpus, side))
    known, others = None, [""] * (len(offsets) - 1)
    if path.is_file():
        known = _lexicon(text_lines(path), side)
        others = read_lines(corpus, split, "reference" if side == "source" else "source")
    frequent: set[str] = set()
    if known is None:
        words = [symbols[i] for i in frequent_words(corpus, side)]
        frequent = set([word for word in words if not _form(word)][:FREQUENT_WORDS])
    classes: list[str] = []
    for other, first, end in zip(others, offsets[:-1], offsets[1:], strict=True):
        for pieces in _words([symbols[i] for i in tokens[first:end]]):
            if known is not None:
                meanings = known.get(plain(pieces), {"": OTHER})
                meant = (name for form, name in meanings.items() if form in other.split())
                classes += [next(meant, next(iter(meanings.values())))] * len(pieces)
            elif len(pieces) > 1:
                classes += ["prefix", *["infix"] * (len(pieces) - 2), "suffix"]
            else:
                usual = "frequent word" if pieces[0] in frequent else "rarer word"
                classes.append(_form(pieces[0]) or parts.get(pieces[0], usual))
    return classes


def _parts_of_speech(tagged: Corpus, subwords: SubWords) -> dict[str, str]:
    """The part of speech of every word of a tagged corpus that has a common one."""
    classes = {}
    for word, tag in unigram_tags(tagged, subwords).items():
        begin = next((begin for begin in PARTS_OF_SPEECH if tag.startswith(begin)), None)
        if begin is not None:
            classes[word] = PARTS_OF_SPEECH[begin]
    return classes


def _form(word: str) -> str:
    """What kind of word a form shows, empty for one of letters."""
    if NUMBER.fullmatch(word):
        return "number"
    return "mark" if MARK.fullmatch(word) else ""


def _lexicon(lines: list[str], side: str) -> dict[str, dict[str, str]]:
    """Of each word of a side its class by its translation.

    Raises:
        ValueError: the file has no such columns.
    """
    header, *rows = [line.split("\t") for line in lines]
    if not {"source", "target", "class"} <= set(header):
        raise ValueError(f"{LEXICON} has no columns 'source', 'target' and 'class': {REBUILD}")
    lexicon: dict[str, dict[str, str]] = {}
    for row in rows:
        entry = dict(zip(header, row, strict=True))
        other = entry["target" if side == "source" else "source"]
        lexicon.setdefault(entry[side], {})[other] = entry["class"]
    return lexicon


def _words(pieces: Sequence[str]) -> list[list[str]]:
    """The pieces of each word."""
    words: list[list[str]] = []
    open_word = False
    for piece in pieces:
        if open_word:
            words[-1].append(piece)
        else:
            words.append([piece])
        open_word = piece.endswith(CONTINUED)
    return words
