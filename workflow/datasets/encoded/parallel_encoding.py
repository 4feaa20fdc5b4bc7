"""The encoded form of a parallel corpus: sub-words as integer arrays that are written as they come.

An example is the source's tokens followed by the target's, each side with `<eos>` at its end; the
column `source` has the number of the source's. Of dev and test the sentences lie beside them in
words (`<split>.source.txt`, `<split>.reference.txt`) and, where they are known, the references as
they were written (`<split>.raw_reference.txt`).

Memory is needed for the different words and the lengths of the sentences, not for the corpus.
"""

import hashlib
import shutil
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflow.datasets.encoded import sentence_pieces, subwords
from workflow.datasets.encoded.encoding import array_file, begin, write_array, write_manifest
from workflow.datasets.encoded.prepared import ParallelCorpus, aligned, prepared_lines
from workflow.datasets.encoded.sentence_pieces import Pieces
from workflow.datasets.encoded.subwords import END, ID, SIDES, UNKNOWN, SubwordSide
from workflow.datasets.io.dataset_files import Statistics
from workflow.datasets.io.left_out import read_left_out


class SplitCounts(NamedTuple):
    """What is known of a split after it was written."""

    lengths: dict[str, NDArray[np.int32]]
    """Sub-words of each sentence, without `<eos>`, (N,) a side."""
    words: dict[str, NDArray[np.int32]]
    """Words of each sentence, (N,) a side."""
    unknown: int
    """Tokens that are `<unk>`."""
    pairs: NDArray[np.uint64]
    """A checksum of each pair, (N,), by which repeated ones are found."""


def encode_pairs(corpus: ParallelCorpus, prepared: Path, out: Path) -> None:
    """Write the arrays of every split, the vocabulary, the texts and, last, `manifest.json`.

    Raises DataError when the codes are not the corpus's, or a vocabulary is too large for its ids
    or for the texts.
    """
    begin(out)
    pieces = sentence_pieces if corpus.vocabulary else subwords
    sides = pieces.build(corpus, prepared, out)
    splits = {split: _encode_split(split, sides, prepared, out) for split in corpus.splits}
    for copy, original in corpus.copies.items():
        shutil.copyfile(prepared / original, out / copy)
    sizes = {name: len(side.vocabulary) for name, side in sides.items()}
    write_manifest(
        corpus,
        out,
        splits={split: _size(encoded) for split, encoded in splits.items()},
        languages=dict(zip(SIDES, corpus.languages, strict=True)),
        lowercase=corpus.lowercase,
        vocabulary_size=sizes["target"],
        **({} if corpus.joint else {"vocabulary_sizes": sizes}),
        statistics={**_statistics(splits), **read_left_out(prepared)},
    )


def _encode_split(
    split: str, sides: Mapping[str, SubwordSide | Pieces], prepared: Path, out: Path
) -> SplitCounts:
    """Write the arrays of one split."""
    paths = {name: prepared / f"{split}.{name}.txt" for name in SIDES}
    lengths = {name: array("i") for name in SIDES}
    words = {name: array("i") for name in SIDES}
    checksums, unknown, end = array("Q"), 0, ID.type(END).tobytes()
    lines = aligned(*((str(path), prepared_lines(path)) for path in paths.values()))
    with array_file(out / f"{split}.tokens.npy", ID) as stream:
        for pair in lines:
            for name, line in zip(SIDES, pair, strict=True):
                separate = line.split()
                ids = b"".join(map(sides[name].ids, separate))
                stream.write(ids + end)
                unknown += int((np.frombuffer(ids, ID) == UNKNOWN).sum())
                lengths[name].append(len(ids) // ID.itemsize)
                words[name].append(len(separate))
            text = "\t".join(pair).encode()
            checksums.frombytes(hashlib.blake2b(text, digest_size=8).digest())
    tokens = {name: np.frombuffer(lengths[name], np.int32) for name in SIDES}
    offsets = np.zeros(len(checksums) + 1, dtype=np.int64)
    np.cumsum(sum(tokens.values()) + len(SIDES), out=offsets[1:])
    write_array(out / f"{split}.offsets.npy", offsets)
    write_array(out / f"{split}.source.npy", tokens["source"] + 1)
    counts = {name: np.frombuffer(words[name], np.int32) for name in SIDES}
    return SplitCounts(tokens, counts, unknown, np.frombuffer(checksums, np.uint64))


def _size(encoded: SplitCounts) -> dict[str, int]:
    """Return the examples and the tokens of a split, `<eos>` included."""
    examples = len(encoded.pairs)
    tokens = {f"{name}_tokens": int(encoded.lengths[name].sum()) + examples for name in SIDES}
    return {"examples": examples, "tokens": sum(tokens.values()), **tokens}


def _statistics(splits: Mapping[str, SplitCounts]) -> Statistics:
    """Describe the sentences of every split: medians, unknown tokens, repeated pairs."""
    train, *others = splits
    pairs = splits[train].pairs
    seen = np.unique(pairs)

    def each(measure: Callable[..., Any], counts: str) -> dict[str, dict[str, float]]:
        return {
            split: {name: measure(getattr(one, counts)[name]).item() for name in SIDES}
            for split, one in splits.items()
        }

    return {
        "words": each(np.sum, "words"),
        "median_words": each(np.median, "words"),
        "median_length": each(np.median, "lengths"),
        "unknown_tokens": {split: splits[split].unknown for split in others},
        "duplicates": {
            train: len(pairs) - len(seen),
            **{split: int(np.isin(splits[split].pairs, seen).sum()) for split in others},
        },
    }
