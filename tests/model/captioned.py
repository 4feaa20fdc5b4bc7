"""A small captioned corpus in the encoded form, whose captions can be told from its images."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from model.batches.corpus import Corpus

WORDS = ["<pad>", "<bos>", "<eos>", "<unk>", "a", "red", "blue", "dog", "cat", "runs"]
EOS = WORDS.index("<eos>")
Image = tuple[np.ndarray, Sequence[str]]
"""Pixels (3, P, P) or features (R, F), and the captions in words."""


def write_captioned(folder: Path, splits: Mapping[str, Sequence[Image]]) -> Corpus:
    """Write images with their captions as `encode` would."""
    folder.mkdir(parents=True)
    for split, images in splits.items():
        ids = [
            [token for text in captions for token in [*map(WORDS.index, text.split()), EOS]]
            for _, captions in images
        ]
        arrays: dict[str, Any] = {
            "tokens": np.concatenate(ids).astype(np.int32),
            "offsets": np.cumsum([0, *map(len, ids)]).astype(np.int64),
        }
        shown = [image for image, _ in images]
        if shown[0].ndim == 3:
            arrays["pixels"] = np.stack(shown)
        else:
            most = max(map(len, shown))
            arrays["regions"] = np.array([len(one) for one in shown], np.int32)
            filled = [np.pad(one, ((0, most - len(one)), (0, 0))) for one in shown]
            arrays["features"] = np.stack(filled).astype(np.float16)
        for name, array in arrays.items():
            np.save(folder / f"{split}.{name}.npy", array)
        lines = ["\t".join(f"{text.capitalize()} ." for text in captions) for _, captions in images]
        (folder / f"{split}.references.txt").write_text("\n".join(lines) + "\n")
        names = [f"{split}{number}.jpg" for number in range(len(images))]
        (folder / f"{split}.images.txt").write_text("\n".join(names) + "\n")
    (folder / "vocabulary.txt").write_text("\n".join(WORDS) + "\n")
    manifest = {"schema": 1, "digest": "d", "vocabulary_size": len(WORDS), "statistics": {}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return Corpus(folder)


def coloured(count: int, random: np.random.Generator, pixels: int = 0) -> list[Image]:
    """Animals in a colour, each with two captions.

    As features the colour and the animal are two of four regions of width 6, in any order; as
    pixels the colour is a channel, and a dog is in the upper half, a cat in the lower.
    """
    found: list[Image] = []
    for _ in range(count):
        colour, animal = random.integers(2, size=2)
        told = f"{('red', 'blue')[colour]} {('dog', 'cat')[animal]}"
        if pixels:
            image = random.integers(0, 40, (3, pixels, pixels)).astype(np.uint8)
            half = slice(0, pixels // 2) if animal == 0 else slice(pixels // 2, pixels)
            image[2 * colour, half] = 220
        else:
            image = 0.1 * random.standard_normal((4, 6))
            first, second = random.permutation(4)[:2]
            image[first, colour] += 2
            image[second, 2 + animal] += 2
        found.append((image, (f"a {told}", f"a {told} runs")))
    return found
