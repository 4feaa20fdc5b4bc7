"""Batches of images, each with all its captions, so that an image is encoded once for them.

A captioned corpus is an encoded corpus whose examples are images: their tokens are the captions
one after the other, each with its own EOS, and a column has the images, `pixels` (N, 3, P, P) or
`features` (N, R, F); of features the column `regions` counts those of an image that are real.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.batches.batching import BOS, PAD, Sampler, plan_batches
from model.batches.corpus import REBUILD, Split
from model.batches.pairs import EOS
from model.layers.packing import Layout


@dataclass(frozen=True)
class CaptionBatch:
    """Images, and all their captions side by side, padded with PAD.

    Attributes:
        images: (B, ...) pixels or features.
        regions: (B,) real regions of each image, None where all are.
        tokens: (C, T + 1) int64, captions: BOS, words, EOS.
        layout: (C, T) of the tokens to predict, tokens[:, 1:].
        owners: (C,) the image of each caption, by its place in the batch.
        examples: (B,) the images' numbers in the split.
        padding: number of padding tokens in `tokens`.
    """

    images: Tensor
    regions: Tensor | None
    tokens: Tensor
    layout: Layout
    owners: Tensor
    examples: np.ndarray
    padding: int

    def to(self, device: torch.device) -> CaptionBatch:
        """The same batch on another device."""
        return CaptionBatch(
            self.images.to(device, non_blocking=True),
            None if self.regions is None else self.regions.to(device, non_blocking=True),
            self.tokens.to(device, non_blocking=True),
            self.layout.to(device),
            self.owners.to(device, non_blocking=True),
            self.examples,
            self.padding,
        )


def images_of(split: Split, examples: np.ndarray) -> tuple[Tensor, Tensor | None]:
    """Images (B, ...) by their numbers in the split, and how many regions of each are real.

    Raises:
        ValueError: the split has no images.
    """
    kinds = [name for name in ("pixels", "features") if name in split.columns]
    if not kinds:
        raise ValueError(
            "the corpus has no images: it has neither a column 'pixels' nor 'features'; name a "
            "captioned dataset."
        )
    regions = split.columns.get("regions")
    counts = None if regions is None else torch.from_numpy(regions[examples].astype(np.int64))
    return torch.from_numpy(split.columns[kinds[0]][examples]), counts


def collate_captions(split: Split, examples: np.ndarray) -> CaptionBatch:
    """Gather images (numbers in the split) and their captions, without a loop over them.

    Raises:
        ValueError: the split has no images, or its captions do not end with EOS.
    """
    images, regions = images_of(split, examples)
    starts, sizes = split.offsets[examples], split.lengths[examples]
    bounds = sizes.cumsum()
    where = np.arange(bounds[-1]) + np.repeat(starts - bounds + sizes, sizes)
    words = split.tokens[where]
    ends = np.flatnonzero(words == EOS) + 1
    if not np.isin(bounds, ends).all():
        raise ValueError(f"the captions of the corpus do not end with EOS: {REBUILD}")
    lengths = np.diff(ends, prepend=0)
    inside = np.arange(lengths.max())[None] < lengths[:, None]
    tokens = np.full((len(lengths), lengths.max() + 1), PAD, np.int64)
    tokens[:, 0], tokens[:, 1:][inside] = BOS, words
    return CaptionBatch(
        images,
        regions,
        torch.from_numpy(tokens),
        Layout(torch.from_numpy(inside)),
        torch.from_numpy(np.searchsorted(bounds, ends)),
        examples,
        int(inside.size - inside.sum()),
    )


class CaptionSampler(Sampler):
    """The updates of every epoch, as `model.batches.batching.Sampler` gives them, of whole images.

    A limit in examples counts images, one in tokens those of all captions.
    """

    def batches(  # type: ignore[override]
        self, examples: list[np.ndarray], device: torch.device
    ) -> Iterator[CaptionBatch]:
        """The micro-batches of one update, on the device."""
        return (collate_captions(self.split, chosen).to(device) for chosen in examples)


def captions_in_order(split: Split, tokens: int, device: torch.device) -> Iterator[CaptionBatch]:
    """Every image of a split once, in batches of at most so many tokens, shortest first."""
    order = np.argsort(split.lengths, kind="stable")
    for chosen in plan_batches(split.lengths, order, {"tokens": tokens}):
        yield collate_captions(split, chosen).to(device)
