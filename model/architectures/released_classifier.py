"""The text classifier as the authors' released code has it (kinley2020 section 6.1).

That code is built on fairseq, whose defaults decide what the text does not. In four respects they
are not those of `Classifier` with a `Transformer` or a `TwoStreamTransformer`:

    dropout            on embeddings and sub-layer outputs alone; none on attention weights or on
                       the hidden layer of the FFN, in either stream
    W^(V) of the       Xavier with gain 1, as that matrix stands alone there; one of the single
    model stream       stream and of the controller is part of a fused Q, K, V, of gain 2^-.5
    output layer       Xavier, biases 0
    positions          counted from 2, behind the number of the padding symbol
"""

from __future__ import annotations

from torch import nn

from model.architectures.classifier import Classifier
from model.architectures.two_stream import ControllerLayer, ModelLayer
from model.kernels.dropout import Dropout
from model.layers.blocks import Embedding, FeedForward, sinusoids

FIRST = 2
"""The first position."""


class ReleasedClassifier(Classifier):
    """`Classifier` with the released code's dropout, initial values and positions.

    Args:
        encoder: a `Transformer` or a `TwoStreamTransformer` with sinusoidal positions.
        classes: C.

    Raises:
        ValueError: learned positions.
    """

    def __init__(self, encoder: nn.Module, classes: int) -> None:
        super().__init__(encoder, classes)
        nn.init.xavier_uniform_(self.output.weight)
        nn.init.zeros_(self.output.bias)
        for part in encoder.modules():
            if isinstance(part, ControllerLayer):
                part.attention_dropout = Dropout(0)
            elif isinstance(part, ModelLayer):
                nn.init.xavier_uniform_(part.values.value.weight)
            elif isinstance(part, FeedForward):
                part[2] = Dropout(0)
            elif isinstance(part, Embedding):
                _shift(part)


def _shift(embedding: Embedding) -> None:
    """Begin the positions of an embedding at `FIRST`."""
    if isinstance(embedding.position, nn.Parameter):
        raise ValueError("positions: those of the released code are sinusoidal, not learned.")
    length, width = embedding.position.shape
    embedding.position = sinusoids(length + FIRST, width)[FIRST:]
