"""The form of a corpus: how a text becomes words, and these the ids that a model reads.

A text goes through the rules of its dataset; film reviews and symbols, which these have in words
already, through the rules of what is typed in the explorer.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np

from model.batches.corpus import Corpus, text_lines
from model.probes.words.subwords import vocabulary
from workflow.datasets.encoded import subwords
from workflow.datasets.encoded.encoding import UNKNOWN
from workflow.datasets.encoded.moses import Moses
from workflow.datasets.encoded.prepared import CODES, PIECES
from workflow.datasets.encoded.sentence_pieces import Pieces
from workflow.datasets.io.left_out import visible
from workflow.datasets.kinds.byte_text import ByteText, symbol
from workflow.datasets.kinds.labelled_text import LabelledText
from workflow.datasets.kinds.parallel_text import ParallelText, as_written
from workflow.datasets.kinds.recipe import Recipe, load
from workflow.reporting.explorer.typed import split_symbols, split_text

NORMALISED = ("multi30k", "pairs")
"""Datasets whose punctuation is made uniform before Moses splits."""


class Form(NamedTuple):
    """The form of a corpus: its symbols by id, a text to words, and a word to ids."""

    symbols: list[str]
    words: Callable[[str], list[str]]
    ids: Callable[[str], Sequence[int]]
    unknown: int = UNKNOWN
    any_word: bool = False
    """Whether a word may be unknown; else there are no other symbols than those of the corpus."""
    end: tuple[int, ...] = ()
    """What is behind every line."""


def form_of(corpus: Corpus, symbols: list[str]) -> Form:
    """Return the form of a corpus, of whose vocabulary a model has `symbols`."""
    options = corpus.manifest["options"]
    dataset = load(cast(Recipe, {"dataset": corpus.manifest["dataset"], **options}))
    if isinstance(dataset, ParallelText):
        return _form_of_pairs(corpus, dataset)
    numbers = {text: number for number, text in enumerate(symbols) if number >= UNKNOWN}

    def words(text: str) -> list[str]:
        if isinstance(dataset, ByteText):
            return [*map(symbol, text.encode())]
        if not isinstance(dataset, LabelledText):
            return split_symbols(text, numbers)
        if dataset.name == "sst" and options["protocol"] == "jain_wallace":
            return split_text(text, numbers)
        return dataset.words(visible(text))

    any_word = isinstance(dataset, LabelledText)
    return Form(symbols, words, lambda word: [numbers.get(word, UNKNOWN)], any_word=any_word)


def _form_of_pairs(corpus: Corpus, dataset: ParallelText) -> Form:
    folder, symbols = corpus.folder, vocabulary(corpus, "source")
    moses = Moses(dataset.languages, dataset.lowercase, dataset.name in NORMALISED)
    side: Pieces | subwords.SubwordSide
    if dataset.vocabulary:
        side = Pieces((folder / PIECES).read_bytes())
    else:
        codes = text_lines(folder / (CODES if dataset.joint else f"source_{CODES}"))
        allowed = frozenset(symbols) if dataset.threshold > 1 else None
        side = subwords.SubwordSide("\n".join([*codes, ""]), allowed, symbols, {}, ())

    def words(text: str) -> list[str]:
        if dataset.vocabulary:
            return next(as_written([(text, "")], dataset.lowercase)).source.split()
        return moses.words(text, dataset.languages[0]).split()

    def ids(word: str) -> Sequence[int]:
        known: list[int] = np.frombuffer(side.ids(word), subwords.ID).tolist()
        return known

    return Form(symbols, words, ids, subwords.UNKNOWN, True, (subwords.END,))
