"""Captioned images: from what official files hold to arrays of images and of their captions.

Each dataset's module reads its own files; what they have in common is here. In a folder of prepared
data `<split>.jsonl` has a record an image: its captions in words, joined by tabs (`text`), the
references as they were written, joined likewise, and the name of the `image`. Beside it the images
are arrays, in the same order: `<split>.pixels.npy` (N, 3, P, P), or `<split>.features.npy`
(N, R, F) with `<split>.regions.npy` (N,), how many regions of each image are real.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from workflow.datasets.errors import DataError
from workflow.datasets.files import SPLITS, write_records
from workflow.datasets.recipe import require_at_least

FEATURES = "features.json"
"""The index of images' features, see `image_features`."""


@dataclass(frozen=True)
class CaptionOptions:
    """What every captioned corpus can be asked for."""

    dataset: ClassVar[str]
    arrays: ClassVar[Sequence[str]]
    """The columns that have the images."""

    threshold: int = 5
    """Words that the captions to train on have fewer times are unknown."""
    longest: int = 20
    """Captions that are learned end after so many words."""

    def __post_init__(self) -> None:
        sizes = {"threshold": self.threshold, "longest": self.longest}
        require_at_least(self.dataset, 1, sizes)


class Captioned(NamedTuple):
    """An image and what is said of it."""

    image: str
    """The name of its file, or its number."""
    captions: Sequence[str]
    """In words, which spaces separate."""
    references: Sequence[str]
    """As they were written."""


def columns(options: CaptionOptions) -> list[str]:
    """Return the columns that `encode` writes beside the tokens."""
    return list(options.arrays)


def prepared(options: CaptionOptions) -> list[str]:
    """Return the files that `prepare` writes."""
    arrays = [f"{split}.{name}.npy" for split in SPLITS for name in options.arrays]
    return [*(f"{split}.jsonl" for split in SPLITS), *arrays]


def texts(options: CaptionOptions) -> list[str]:
    """Return the texts that `encode` writes beside `vocabulary.txt`."""
    return [f"{split}.{name}.txt" for split in SPLITS[1:] for name in ("references", "images")]


def write_captions(out: Path, splits: Mapping[str, Sequence[Captioned]]) -> None:
    """Write the records of every split.

    Raises DataError when a split is empty or an image of it has no caption with a word.
    """
    for split, images in splits.items():
        if not images:
            raise DataError(f"{out}: the split `{split}` has no image; check the files it is from.")
        for one in images:
            if not one.captions or not all(one.captions):
                raise DataError(
                    f"{out}: image {one.image} of split `{split}` has an empty caption, or none; "
                    "correct the file of captions."
                )
        write_records(
            out / f"{split}.jsonl",
            (
                {
                    "text": "\t".join(one.captions),
                    "references": "\t".join(" ".join(text.split()) for text in one.references),
                    "image": one.image,
                }
                for one in images
            ),
        )


def encode(options: CaptionOptions, prepared: Path, out: Path) -> None:
    """Write the captions and images as arrays; see `caption_encoding`."""
    from workflow.datasets.caption_encoding import encode_captions

    encode_captions(options, prepared, out)
