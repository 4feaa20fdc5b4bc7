"""The encoded form of captioned images: words as integers, and the images as they are.

An example is an image: its tokens are its captions, one after the other, each with `<eos>` at its
end. Of dev and test the references lie beside them as they were written (`<split>.references.txt`,
those of an image separated by tabs), and the names of the images (`<split>.images.txt`).
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from workflow.datasets.encoded.encoding import EncodedSplit, begin, write_manifest, write_split
from workflow.datasets.encoded.prepared import CaptionedCorpus
from workflow.datasets.encoded.subwords import END, RESERVED, UNKNOWN
from workflow.datasets.io.dataset_files import existing, read_splits, write_lines
from workflow.datasets.io.left_out import read_left_out
from workflow.runtime.errors import DataError

Captions = Sequence[Sequence[str]]
"""Of an image, each in words."""


def encode_captions(corpus: CaptionedCorpus, prepared: Path, out: Path) -> None:
    """Write the arrays of every split, the vocabulary, the texts and, last, `manifest.json`."""
    begin(out)
    records = read_splits(prepared)
    splits = {
        split: [[text.split() for text in one["text"].split("\t")] for one in images]
        for split, images in records.items()
    }
    vocabulary = _vocabulary(corpus, splits["train"])
    write_lines(out / "vocabulary.txt", vocabulary)
    known = enumerate(vocabulary[len(RESERVED) :], start=len(RESERVED))
    numbers = {word: number for number, word in known}
    sizes, lengths, unknown = {}, {}, {}
    for split, images in splits.items():
        captions = list(chain.from_iterable(images))
        lengths[split] = float(np.median([*map(len, captions)]))
        ids = [_ids(those, numbers, corpus.longest) for those in images]
        arrays = EncodedSplit(np.concatenate(ids), np.array([*map(len, ids)]))
        sizes[split] = {**write_split(out, split, arrays), "captions": len(captions)}
        for name in corpus.columns:
            _take(prepared / f"{split}.{name}.npy", out / f"{split}.{name}.npy")
        if split != "train":
            unknown[split] = sum(word not in numbers for word in chain.from_iterable(captions))
            for name, key in (("references", "references"), ("images", "image")):
                write_lines(out / f"{split}.{name}.txt", (one[key] for one in records[split]))
    statistics = {"median_length": lengths, "unknown_tokens": unknown, **read_left_out(prepared)}
    size = len(vocabulary)
    write_manifest(corpus, out, splits=sizes, vocabulary_size=size, statistics=statistics)


def _vocabulary(corpus: CaptionedCorpus, images: Iterable[Captions]) -> list[str]:
    """Return the reserved names and the words that come often enough, the most frequent first."""
    counts = Counter(word for captions in images for caption in captions for word in caption)
    often = [w for w, n in counts.items() if n >= corpus.threshold and w not in RESERVED]
    if not often:
        raise DataError(
            f"No word of dataset `{corpus.name}` comes {corpus.threshold} times in the "
            "captions to train on; lower `threshold`."
        )
    return [*RESERVED, *sorted(often, key=lambda word: (-counts[word], word))]


def _ids(captions: Captions, numbers: dict[str, int], longest: int) -> list[int]:
    """Return the captions of an image as numbers, one after the other, each with `<eos>`."""
    cut = ([numbers.get(word, UNKNOWN) for word in caption[:longest]] for caption in captions)
    return [number for ids in cut for number in (*ids, END)]


def _take(path: Path, out: Path) -> None:
    """Put a file of prepared data into the encoded data, without a second copy where that goes."""
    out.unlink(missing_ok=True)
    try:
        os.link(existing(path), out)
    except OSError:
        shutil.copyfile(path, out)
