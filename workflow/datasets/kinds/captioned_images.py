"""Captioned images: from what official files hold to arrays of images and of their captions.

Each dataset reads its own files; what they have in common is here. In a folder of prepared data
`<split>.jsonl` has a record an image: its captions in words, joined by tabs (`text`), the
references as they were written, joined likewise, and the name of the `image`. Beside it the images
are arrays, in the same order: `<split>.pixels.npy` (N, 3, P, P), or `<split>.features.npy`
(N, R, F) with `<split>.regions.npy` (N,), how many regions of each image are real.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from workflow.datasets.io.dataset_files import SPLITS, write_records
from workflow.datasets.io.left_out import COUNTS, JOINERS, Dropped
from workflow.datasets.kinds.dataset import Dataset
from workflow.runtime.errors import DataError

FEATURES = "features.json"
"""The index of images' features, see `image_features`."""


def as_written(text: str, left_out: Dropped) -> str:
    """Return a caption in Unicode's form NFC, for the tokeniser of captions.

    That one splits words at characters that nobody sees, so they are taken out and counted, joiners
    too; it knows the apostrophe of typewriters, as COCO's own tokeniser knows the typographic one.
    """
    seen = left_out.visible(left_out.mend(text))
    whole = seen.translate(dict.fromkeys(map(ord, JOINERS)))
    left_out.unseen += len(seen) - len(whole)
    return normalize("NFC", whole).replace("\u2019", "'")


class Captioned(NamedTuple):
    """An image and what is said of it."""

    image: str
    """The name of its file, or its number."""
    captions: Sequence[str]
    """In words, which spaces separate."""
    references: Sequence[str]
    """As they were written."""

    @property
    def record(self) -> dict[str, str]:
        """The record of prepared data."""
        references = "\t".join(" ".join(text.split()) for text in self.references)
        return {"text": "\t".join(self.captions), "references": references, "image": self.image}


@dataclass(frozen=True)
class CaptionedImages(Dataset):
    """Images and what is said of them; the columns have the images."""

    texts = tuple(
        f"{split}.{name}.txt" for split in SPLITS[1:] for name in ("references", "images")
    )

    threshold: int = 5
    """Words that the captions to train on have fewer times are unknown."""
    longest: int = 20
    """Captions that are learned end after so many words."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "threshold", "longest")

    @property
    def prepared(self) -> Sequence[str]:
        """Files that `prepare` writes."""
        arrays = [f"{split}.{name}.npy" for split in SPLITS for name in self.columns]
        return [*super().prepared, COUNTS, *arrays]

    def encode(self, prepared: Path, out: Path) -> None:
        """Write the captions and images as arrays; see `caption_encoding`."""
        from workflow.datasets.encoded.caption_encoding import encode_captions

        encode_captions(self, prepared, out)


def with_captions(
    splits: Mapping[str, Sequence[Captioned]], left_out: Dropped
) -> dict[str, list[Captioned]]:
    """Return the images that have a caption with a word; the others are counted as dropped."""
    kept = {split: [one for one in images if one.captions] for split, images in splits.items()}
    lost = sum(len(splits[split]) - len(images) for split, images in kept.items())
    if lost:
        left_out.dropped["an image without a caption"] += lost
    return kept


def write_captions(out: Path, splits: Mapping[str, Sequence[Captioned]], left_out: Dropped) -> None:
    """Write the records of every split, and what was lost; raise DataError for an empty split."""
    for split, images in splits.items():
        if not images:
            raise DataError(
                f"{out}: the split `{split}` has no image with a caption; check the files it is "
                "from."
            )
    for split, images in splits.items():
        write_records(out / f"{split}.jsonl", (one.record for one in images))
    left_out.write(out)
