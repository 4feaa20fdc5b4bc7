"""Words and sub-words of one side of a parallel corpus, and the tags of English words.

A parallel corpus is split into words as Moses does it, `&`, quotes and brackets escaped; a piece
that is not the last of its word ends in `@@`. A tagged corpus has the words themselves as
vocabulary, and its columns `pos` and `chunk` number the names in its manifest's statistics.
"""

from __future__ import annotations

import io

import numpy as np

from model.batches.corpus import REBUILD, Corpus, Split, text_lines

ENGLISH = "en"
SIDES = ("source", "target")
RESERVED = 4
"""Ids below are <pad>, <bos>, <eos> and <unk>."""
UNKNOWN = 3
CONTINUED = "@@"
CHUNK = 100_000
"""Examples that are counted at once."""
ESCAPES = {
    "&": "&amp;", "|": "&#124;", "<": "&lt;", ">": "&gt;", "'": "&apos;", '"': "&quot;",
    "[": "&#91;", "]": "&#93;",
}  # fmt: skip
PENN = {
    "``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}",
}  # fmt: skip
"""Quotes and brackets of the Penn Treebank, which writes `/` and `*` behind a backslash too."""


def english_side(corpus: Corpus) -> str:
    """The side of a parallel corpus that is English.

    Raises:
        ValueError: neither is, or the corpus is no parallel one.
    """
    languages = corpus.manifest.get("languages", {})
    for side in SIDES:
        if languages.get(side) == ENGLISH:
            return side
    raise ValueError(
        f"{corpus.folder}: no side of this corpus is English, whose words are asked for; take the "
        "evaluator away from this experiment."
    )


def vocabulary(corpus: Corpus, side: str) -> list[str]:
    """The sub-words of a side by id; both sides share one where the source has none of its own."""
    path = corpus.folder / "source_vocabulary.txt"
    if side == "source" and path.is_file():
        return text_lines(path)
    return corpus.vocabulary


def word_counts(split: Split, side: str, symbols: list[str]) -> np.ndarray:
    """How often each sub-word is a whole word on one side of a split, (V,).

    The end of a word (`ed` of `paint@@ ed`) looks like a whole one but for what stands before it.
    """
    goes_on = np.array([symbol.endswith(CONTINUED) for symbol in symbols])
    total = np.zeros(len(symbols), np.int64)
    for first in range(0, len(split), CHUNK):
        ends = np.asarray(split.offsets[first : first + CHUNK + 1])
        tokens = np.asarray(split.tokens[ends[0] : ends[-1]])
        middles = ends[:-1] + split.columns["source"][first : first + CHUNK]
        of_source = np.arange(ends[0], ends[-1]) < np.repeat(middles, np.diff(ends))
        own = tokens[of_source == (side == "source")]
        part = goes_on[own]
        part[1:] |= goes_on[own[:-1]]
        total += np.bincount(own[~part], minlength=len(symbols))
    return total


def frequent_words(corpus: Corpus, side: str) -> list[int]:
    """The ids of the whole words that a side has to train on, the most frequent first."""
    counts = word_counts(corpus.split("train"), side, vocabulary(corpus, side))
    order = np.argsort(-counts, kind="stable")
    return [int(i) for i in order if i >= RESERVED and counts[i]]


def plain(pieces: list[str]) -> str:
    """Words, separated by spaces, of sub-words."""
    return f"{' '.join(pieces)} ".replace(f"{CONTINUED} ", "").rstrip(" ")


class SubWords:
    """How a side of a parallel corpus writes words: its case, Moses's escapes, its merges.

    Args:
        corpus: a parallel one.
        side: `source` or `target`.

    Attributes:
        lowercase: whether all words are in lower case.

    Raises:
        ValueError: the corpus has no file of merges.
    """

    def __init__(self, corpus: Corpus, side: str) -> None:
        from subword_nmt.apply_bpe import BPE

        symbols = vocabulary(corpus, side)
        self.lowercase = is_lowercase(corpus)
        self._numbers = {symbol: number for number, symbol in enumerate(symbols)}
        self._known: dict[str, list[int]] = {}
        paths = [corpus.folder / name for name in ("codes.txt", f"{side}_codes.txt")]
        codes = next((path for path in paths if path.is_file()), None)
        if codes is None:
            raise ValueError(f"{corpus.folder} holds no merges of its words: {REBUILD}")
        # Pieces that the vocabulary lacks are split further, as far as the merges allow.
        self._codes = BPE(io.StringIO(codes.read_bytes().decode()), vocab=frozenset(symbols))

    def form(self, word: str) -> str:
        """A word of the Penn Treebank as this side writes it."""
        return moses_form(word).lower() if self.lowercase else moses_form(word)

    def ids(self, word: str) -> list[int]:
        """The sub-words of a word of the Penn Treebank, at least one."""
        if word not in self._known:
            pieces = self._codes.segment_tokens([self.form(word)])
            self._known[word] = [self._numbers.get(piece, UNKNOWN) for piece in pieces]
        return self._known[word]


def is_lowercase(corpus: Corpus) -> bool:
    """Whether all words of a parallel corpus are in lower case, as its dataset made them.

    Raises:
        ValueError: its manifest does not say so.
    """
    lowercase = corpus.manifest.get("lowercase")
    if not isinstance(lowercase, bool):
        raise ValueError(f"{corpus.folder}: the manifest has no 'lowercase': {REBUILD}")
    return lowercase


def moses_form(word: str) -> str:
    """A word of the Penn Treebank as Moses writes it."""
    word = PENN.get(word, word).replace("\\/", "/").replace("\\*", "*")
    return "".join(ESCAPES.get(letter, letter) for letter in word)


def column_names(tagged: Corpus, column: str) -> list[str]:
    """The names that a column of a tagged corpus numbers.

    Raises:
        ValueError: it has no such column.
    """
    names = tagged.manifest["statistics"].get(column)
    if not isinstance(names, list):
        raise ValueError(
            f"{tagged.folder} has no names of '{column}': name a tagged corpus, such as conll2000."
        )
    return [str(name) for name in names]


def unigram_tags(tagged: Corpus, subwords: SubWords) -> dict[str, str]:
    """The most frequent part of speech of every word of a tagged corpus (of equals the first name).

    All splits count. Words are in the form of the parallel corpus.
    """
    names = column_names(tagged, "pos")
    forms = [subwords.form(word) for word in tagged.vocabulary]
    numbers = {form: number for number, form in enumerate(dict.fromkeys(forms))}
    of_word = np.array([numbers[form] for form in forms])
    counts = np.zeros((len(numbers), len(names)), np.int64)
    for name in tagged.manifest["splits"]:
        split = tagged.split(name)
        np.add.at(counts, (of_word[split.tokens], split.columns["pos"]), 1)
    best = counts.argmax(axis=1)
    return {form: names[best[n]] for form, n in numbers.items() if counts[n].any()}
