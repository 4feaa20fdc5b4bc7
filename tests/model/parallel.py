"""Write small parallel and tagged corpora in the encoded form."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from model.batches.corpus import Corpus

RESERVED = ["<pad>", "<bos>", "<eos>", "<unk>"]
Pair = tuple[str, str]
Sentence = Sequence[tuple[str, str, str]]


def write_parallel(
    folder: Path,
    splits: Mapping[str, Sequence[Pair]],
    languages: tuple[str, str] = ("en", "de"),
    merges: Sequence[str] = ("q q",),
    source_vocabulary: Sequence[str] | None = None,
    vocabulary: Sequence[str] = (),
) -> Corpus:
    """Write pairs of texts whose words are pieces already (`@@` at those that go on).

    The vocabulary is that of the target, or of both sides where the source has none of its own;
    without one it is made of all pieces.
    """
    folder.mkdir(parents=True)
    pairs = [pair for split in splits.values() for pair in split]
    if not vocabulary:
        kept = pairs if source_vocabulary is None else [("", target) for _, target in pairs]
        vocabulary = sorted({piece for pair in kept for side in pair for piece in side.split()})
    target = [*RESERVED, *vocabulary]
    source = [*RESERVED, *source_vocabulary] if source_vocabulary is not None else target
    for split, content in splits.items():
        sides = [
            [[known.index(piece) for piece in text.split()] + [2] for text in texts]
            for known, texts in zip((source, target), zip(*content, strict=True), strict=True)
        ]
        examples = [a + b for a, b in zip(*sides, strict=True)]
        np.save(folder / f"{split}.tokens.npy", np.concatenate(examples).astype(np.int32))
        np.save(folder / f"{split}.offsets.npy", np.cumsum([0, *map(len, examples)]))
        np.save(folder / f"{split}.source.npy", np.array([*map(len, sides[0])], np.int32))
        if split != "train":
            lines = [text.replace("@@ ", "") for _, text in content]
            (folder / f"{split}.reference.txt").write_text("".join(f"{x}\n" for x in lines))
    (folder / "vocabulary.txt").write_text("\n".join(target) + "\n")
    codes = "codes.txt"
    if source_vocabulary is not None:
        (folder / "source_vocabulary.txt").write_text("\n".join(source) + "\n")
        codes = "source_codes.txt"
    (folder / codes).write_text("\n".join(["#version: 0.2", *merges]) + "\n")
    manifest = {
        "statistics": {},
        "languages": dict(zip(("source", "target"), languages, strict=True)),
        "splits": {split: {} for split in splits},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return Corpus(folder)


def write_tagged(folder: Path, splits: Mapping[str, Sequence[Sentence]]) -> Corpus:
    """Write sentences of (word, part of speech, chunk tag), as the dataset conll2000 is."""
    folder.mkdir(parents=True)
    every = [entry for split in splits.values() for sentence in split for entry in sentence]
    words, *names = (sorted(set(column)) for column in zip(*every, strict=True))
    known = ["<pad>", "<bos>", "<unk>", *words]
    for split, sentences in splits.items():
        flat = [entry for sentence in sentences for entry in sentence]
        tokens = [known.index(word) for word, _, _ in flat]
        np.save(folder / f"{split}.tokens.npy", np.array(tokens, np.int32))
        np.save(folder / f"{split}.offsets.npy", np.cumsum([0, *map(len, sentences)]))
        for place, column in enumerate(("pos", "chunk"), start=1):
            numbers = [names[place - 1].index(entry[place]) for entry in flat]
            np.save(folder / f"{split}.{column}.npy", np.array(numbers, np.uint8))
    (folder / "vocabulary.txt").write_text("\n".join(known) + "\n")
    statistics = dict(zip(("pos", "chunk"), names, strict=True))
    manifest = {"statistics": statistics, "splits": {split: {} for split in splits}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return Corpus(folder)
