"""Drawings of a coloured shape, with captions, under the names and in the format of Flickr8k.

Both captions of a drawing tell the colour of the shape and that of the ground, whatever the shape
is. So a caption is right exactly where it is one of them.
"""

import io
import random
import zipfile
from collections.abc import Mapping
from pathlib import Path

from PIL import Image, ImageDraw

from workflow.datasets.io.dataset_files import replacing, write_lines

COLOURS: Mapping[str, tuple[int, int, int]] = {
    "red": (205, 45, 40),
    "green": (50, 150, 60),
    "blue": (45, 75, 200),
    "yellow": (235, 200, 40),
}
SHAPES = ("circle", "square", "triangle")
PIXELS = 64
SPREAD = 12
"""How far a channel of a colour may be from its own."""
WHEN = (1980, 1, 1, 0, 0, 0)
"""Of every member of the archive, so that equal drawings make an equal archive."""


def write_flickr8k(
    out: Path, sizes: Mapping[str, int], seed: int | None, captions: str, photos: str
) -> None:
    """Write a list for each of `sizes`, the file of `captions` and the archive of `photos`."""
    lines: list[str] = []
    pictures: dict[str, bytes] = {}
    for listed, count in sizes.items():
        generator = random.Random(f"{seed} flickr8k {listed}")
        names = []
        for _ in range(count):
            name = f"{len(pictures)}_{generator.getrandbits(40):010x}.jpg"
            ground, colour = generator.sample(sorted(COLOURS), 2)
            shape = generator.choice(SHAPES)
            pictures[name] = _drawing(ground, colour, shape, generator)
            told = (
                f"A {colour} shape on a {ground} ground .",
                f"There is a {colour} shape on the {ground} ground .",
            )
            lines += [f"{name}#{number}\t{caption}" for number, caption in enumerate(told)]
            names.append(name)
        write_lines(out / listed, names)
    write_lines(out / captions, lines)
    with replacing(out / photos) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, content in pictures.items():
            archive.writestr(zipfile.ZipInfo(f"Flicker8k_Dataset/{name}", WHEN), content)


def _drawing(ground: str, colour: str, shape: str, generator: random.Random) -> bytes:
    """Return a shape somewhere on a ground, as JPEG, in colours that are nearly the named ones."""

    def nearly(name: str) -> tuple[int, ...]:
        return tuple(part + generator.randint(-SPREAD, SPREAD) for part in COLOURS[name])

    image = Image.new("RGB", (PIXELS, PIXELS), nearly(ground))
    size = generator.randint(PIXELS // 5, PIXELS // 4)
    x, y = (generator.randint(size, PIXELS - size) for _ in range(2))
    box, fill, draw = (
        (x - size, y - size, x + size, y + size),
        nearly(colour),
        ImageDraw.Draw(image),
    )
    if shape == "circle":
        draw.ellipse(box, fill=fill)
    elif shape == "square":
        draw.rectangle(box, fill=fill)
    else:
        draw.polygon([(x, y - size), (x - size, y + size), (x + size, y + size)], fill=fill)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=90)
    return buffer.getvalue()
