"""A generated text with long-range repeats, whose entropy is known exactly.

It is made of blocks, each a random word, a colon, the same word again and a full stop:

    cabbacda:cabbacda.bdacabca:bdacabca.

Nothing tells the letters of a word when it comes first: each costs log2 of their number in bits;
all else follows from what stands before. A model that sees too few letters back to find a
word's first writing pays for it twice.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from string import ascii_lowercase

from workflow.datasets.io.dataset_files import SPLITS, Statistics, by_name, write_bytes
from workflow.datasets.kinds.byte_text import ByteText, write_prepared
from workflow.datasets.kinds.dataset import Synthetic
from workflow.runtime.errors import DataError, RecipeError


@dataclass(frozen=True)
class Data(Synthetic, ByteText):
    """The text."""

    letters: int = 8
    """Letters that words are made of, each as likely as the others."""
    length: int = 30
    """Letters of a word."""
    train: int = 3000
    dev: int = 100
    test: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "length")
        self.require_at_least(2, "letters")
        if self.letters > len(ascii_lowercase):
            raise RecipeError(
                f"Option `letters` of dataset `repeated_text` is {self.letters}; it must be "
                f"{len(ascii_lowercase)} or less."
            )

    @property
    def block(self) -> int:
        """Characters of a block."""
        return 2 * self.length + 2

    @property
    def statistics(self) -> Statistics:
        """What the best possible predictor pays, in nats per character.

        In every block it pays for the letters of the first word alone; as they are equally likely,
        it pays the same for any text.
        """
        return {"entropy_floor": self.length * log(self.letters) / self.block}

    def synthesise(self, out: Path) -> None:
        """Write the text of every split."""
        import numpy as np

        letters = np.frombuffer(ascii_lowercase.encode(), np.uint8)
        for split, blocks, generator in self.streams():
            words = letters[generator.integers(self.letters, size=(blocks, self.length))]
            ends = [np.full((blocks, 1), ord(mark), np.uint8) for mark in ":."]
            text = np.hstack([words, ends[0], words, ends[1]]).tobytes()
            write_bytes(out / f"{split}.txt", text)

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Check every block."""
        texts = {split: self._checked(by_name(files, f"{split}.txt"), split) for split in SPLITS}
        write_prepared(out, texts)

    def _checked(self, path: Path, split: str) -> bytes:
        """Return the text of a split, all of whose blocks are right."""
        text, blocks = path.read_bytes(), getattr(self, split)
        if len(text) != blocks * self.block:
            raise DataError(
                f"{path}: expected {blocks} blocks of {self.block} characters, found {len(text)} "
                "characters; delete the file and generate it again."
            )
        letters = ascii_lowercase[: self.letters]
        right = re.compile(rf"([{letters}]{{{self.length}}}):\1\.".encode())
        for number in range(blocks):
            block = text[number * self.block :][: self.block]
            if not right.fullmatch(block):
                raise DataError(
                    f"{path}, block {number + 1}: expected a word of {self.length} of the letters "
                    f"{letters}, `:`, the same word and `.`, found {block!r}; delete the file and "
                    "generate it again."
                )
        return text
