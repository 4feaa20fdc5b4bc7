"""How the words of each side of a parallel corpus become ids: merges, vocabulary, and a table.

With one vocabulary for both sides it is in `vocabulary.txt`; else the target's is, and the source's
is in `source_vocabulary.txt`. After the reserved ones, pieces are numbered by how often they come.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path

import numpy as np

from workflow.datasets.encoded import byte_pairs
from workflow.datasets.encoded.prepared import (
    CODES,
    SOURCE_VOCABULARY,
    ParallelCorpus,
    prepared_lines,
)
from workflow.datasets.io.dataset_files import write_bytes, write_lines
from workflow.runtime.errors import DataError

RESERVED = ("<pad>", "<bos>", "<eos>", "<unk>")
END, UNKNOWN = RESERVED.index("<eos>"), RESERVED.index("<unk>")
ID = np.dtype(np.int32)
SIDES = ("source", "target")


class SubwordSide:
    """How the words of one side become ids."""

    def __init__(
        self,
        codes: str,
        allowed: frozenset[str] | None,
        vocabulary: list[str],
        words: dict[str, bytes],
        pieces: Iterable[str],
    ) -> None:
        """Give the words to train on, which hold places in `pieces`, the ids of these.

        `codes` are the merges, and `allowed` the pieces that words are split into, None for all.
        """
        self.codes, self.allowed, self.vocabulary, self.words = codes, allowed, vocabulary, words
        known = enumerate(vocabulary[len(RESERVED) :], start=len(RESERVED))
        self.numbers = {piece: number for number, piece in known}
        ids = np.array([self.numbers.get(piece, UNKNOWN) for piece in pieces], dtype=ID)
        for word, places in words.items():
            words[word] = ids[np.frombuffer(places, ID)].tobytes()

    def ids(self, word: str) -> bytes:
        """Return the ids of the pieces of a word, as the bytes of an array."""
        if word in self.words:
            return self.words[word]
        [(_, pieces)] = byte_pairs.split([word], self.codes, self.allowed)
        return _ids([self.numbers.get(piece, UNKNOWN) for piece in pieces])


def _ids(numbers: list[int]) -> bytes:
    """Return numbers as the bytes of an array."""
    return np.array(numbers, dtype=ID).tobytes()


def build(corpus: ParallelCorpus, prepared: Path, out: Path) -> dict[str, SubwordSide]:
    """Return how each side is encoded; write the codes and the vocabularies.

    Raises DataError when the codes are not the corpus's, or a vocabulary is too large for its ids.
    """
    counts = {name: count_words(prepared / f"train.{name}.txt") for name in SIDES}
    codes = _codes(corpus, prepared, counts)
    allowed: dict[str, frozenset[str] | None] = dict.fromkeys(SIDES)
    words, pieces = {}, {}
    for name in SIDES:
        words[name], pieces[name] = _split(counts[name], codes[name])
        if corpus.threshold > 1:
            often = frozenset(p for p, n in pieces[name].items() if n >= corpus.threshold)
            allowed[name] = often
            words[name], pieces[name] = _split(counts[name], codes[name], often)
        del counts[name]
    if corpus.given_codes:
        byte_pairs.check_codes(prepared / CODES, codes["source"], chain(*pieces.values()))
    both = pieces["source"] + pieces["target"]
    sides = {}
    for name in SIDES:
        vocabulary = _vocabulary(corpus, both if corpus.joint else pieces[name])
        sides[name] = SubwordSide(codes[name], allowed[name], vocabulary, words[name], pieces[name])
    write_lines(out / "vocabulary.txt", sides["target"].vocabulary)
    if not corpus.joint:
        write_lines(out / SOURCE_VOCABULARY, sides["source"].vocabulary)
    for name, side in sides.items():
        write_bytes(out / (CODES if corpus.joint else f"{name}_{CODES}"), side.codes.encode())
    return sides


def _split(
    counts: Mapping[str, int], codes: str, allowed: frozenset[str] | None = None
) -> tuple[dict[str, bytes], Counter[str]]:
    """Split words into pieces, and count these.

    Returns, for each word, the places of its pieces among those that are counted.
    """
    words: dict[str, bytes] = {}
    places: dict[str, int] = {}
    pieces: Counter[str] = Counter()
    for word, parts in byte_pairs.split(counts, codes, allowed):
        words[word] = _ids([places.setdefault(piece, len(places)) for piece in parts])
        for piece in parts:
            pieces[piece] += counts[word]
    return words, pieces


def count_words(path: Path) -> Counter[str]:
    """Count the words of a prepared text."""
    return Counter(word for line in prepared_lines(path) for word in line.split())


def _codes(
    corpus: ParallelCorpus, prepared: Path, counts: Mapping[str, Counter[str]]
) -> dict[str, str]:
    """Return the merges of each side: those that came with the corpus, else learned from it."""
    if corpus.given_codes:
        return dict.fromkeys(SIDES, byte_pairs.read_codes(prepared / CODES, corpus.merges))
    if corpus.joint:
        both = byte_pairs.most_frequent(counts["source"] + counts["target"])
        return dict.fromkeys(SIDES, byte_pairs.learn(both, corpus.merges))
    often = {name: byte_pairs.most_frequent(counts[name]) for name in SIDES}
    return {name: byte_pairs.learn(often[name], corpus.merges) for name in SIDES}


def _vocabulary(corpus: ParallelCorpus, pieces: Mapping[str, int]) -> list[str]:
    """Return the reserved names and the pieces, the most frequent first.

    Raises DataError when none is frequent enough, or there are too many of them for an id.
    """
    kept = [p for p, n in pieces.items() if n >= corpus.threshold and p not in RESERVED]
    if not kept:
        raise DataError(
            f"No sub-word of dataset `{corpus.name}` comes {corpus.threshold} times in the "
            "texts to train on; lower `threshold`."
        )
    vocabulary = [*RESERVED, *sorted(kept, key=lambda piece: (-pieces[piece], piece))]
    if len(vocabulary) - 1 > np.iinfo(ID).max:
        raise DataError(
            f"The vocabulary of dataset `{corpus.name}` has {len(vocabulary)} entries, and "
            f"{ID.name} holds ids up to {np.iinfo(ID).max}; lower `merges` or raise `threshold`."
        )
    return vocabulary
