"""An encoded corpus on disk, memory-mapped: what `encode` wrote, as arrays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np


class Split:
    """One split: token ids of all examples end to end, and further columns.

    Attributes:
        tokens: (M,) int32.
        offsets: (N + 1,) int64; example n is tokens[offsets[n] : offsets[n + 1]].
        columns: by name; (N,) for values per example, (M,) for values per token.

    Raises:
        ValueError: an array is missing, cut short, or does not fit the others.
    """

    def __init__(self, folder: Path, split: str) -> None:
        arrays = {}
        for path in sorted(folder.glob(f"{split}.*.npy")):
            try:
                arrays[path.name.split(".")[1]] = np.load(path, mmap_mode="r")
            except (ValueError, OSError, EOFError) as error:
                raise ValueError(f"{path} cannot be read ({error}): {REBUILD}") from error
        if "tokens" not in arrays or "offsets" not in arrays:
            raise ValueError(f"{folder} holds no split '{split}': {REBUILD}")
        self.tokens, self.offsets = arrays.pop("tokens"), arrays.pop("offsets")
        self.columns = arrays
        if self.offsets[-1] != len(self.tokens):
            raise ValueError(f"{folder}: tokens and offsets of '{split}' do not fit: {REBUILD}")
        if len(self) == 0:
            raise ValueError(f"{folder}: split '{split}' has no example; enlarge it in the recipe.")
        for name, column in arrays.items():
            if len(column) not in (len(self), len(self.tokens)):
                raise ValueError(f"{folder}: column '{name}' of '{split}' does not fit: {REBUILD}")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        """(N,) tokens of each example."""
        return np.diff(self.offsets)


REBUILD = "delete the folder and run again to rebuild it."


class Corpus:
    """The corpus of a folder with `manifest.json`, `vocabulary.txt` and the arrays of its splits.

    Raises ValueError for a file that is missing or unreadable.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
            self.vocabulary = text_lines(folder / "vocabulary.txt")
        except (OSError, ValueError) as error:
            raise ValueError(f"{folder} is no encoded corpus ({error}): {REBUILD}") from error

    def split(self, name: str) -> Split:
        """One of `train`, `dev`, `test`."""
        return Split(self.folder, name)


def text_lines(path: Path) -> list[str]:
    r"""The lines of a file in UTF-8; they end at `\n` alone, as other line ends belong to texts."""
    return path.read_bytes().decode().removesuffix("\n").split("\n")


def read_lines(corpus: Corpus, split: str, kind: str) -> list[str]:
    """The lines of `<split>.<kind>.txt`.

    Raises:
        ValueError: it is missing, or has another number of lines than the split.
    """
    path: Path = corpus.folder / f"{split}.{kind}.txt"
    try:
        lines = text_lines(path)
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}): {REBUILD}") from error
    if len(lines) != len(corpus.split(split)):
        raise ValueError(
            f"{path} has {len(lines)} lines and the split {len(corpus.split(split))} examples: "
            f"{REBUILD}"
        )
    return lines
