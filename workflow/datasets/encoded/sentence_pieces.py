"""Sub-words by SentencePiece's unigram model (Kudo, 2018), the same ones for both sides.

How a word is split depends on the word alone, since no piece reaches over a space; so words are
counted, and each is split once. SentencePiece writes the space before a word into its first piece,
so that pieces always join directly. `vocabulary.txt` says so in the notation of byte pairs: each
piece ends in `@@`, and that of a word's beginning has the space.
"""

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from workflow.datasets.encoded.prepared import PIECES, ParallelCorpus
from workflow.datasets.encoded.subwords import ID, RESERVED, SIDES, count_words
from workflow.datasets.io.dataset_files import write_bytes, write_lines
from workflow.runtime.errors import DataError

SPACE = "▁"
"""How SentencePiece writes a space."""
TOO_LARGE = re.compile(r"Vocabulary size too high \(\d+\)\. Please set it to a value <= (\d+)")
TOO_SMALL = re.compile(r"Vocabulary size is smaller than required_chars\. \d+ vs (\d+)")


class Pieces:
    """How the words of both sides become ids."""

    def __init__(self, model: bytes) -> None:
        from sentencepiece import SentencePieceProcessor

        self._model: Any = SentencePieceProcessor(model_proto=model)
        self._known: dict[str, bytes] = {}
        pieces = map(self._model.id_to_piece, range(len(RESERVED), len(self._model)))
        self.vocabulary = [*RESERVED, *(f"{piece.replace(SPACE, ' ')}@@" for piece in pieces)]

    def ids(self, word: str) -> bytes:
        """Return the ids of the pieces of a word, as the bytes of an array."""
        if word not in self._known:
            self._known[word] = np.array(self._model.encode(word), dtype=ID).tobytes()
        return self._known[word]


def build(corpus: ParallelCorpus, prepared: Path, out: Path) -> dict[str, Pieces]:
    """Return how each side is encoded; write the model and the vocabulary.

    Raises DataError when the texts to train on do not allow a vocabulary of this size.
    """
    source, target = (count_words(prepared / f"train.{side}.txt") for side in SIDES)
    assert corpus.vocabulary is not None
    model = learn(source + target, corpus.vocabulary, corpus.name)
    pieces = Pieces(model)
    write_bytes(out / PIECES, model)
    write_lines(out / "vocabulary.txt", pieces.vocabulary)
    return dict.fromkeys(SIDES, pieces)


def learn(counts: Mapping[str, int], size: int, dataset: str) -> bytes:
    """Return a model of `size` pieces, the reserved ones among them, learned from counted words.

    The order of the words does not matter. Raises DataError when the texts do not allow the size.
    """
    from sentencepiece import SentencePieceTrainer

    model = io.BytesIO()
    reserved: Any = {
        f"{name.strip('<>')}_{kind}": value
        for number, name in enumerate(RESERVED)
        for kind, value in (("id", number), ("piece", name))
    }
    words = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    try:
        SentencePieceTrainer.train(
            sentence_iterator=(f"{word}\t{count}" for word, count in words),
            input_format="tsv",
            model_writer=model,
            model_type="unigram",
            vocab_size=size,
            num_threads=1,  # sums of several would depend on how many
            minloglevel=2,
            **reserved,
        )
    except RuntimeError as error:
        raise DataError(_sentence(str(error), size, dataset)) from None
    return model.getvalue()


def _sentence(error: str, size: int, dataset: str) -> str:
    """Say what is wrong with the size of a vocabulary."""
    sizes = ((TOO_LARGE, "large", "allows at most"), (TOO_SMALL, "small", "needs at least"))
    for pattern, fault, bound in sizes:
        match = pattern.search(error)
        if match:
            return (
                f"Option `vocabulary` of dataset `{dataset}` is {size}, too {fault} for its "
                f"training texts: SentencePiece {bound} {match[1]} entries, the "
                f"{len(RESERVED)} reserved ones among them."
            )
    return f"SentencePiece can't learn from the training texts of dataset `{dataset}`: {error}"
