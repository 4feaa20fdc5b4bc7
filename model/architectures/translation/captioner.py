"""Image captioning (001, section 3.2): an encoder over an image's regions, a decoder of words.

The layers, the decoding and the search are those of translation
(`model.architectures.translation.encoder_decoder`); only what the encoder begins with is another:
the regions of an image in place of embedded words. Dimensions: B images, C captions, S regions, T
length of a caption, N packed tokens, D width.
"""

from __future__ import annotations

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
        vocabulary_size: V.
        images: images to vectors (B, S, D), see `model.layers.image_encoders`.
        width: d_model.
        hidden: d_ff.
        layers: L of either stack.
        heads: h.
        normalizer: scores to weights, of all three kinds of attention; every layer gets a copy.
        norm: `pre` or `post`.
        positions: of the words, `sinusoidal` or `learned`.
        max_length: longest caption, EOS included.
        dropout: probability, on embedded words and sub-layer outputs.
        attention_dropout: on the weights of attention.
        hidden_dropout: on the hidden layer of the feed-forward network.
    """

    def __init__(
        self,
        vocabulary_size: int,
        images: nn.Module,
        width: int,
        hidden: int,
        layers: int,
        heads: int,
        normalizer: nn.Module,
        norm: str = "post",
        positions: str = "sinusoidal",
        max_length: int = 64,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        hidden_dropout: float = 0.0,
    ) -> None:
        super().__init__(
            vocabulary_size,
            width,
            hidden,
            layers,
            heads,
            normalizer,
            norm=norm,
            positions=positions,
            max_length=max_length,
            dropout=dropout,
            attention_dropout=attention_dropout,
            hidden_dropout=hidden_dropout,
        )
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
        return self.read(
            packed, layout.columns, layout, mask, of_captions, None, None, False
        ).states
