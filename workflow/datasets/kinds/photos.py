"""Photos of an archive as pixels."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from workflow.datasets.encoded.encoding import write_array
from workflow.datasets.io.archives import DAMAGE, named
from workflow.runtime.errors import CORRECT, FETCH_AGAIN, DataError


def write_pixels(archive: Path, splits: Mapping[str, Sequence[str]], side: int, out: Path) -> None:
    """Write the photos of every split, by their names, to `<split>.pixels.npy` (N, 3, side, side).

    Raises DataError when the archive lacks one of them or has it twice, or one can't be read.
    """
    places = {name: (split, n) for split, names in splits.items() for n, name in enumerate(names)}
    arrays = {s: np.zeros((len(names), 3, side, side), np.uint8) for s, names in splits.items()}
    missing = set(places)
    for name, path, content in named(archive, places):
        split, number = places[name]
        arrays[split][number] = _read_pixels(f"{archive}: {path}", content, side)
        missing.discard(name)
    if missing:
        first = min(missing, key=list(places).index)
        raise DataError(
            f"{archive}: {len(missing)} of the {len(places)} images that the lists name are not "
            f"in the archive, {first} first; {FETCH_AGAIN}."
        )
    for split, pixels in arrays.items():
        write_array(out / f"{split}.pixels.npy", pixels)


def _read_pixels(place: str, content: bytes, side: int) -> np.ndarray:
    """Return an image as a square of colours (3, side, side), its sides stretched to fit."""
    try:
        with Image.open(io.BytesIO(content)) as image:
            fitted = _colours(image).resize((side, side), Image.Resampling.LANCZOS)
    except (*DAMAGE, SyntaxError, Image.DecompressionBombError) as error:
        reason = str(error).rstrip(".")
        if isinstance(error, UnidentifiedImageError):
            reason = "it is no image"
        raise DataError(f"{place} can't be read ({reason}); {CORRECT}.") from None
    return np.asarray(fitted).transpose(2, 0, 1)


def _colours(image: Image.Image) -> Image.Image:
    """Return an image with 8 bits a colour; of grey with 16 bits the upper 8, as of colours.

    Pillow's `convert` makes all above 255 white. Raises ValueError for values of no known range.
    """
    if image.mode.startswith("I;16"):
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    elif image.mode in ("I", "F"):
        raise ValueError("its values have 32 bits and no known range; save it with 8 bits")
    return image.convert("RGB")
