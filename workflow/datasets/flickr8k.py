"""Flickr8k (Hodosh et al., 2013): 8,000 photos with five captions each, in the official splits.

`Flickr8k.token.txt` has a caption a line behind `<image>#<number>`; three lists say which images
are for what. The photos are in one archive. `part` reads an archive of the first 1,200, 200 and 200
photos of the lists alone, which are 224 x 224 there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from unicodedata import normalize

from model.batches.caption_words import caption_words
from workflow.datasets.io.dataset_files import SPLITS, by_name
from workflow.datasets.io.left_out import Dropped, cells, read_exact
from workflow.datasets.kinds.captioned_images import (
    Captioned,
    CaptionedImages,
    as_written,
    with_captions,
    write_captions,
)
from workflow.datasets.kinds.dataset import Generable
from workflow.runtime.errors import CORRECT, DataError, RecipeError

CAPTIONS = "Flickr8k.token.txt"
LISTS: Mapping[str, str] = {
    "train": "Flickr_8k.trainImages.txt",
    "dev": "Flickr_8k.devImages.txt",
    "test": "Flickr_8k.testImages.txt",
}
PHOTOS = {"all": "Flickr8k_Dataset.zip", "part": "images-224-subset.tar"}
LARGEST_PHOTO = 1024  # pixels; the official ones have sides of at most 500
PART = {"train": 1200, "dev": 200, "test": 200}


@dataclass(frozen=True)
class Data(Generable, CaptionedImages):
    """The photos, or drawings in their place, and the captions."""

    columns = ("pixels",)

    photos: Literal["all", "part"] = "all"
    """Which photos there are; of `part` the splits are 1,200, 200 and 200."""
    pixels: int = 64
    """Side of the square that each photo is made to fit."""
    source: Literal["official", "generated"] = "official"
    """The official files, or drawings of shapes in their format."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "pixels")
        self.require_at_most(LARGEST_PHOTO, "pixels")
        if self.generated and self.photos == "part":
            raise RecipeError(
                f"Option `photos` of dataset `{self.name}` is 'part', which is of the official "
                "files only; set `photos: all`, and the sizes of drawings by `train`, `dev` and "
                "`test`."
            )

    @property
    def files(self) -> Sequence[str]:
        """Names of the official files; generated ones have the same."""
        return [CAPTIONS, *LISTS.values(), PHOTOS[self.photos]]

    def synthesise(self, out: Path) -> None:
        """Write drawings of shapes and their captions in the official format."""
        from workflow.datasets.kinds.shape_pictures import write_flickr8k

        sizes = {LISTS[split]: getattr(self, split) for split in SPLITS}
        write_flickr8k(out, sizes, self.seed, CAPTIONS, PHOTOS[self.photos])

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Write the captions and the pixels of every split."""
        from workflow.datasets.kinds.photos import write_pixels

        left_out = Dropped()
        captions = _captions(by_name(files, CAPTIONS), left_out)
        splits = self._splits(files)
        captioned: dict[str, list[Captioned]] = {split: [] for split in splits}
        for split, names in splits.items():
            for name in names:
                if name not in captions:
                    raise DataError(
                        f"{by_name(files, LISTS[split])} names the image {name}, which has no "
                        f"caption in {CAPTIONS}; {CORRECT}."
                    )
                words = [" ".join(caption_words(text)) for text in captions[name]]
                captioned[split].append(Captioned(name, words, captions[name]))
        captioned = with_captions(captioned, left_out)
        write_captions(out, captioned, left_out)
        images = {split: [one.image for one in those] for split, those in captioned.items()}
        write_pixels(by_name(files, PHOTOS[self.photos]), images, self.pixels, out)

    def _splits(self, files: Sequence[Path]) -> dict[str, list[str]]:
        """Return the names of the images of every split that there are photos of."""
        splits: dict[str, list[str]] = {}
        seen: dict[str, str] = {}
        for split, name in LISTS.items():
            path = by_name(files, name)
            names = []
            for place, line in read_exact(path):
                image = normalize("NFC", line.strip())  # as the captions and the archive have it
                if not image:
                    continue
                if image in seen:
                    raise DataError(
                        f"{place}: {image} is also in {seen[image]}, so it would be in two splits; "
                        f"{CORRECT}."
                    )
                seen[image] = name
                names.append(image)
            splits[split] = names[: PART[split]] if self.photos == "part" else names
        return splits


def _captions(path: Path, left_out: Dropped) -> dict[str, list[str]]:
    """Return the captions by image, those without a word left out."""
    captions: dict[str, list[str]] = {}
    seen: dict[tuple[str, int], str] = {}
    for place, line in read_exact(path):
        if not line.strip():
            continue
        name, caption = cells(place, line)
        image, _, number = normalize("NFC", name.strip()).rpartition("#")
        image = image.strip()
        if not image or not number.isdecimal():
            raise DataError(
                f"{place}: expected `<image>#<number>`, a tab and a caption; {CORRECT}."
            )
        first = seen.setdefault((image, int(number)), place)
        if first != place:
            raise DataError(
                f"{place}: {image}#{number} is also in {first}, so a caption would be learned "
                f"twice or stand in for another; {CORRECT}."
            )
        caption = as_written(caption, left_out)
        captions.setdefault(image, []).extend([caption] if caption_words(caption) else [])
    return captions
