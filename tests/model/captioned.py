"""A small captioned corpus in the encoded form, whose captions can be told from its images."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from model.batches.corpus import Corpus
from tests.model.corpora import write_corpus

WORDS = ["<pad>", "<bos>", "<eos>", "<unk>", "a", "red", "blue", "dog", "cat", "runs"]
EOS = WORDS.index("<eos>")
Image = tuple[np.ndarray, Sequence[str]]
"""Pixels (3, P, P) or features (R, F), and the captions in words."""


def write_captioned(folder: Path, splits: Mapping[str, Sequence[Image]]) -> Corpus:
    """Write images with their captions as `encode` would."""
    examples: dict[str, Any] = {}
    columns: dict[str, Any] = {}
    for split, images in splits.items():
        examples[split] = [
            [token for text in captions for token in [*map(WORDS.index, text.split()), EOS]]
            for _, captions in images
        ]
        shown = [image for image, _ in images]
        if shown[0].ndim == 3:
            columns[split] = {"pixels": np.stack(shown)}
            continue
        most = max(map(len, shown))
        filled = [np.pad(one, ((0, most - len(one)), (0, 0))) for one in shown]
        columns[split] = {
            "regions": np.array([len(one) for one in shown], np.int32),
            "features": np.stack(filled).astype(np.float16),
        }
    corpus = write_corpus(folder, examples, WORDS, {}, columns)
    for split, images in splits.items():
        lines = ["\t".join(f"{text.capitalize()} ." for text in captions) for _, captions in images]
        (folder / f"{split}.references.txt").write_text("\n".join(lines) + "\n")
        names = [f"{split}{number}.jpg" for number in range(len(images))]
        (folder / f"{split}.images.txt").write_text("\n".join(names) + "\n")
    return corpus


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
