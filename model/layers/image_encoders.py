"""From images to the vectors that a captioner's encoder attends to, one for each region.

An image is either a set of features, made by another network before training (boxes or a grid),
or its pixels, for which a small convolutional network is trained along with the captioner.
Dimensions: B images, S regions, F width of the features, D width, P pixels of a side.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.kernels.dropout import Dropout


class Regions(nn.Module):
    """Features of regions (B, S, F) to vectors (B, S, D): a linear layer, ReLU and dropout.

    Args:
        width: D.
        features: F.
        dropout: probability, on the vectors.
    """

    def __init__(self, width: int, features: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.project = nn.Linear(features, width)
        self.dropout = Dropout(dropout)

    def forward(self, images: Tensor) -> Tensor:
        """Encode features (B, S, F), of any floating type.

        Raises:
            ValueError: they are no features, or of another width.
        """
        if images.dim() != 3:
            raise ValueError(
                "the model reads features of regions, and the corpus has pixels: set model.images "
                "to a part that reads these, such as model.layers.image_encoders:Convolution."
            )
        if images.shape[2] != self.project.in_features:
            raise ValueError(
                f"the corpus has features of width {images.shape[2]}, and "
                f"model.images.features is {self.project.in_features}: set it to "
                f"{images.shape[2]}, or take other features."
            )
        encoded: Tensor = self.dropout(F.relu(self.project(images.to(self.project.weight.dtype))))
        return encoded

    def count(self, images: Tensor) -> int:
        """How many regions S there are in images (B, S, F)."""
        return images.shape[1]


class Convolution(nn.Module):
    """Pixels (B, 3, P, P) to vectors (B, S, D) of the S cells of a grid, by a small network.

    Each stage halves both sides: a convolution with stride 2 and a residual one, both 3 x 3, with
    group norm. Learned vectors tell the cells' places.

    Args:
        width: D.
        pixels: P.
        channels: of each stage.
        dropout: probability, on the vectors.
        shift: in training an image is moved by up to so many pixels in both directions.
        flip: whether in training it is mirrored every other time.

    Raises:
        ValueError: P is no multiple of 2 to the number of stages, or a stage has other than a
            multiple of 8 channels.
    """

    def __init__(
        self,
        width: int,
        pixels: int,
        channels: Sequence[int],
        dropout: float = 0.0,
        shift: int = 0,
        flip: bool = False,
    ) -> None:
        super().__init__()
        self.pixels, self.shift, self.flip = pixels, shift, flip
        self.side, rest = divmod(pixels, 2 ** len(channels))
        if rest or any(channel % GROUP for channel in channels):
            raise ValueError(
                f"images of {pixels} pixels cannot be halved by stages of {list(channels)} "
                f"channels: pixels must be a multiple of {2 ** len(channels)}, and channels of "
                f"{GROUP}."
            )
        ins = [3, *channels]
        self.stages = nn.ModuleList(_Stage(*two) for two in zip(ins, channels, strict=False))
        self.project = nn.Linear(channels[-1], width)
        self.places = nn.Parameter(torch.randn(self.side**2, width) * 0.02)
        self.dropout = Dropout(dropout)

    def forward(self, images: Tensor) -> Tensor:
        """Encode pixels (B, 3, P, P), 0 to 255.

        Raises:
            ValueError: they are no pixels, or of another size.
        """
        if images.shape[1:] != (3, self.pixels, self.pixels):
            raise ValueError(
                f"the corpus has images of shape {tuple(images.shape[1:])}, and the model reads "
                f"(3, {self.pixels}, {self.pixels}): set model.images.pixels to what data.pixels "
                f"is, or model.images to a part that reads features."
            )
        x = (self._moved(images).to(self.places.dtype) - 127.5) / 64
        for stage in self.stages:
            x = stage(x)
        encoded: Tensor = self.dropout(self.project(x.flatten(2).transpose(1, 2)) + self.places)
        return encoded

    def count(self, images: Tensor) -> int:
        """How many cells S the grid has."""
        return self.side**2

    def _moved(self, images: Tensor) -> Tensor:
        """Images as training shows them, each moved and mirrored by chance; else as they are."""
        if not self.training:
            return images
        rows = images.new_tensor(range(len(images)), dtype=torch.long)[:, None, None]
        y, x = (self._places(images) for _ in range(2))
        if self.flip:
            mirrored = torch.rand(len(images), 1, device=images.device) < 0.5
            x = torch.where(mirrored, self.pixels - 1 - x, x)
        return images[rows, :, y[:, :, None], x[:, None]].permute(0, 3, 1, 2)

    def _places(self, images: Tensor) -> Tensor:
        """Which row or column of each image stands where, (B, P); the border is repeated."""
        steps = (2 * self.shift + 1, (len(images), 1))
        moved = torch.randint(*steps, device=images.device) - self.shift
        return (torch.arange(self.pixels, device=images.device) + moved).clamp(0, self.pixels - 1)


GROUP = 8
"""Channels that are normalised together."""


class _Stage(nn.Module):
    """Half the height and width, other channels."""

    def __init__(self, ins: int, outs: int) -> None:
        super().__init__()
        self.halve = nn.Conv2d(ins, outs, 3, stride=2, padding=1, bias=False)
        self.first = nn.GroupNorm(outs // GROUP, outs)
        self.refine = nn.Conv2d(outs, outs, 3, padding=1, bias=False)
        self.second = nn.GroupNorm(outs // GROUP, outs)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.first(self.halve(x)))
        return F.relu(x + self.second(self.refine(x)))
