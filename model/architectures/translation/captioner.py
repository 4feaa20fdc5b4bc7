"""Image captioning (zhao2019 section 3.2): an encoder over an image's regions, a decoder of words.

The layers, the decoding and the search are those of translation
(`model.architectures.translation.encoder_decoder`); only what the encoder begins with is another:
the regions of an image in place of embedded words. Dimensions: B images, C captions, S regions, T
length of a caption, N packed tokens, D width.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.batches.captions import CaptionBatch
from model.layers.attention import causal_mask
from model.layers.packing import Layout


class Captioner(EncoderDecoder):
    """An encoder-decoder whose source is an image.

    The words that the decoder reads and those that it writes share one matrix.

    Args:
        images: images to vectors (B, S, D), see `model.layers.image_encoders`.
        shape: see `Translator`; `positions` and `max_length` are those of captions.
    """

    def __init__(self, *shape: Any, images: nn.Module, **named: Any) -> None:
        super().__init__(*shape, **named)
        self.source = images  # type: ignore[assignment]

    def regions(self, images: Tensor, counts: Tensor | None = None) -> Layout:
        """The layout (B, S) of the real regions of images; all of them where there is no count."""
        size = self.source.count(images)  # type: ignore[operator]
        if counts is None:
            counts = torch.full((len(images),), size, device=images.device)
        return Layout(torch.arange(size, device=images.device)[None] < counts[:, None])

    def embed_source(
        self, embedding: nn.Module, source: Tensor, layout: Layout, h0: Tensor | None = None
    ) -> Tensor:
        """Images (B, ...), or their vectors h0 (B, S, D), to packed h^(0) (N, D)."""
        return layout.pack(embedding(source) if h0 is None else h0)

    def captions(self, batch: CaptionBatch) -> Tensor:
        """States (N, D) that predict every word of the captions from the image and those before.

        Raises:
            ValueError: a caption is longer than the model's positions, or the images are not of
                the kind that the model reads.
        """
        words = batch.tokens[:, :-1]
        self.check_length(words, "caption")
        encoding = self.encode(batch.images, self.regions(batch.images, batch.regions))
        mask, layout = causal_mask(words.shape[1], words.device), batch.layout
        packed, of_captions = layout.pack(words), encoding.select(batch.owners)
        return self.decode(
            packed, layout.columns, layout, mask, of_captions, None, None, False
        ).states
