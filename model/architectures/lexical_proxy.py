"""The proxy of how single words come to be translated: a bag of words (snell2021 section 2.3).

p = softmax(W mean_l e_{x_l}),  the same at every position of the output
"""

from __future__ import annotations

from torch import Tensor, nn


class LexicalProxy(nn.Module):
    """Mean of the input words' embeddings, and a linear layer without bias (snell2021 eq. 55).

    Args:
        vocabulary_size: V, of both sides.
        width: d; e and W are drawn from N(0, 1 / d) (snell2021 section 4.1).
    """

    def __init__(self, vocabulary_size: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width)
        self.output = nn.Linear(width, vocabulary_size, bias=False)
        for weight in (self.embedding.weight, self.output.weight):
            nn.init.normal_(weight, std=width**-0.5)

    def forward(self, source: Tensor, real: Tensor) -> Tensor:
        """Logits (B, V) of every word of the output.

        Args:
            source: (B, S).
            real: (B, S), false at padding.
        """
        inside = real[..., None].to(self.embedding.weight.dtype)
        mean = (self.embedding(source) * inside).sum(dim=1) / inside.sum(dim=1)
        logits: Tensor = self.output(mean)
        return logits

    def of_words(self) -> Tensor:
        """theta, (V, V): row i is the distribution that word i alone gives (snell2021 eq. 10).

        Where training begins, the logits change by 2 (C_io - mean_o' C_io') as the width grows
        (snell2021 eq. 50); theta, all of whose entries are 1 / V then, by 1 / V of that. Of the
        latter snell2021 eq. 12 says the former.
        """
        logits: Tensor = self.output(self.embedding.weight)
        return logits.softmax(dim=-1)
