"""The first pictures of a test set, small, for a report that shows captions below them."""

from __future__ import annotations

import base64
import io

import numpy as np

from model.batches.corpus import read_lines
from model.probes.measure import Measured, Subject


def caption_pictures(subject: Subject, split: str = "test", pictures: int = 6) -> Measured:
    """Keep the first pictures of a split as the model sees them.

    Returns:
        Arrays `names`, what the files are called, and `pictures`, each a PNG in base 64, or an
        empty text where the corpus has features in place of pixels.
    """
    from PIL import Image

    columns = subject.corpus.split(split).columns
    names = read_lines(subject.corpus, split, "images")[:pictures]
    shown = []
    for pixels in columns["pixels"][:pictures] if "pixels" in columns else []:
        buffer = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(pixels.transpose(1, 2, 0))).save(buffer, "png")
        shown.append(base64.b64encode(buffer.getvalue()).decode())
    return Measured({}, {"names": names, "pictures": shown or [""] * len(names)})
