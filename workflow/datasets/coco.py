"""COCO 2014 captions (Chen et al., 2015) in Karpathy's split: 113,287 / 5,000 / 5,000 images.

`dataset_coco.json` of Karpathy's archive has the sentences of every image, in words and as they
were written, and the split; `restval` is for training too. The images are features that another
network made of them, see `image_features`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any

from workflow.datasets.io.archives import member
from workflow.datasets.io.dataset_files import SPLITS, by_name, parse_json
from workflow.datasets.io.left_out import Dropped, invisible
from workflow.datasets.kinds.captioned_images import (
    FEATURES,
    Captioned,
    CaptionedImages,
    as_written,
    with_captions,
    write_captions,
)
from workflow.runtime.errors import CORRECT, FETCH_AGAIN, DataError

ARCHIVE, MEMBER = "caption_datasets.zip", "dataset_coco.json"
MOST_REGIONS = 1000
KARPATHY: Mapping[str, str] = {"train": "train", "restval": "train", "val": "dev", "test": "test"}


@dataclass(frozen=True)
class Data(CaptionedImages):
    """The captions, and the features of the images."""

    files = (ARCHIVE,)
    features = (FEATURES,)
    columns = ("features", "regions")

    regions: int = 36
    """Regions of an image; of more the first are taken, fewer are filled up."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "regions")
        self.require_at_most(MOST_REGIONS, "regions")

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Write the captions and the features of every split."""
        from workflow.datasets.kinds.image_features import open_features, write_features

        left_out = Dropped()
        images = _images(by_name(files, ARCHIVE), left_out)
        splits: dict[str, list[Captioned]] = {split: [] for split in SPLITS}
        for split, one in images:
            splits[split].append(one)
        splits = with_captions(splits, left_out)
        write_captions(out, splits, left_out)
        with open_features(by_name(files, FEATURES)) as found:
            for split, those in splits.items():
                names = [one.image for one in those]
                write_features(found, names, self.regions, out, split)


def _images(path: Path, left_out: Dropped) -> list[tuple[str, Captioned]]:
    """Return every image with the split that it goes to."""
    content = member(path, MEMBER)
    if content is None:
        raise DataError(f"{path} has no file {MEMBER}; {FETCH_AGAIN}.")
    whole = parse_json(content)
    listed = whole.get("images") if isinstance(whole, dict) else None
    if not isinstance(listed, list):
        raise DataError(f'{path}: {MEMBER} is no JSON object with a list "images"; {FETCH_AGAIN}.')
    place = f"{path}: {MEMBER}, image"
    images, seen = [], dict[str, int]()
    for n, one in enumerate(listed, start=1):
        split, captioned = _image(f"{place} {n}", one, left_out)
        first = seen.setdefault(captioned.image, n)
        if first != n:
            raise DataError(
                f"{place} {n} has the cocoid {captioned.image}, as image {first} has, so it would "
                f"be learned twice or be in two splits; {CORRECT}."
            )
        images.append((split, captioned))
    return images


def _image(place: str, one: Any, left_out: Dropped) -> tuple[str, Captioned]:
    """Return an image's split, and what is said of it."""
    try:
        split, name, sentences = str(one["split"]), one["cocoid"], one["sentences"]
        said = [(sentence["tokens"], sentence["raw"]) for sentence in sentences]
        sound = type(name) in (int, str) and isinstance(sentences, list)
        if not sound or not all(starmap(_is_said, said)):
            raise TypeError
    except KeyError as error:
        raise DataError(f"{place} lacks {error}; {CORRECT}.") from None
    except TypeError:
        raise DataError(
            f'{place}: expected an object with a number "cocoid" and a list "sentences" of objects '
            f'with a list of texts "tokens" and a text "raw"; {CORRECT}.'
        ) from None
    captions = [_text(" ".join(tokens), left_out) for tokens, _ in said]
    references = [_text(raw, left_out) for _, raw in said]
    if split not in KARPATHY:
        raise DataError(
            f"{place} is of split {split!r}, and Karpathy's are {', '.join(KARPATHY)}; {CORRECT}."
        )
    captions = [text for text in captions if not invisible(text)]
    return KARPATHY[split], Captioned(str(name), captions, references)


def _is_said(tokens: object, raw: object) -> bool:
    """Whether a sentence is a list of texts, and a text."""
    listed = tokens if isinstance(tokens, list) else [None]
    return all(isinstance(text, str) for text in (*listed, raw))


def _text(text: str, left_out: Dropped) -> str:
    """Return a caption as it was written, its words separated by single spaces."""
    return " ".join(as_written(text, left_out).split())
