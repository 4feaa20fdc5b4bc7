"""A generated text with long-range repeats, whose entropy is known exactly.

It is made of blocks, each a random word, a colon, the same word again and a full stop:

    cabbacda:cabbacda.bdacabca:bdacabca.

Nothing tells the letters of a word when it comes first: each costs log2 of their number in bits;
all else follows from what stands before. A model that sees too few letters back to find a
word's first writing pays for it twice.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import log
from pathlib import Path
from string import ascii_lowercase

from workflow.datasets.byte_text import columns, encode_bytes, prepared, write_prepared
from workflow.datasets.errors import DataError, RecipeError
from workflow.datasets.files import SPLITS, by_name, replacing
from workflow.datasets.recipe import require_at_least

__all__ = ["Options", "columns", "encode", "prepare", "prepared", "raw", "sources", "synthesise"]


@dataclass(frozen=True)
class Options:
    """What the text is drawn from."""

    letters: int = 8
    """Letters that words are made of, each as likely as the others."""
    length: int = 30
    """Letters of a word."""
    train: int = 3000
    """Blocks to train on."""
    dev: int = 100
    """Blocks to choose settings with."""
    test: int = 100
    """Blocks to report on."""
    seed: int = 0
    """Seed of the generator; every split has its own stream of it."""

    def __post_init__(self) -> None:
        sizes = {"train": self.train, "dev": self.dev, "test": self.test}
        require_at_least("repeated_text", 1, {"length": self.length, **sizes})
        require_at_least("repeated_text", 2, {"letters": self.letters})
        require_at_least("repeated_text", 0, {"seed": self.seed})
        if self.letters > len(ascii_lowercase):
            raise RecipeError(
                f"Option `letters` of dataset `repeated_text` is {self.letters}; it must be "
                f"{len(ascii_lowercase)} or less."
            )

    @property
    def block(self) -> int:
        """Characters of a block."""
        return 2 * self.length + 2


def sources(options: Options) -> list[str]:
    """Return the files to fetch: none, the text is generated."""
    return []


def raw(options: Options) -> list[str]:
    """Return the files that `synthesise` writes."""
    return [f"{split}.txt" for split in SPLITS]


def synthesise(options: Options, out: Path) -> None:
    """Write the text of every split."""
    import numpy as np

    letters = np.frombuffer(ascii_lowercase.encode(), np.uint8)
    for stream, split in enumerate(SPLITS):
        generator = np.random.default_rng([options.seed, stream])
        blocks = getattr(options, split)
        words = letters[generator.integers(options.letters, size=(blocks, options.length))]
        ends = [np.full((blocks, 1), ord(mark), np.uint8) for mark in ":."]
        with replacing(out / f"{split}.txt") as stream_out:
            stream_out.write(np.hstack([words, ends[0], words, ends[1]]).tobytes())


def prepare(options: Options, files: Sequence[Path], out: Path) -> None:
    """Check every block.

    Raises DataError naming a block that is none, or a text of another length.
    """
    texts = {split: _checked(options, by_name(files, f"{split}.txt"), split) for split in SPLITS}
    write_prepared(out, texts)


def encode(options: Options, prepared: Path, out: Path) -> None:
    """Write the bytes of every split as one example, and the exact entropy floor."""
    statistics = {"entropy_floor": entropy_floor(options)}
    encode_bytes("repeated_text", asdict(options), prepared, out, statistics)


def entropy_floor(options: Options) -> float:
    """Return what the best possible predictor pays, in nats per character.

    In every block it pays for the letters of the first word alone; as they are equally likely, it
    pays the same for any text.
    """
    return options.length * log(options.letters) / options.block


def _checked(options: Options, path: Path, split: str) -> bytes:
    """Return the text of a split, all of whose blocks are right."""
    text, blocks = path.read_bytes(), getattr(options, split)
    if len(text) != blocks * options.block:
        raise DataError(
            f"{path}: expected {blocks} blocks of {options.block} characters, found {len(text)} "
            "characters; delete the file and generate it again."
        )
    letters = ascii_lowercase[: options.letters].encode()
    for number in range(blocks):
        block = text[number * options.block :][: options.block]
        word = block[: options.length]
        if block != word + b":" + word + b"." or not set(word) <= set(letters):
            raise DataError(
                f"{path}, block {number + 1}: expected a word of {options.length} of the letters "
                f"{letters.decode()}, `:`, the same word and `.`, found {block!r}; delete the file "
                "and generate it again."
            )
    return text
