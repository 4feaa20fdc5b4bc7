"""Photos of an archive as pixels: of every depth of colour, and what is no photo."""

import io
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.datasets.folders import zipped
from workflow.datasets.kinds.photos import write_pixels
from workflow.runtime.errors import DataError


def saved(image: Image.Image, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def read(folder: Path, content: bytes) -> np.ndarray:
    """Return the pixels (3, 1, 1) of the only photo of an archive."""
    (folder / "photos.zip").write_bytes(zipped({"x/a.png": content}))
    write_pixels(folder / "photos.zip", {"train": ["a.png"]}, 1, folder)
    [pixels] = np.load(folder / "train.pixels.npy")
    return pixels


GREY = np.full((4, 4), 0x40FF, np.uint16)
WIDE = {
    "16 bits": saved(Image.fromarray(GREY)),
    "16 bits, the upper first": saved(Image.fromarray(GREY.astype(">u2")), "TIFF"),
    "palette": saved(Image.new("L", (4, 4), 0x40).convert("P")),
    "transparent": saved(Image.new("LA", (4, 4), (0x40, 9))),
    "ink": saved(Image.new("CMYK", (4, 4), (0xBF, 0xBF, 0xBF, 0)), "TIFF"),
}


@pytest.mark.parametrize("content", WIDE.values(), ids=WIDE)
def test_a_grey_is_the_same_at_every_depth(tmp_path, content):
    assert read(tmp_path, content).ravel().tolist() == [0x40] * 3


def huge() -> bytes:
    """Return a PNG whose header says that it has 20,000 x 20,000 pixels."""
    content = saved(Image.new("L", (4, 4)))
    header = b"IHDR" + 2 * (20_000).to_bytes(4) + content[24:29]
    return content[:12] + header + zlib.crc32(header).to_bytes(4) + content[33:]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (huge(), r"Image size \(400000000 pixels\) exceeds limit .* attack"),
        (saved(Image.fromarray(GREY.astype(np.int32)), "TIFF"), "32 bits and no known range; .*"),
        (saved(Image.fromarray(GREY.astype(np.float32)), "TIFF"), "32 bits and no known .*"),
    ],
    ids=["huge", "whole numbers", "fractions"],
)
def test_a_photo_that_cannot_be_read_is_a_sentence(tmp_path, content, reason):
    with pytest.raises(DataError, match=rf"a\.png can't be read \(.*{reason}\); correct the file"):
        read(tmp_path, content)
