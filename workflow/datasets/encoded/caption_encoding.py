"""The encoded form of captioned images: words as integers, and the images as they are.

An example is an image: its tokens are its captions, one after the other, each with `<eos>` at its
end. Of dev and test the references lie beside them as they were written (`<split>.references.txt`,
those of an image separated by tabs), and the names of the images (`<split>.images.txt`).
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workflow.datasets.encoded.encoding import write_array, write_manifest
from workflow.datasets.encoded.prepared import CaptionedCorpus
from workflow.datasets.encoded.subwords import END, RESERVED, UNKNOWN
from workflow.datasets.io.files import SPLITS, read_records, write_lines
from workflow.errors import DataError


def encode_captions(corpus: CaptionedCorpus, prepared: Path, out: Path) -> None:
    """Write the arrays of every split, the vocabulary, the texts and, last, `manifest.json`."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "manifest.json").unlink(missing_ok=True)
    splits = {split: list(read_records(prepared / f"{split}.jsonl")) for split in SPLITS}
    vocabulary = _vocabulary(corpus, splits["train"])
    write_lines(out / "vocabulary.txt", vocabulary)
    numbers = {word: number for number, word in enumerate(vocabulary)}
    sizes = {}
    for split, records in splits.items():
        captions = [record["text"].split("\t") for record in records]
        ids = [_ids(corpus, those, numbers) for those in captions]
        sizes[split] = _write_split(out, split, ids, sum(map(len, captions)))
        for name in corpus.columns:
            _take(prepared / f"{split}.{name}.npy", out / f"{split}.{name}.npy")
        if split != "train":
            write_lines(out / f"{split}.references.txt", (r["references"] for r in records))
            write_lines(out / f"{split}.images.txt", (r["image"] for r in records))
    names = ["vocabulary.txt", *corpus.texts]
    names += [f"{s}.{a}.npy" for s in SPLITS for a in ("tokens", "offsets", *corpus.columns)]
    known = {
        "splits": sizes,
        "vocabulary_size": len(vocabulary),
        "statistics": _statistics(splits, numbers),
    }
    write_manifest(out, corpus.name, corpus.options, names, known)


def _vocabulary(corpus: CaptionedCorpus, records: Iterable[Mapping[str, str]]) -> list[str]:
    """Return the reserved names and the words that come often enough, the most frequent first."""
    counts = Counter(word for record in records for word in record["text"].split())
    often = [w for w, n in counts.items() if n >= corpus.threshold and w not in RESERVED]
    if not often:
        raise DataError(
            f"No word of dataset `{corpus.name}` comes {corpus.threshold} times in the "
            "captions to train on; lower `threshold`."
        )
    return [*RESERVED, *sorted(often, key=lambda word: (-counts[word], word))]


def _ids(
    corpus: CaptionedCorpus, captions: Sequence[str], numbers: Mapping[str, int]
) -> NDArray[np.int32]:
    """Return the captions of an image as numbers, one after the other, each with `<eos>`."""
    ids = []
    for caption in captions:
        words = caption.split()[: corpus.longest]
        ids += [*(numbers.get(word, UNKNOWN) for word in words), END]
    return np.array(ids, dtype=np.int32)


def _write_split(
    out: Path, split: str, ids: Sequence[NDArray[np.int32]], captions: int
) -> dict[str, int]:
    """Write the tokens of a split and where each image's begin; return its sizes."""
    offsets = np.cumsum([0, *map(len, ids)], dtype=np.int64)
    for name, array in (("tokens", np.concatenate(ids)), ("offsets", offsets)):
        write_array(out / f"{split}.{name}.npy", array)
    return {"examples": len(ids), "tokens": int(offsets[-1]), "captions": captions}


def _take(path: Path, out: Path) -> None:
    """Put a file of prepared data into the encoded data, without a second copy where that goes."""
    if not path.is_file():
        raise DataError(f"{path}: this dataset file does not exist; run the step that writes it.")
    out.unlink(missing_ok=True)
    try:
        os.link(path, out)
    except OSError:
        shutil.copyfile(path, out)


def _statistics(
    splits: Mapping[str, Sequence[Mapping[str, str]]], numbers: Mapping[str, int]
) -> dict[str, object]:
    """Describe the captions of every split: median words, and how many are unknown."""
    words = {
        split: [caption.split() for record in records for caption in record["text"].split("\t")]
        for split, records in splits.items()
    }
    return {
        "median_length": {s: float(np.median([*map(len, those)])) for s, those in words.items()},
        "unknown_tokens": {
            split: sum(word not in numbers for caption in words[split] for word in caption)
            for split in SPLITS[1:]
        },
    }
