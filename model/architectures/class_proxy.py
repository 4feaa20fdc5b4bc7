"""The proxy of how words come to be translated into a class: a bag of words
(snell2021 section 2.3).

p = softmax(W mean_l e_{x_l}),  two outputs
"""

from __future__ import annotations

from torch import Tensor, nn

from model.architectures.lstm_classifier import Classified


class ClassProxy(nn.Module):
    """Mean of the words' embeddings, and a linear layer without bias (snell2021 eq. 55).

    So the text has it; the authors' code has one output, with a bias.

    Args:
        vocabulary_size: V.
        width: d; e and W are drawn from N(0, 1 / d) (snell2021 section 4.1).
    """

    def __init__(self, vocabulary_size: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width)
        self.output = nn.Linear(width, 2, bias=False)
        for weight in (self.embedding.weight, self.output.weight):
            nn.init.normal_(weight, std=width**-0.5)

    def forward(self, tokens: Tensor, real: Tensor) -> Classified:
        """Classify texts.

        The mean of the words' log-odds is the log-odds of their mean, since all is linear.

        Args:
            tokens: (B, T), padding last.
            real: (B, T), false at padding.

        Returns:
            `weights` are 1 / L; `log_odds` are what each word says by itself (B, T).
        """
        of_words = self.output(self.embedding(tokens))
        log_odds = of_words[..., 1] - of_words[..., 0]
        weights = real.to(log_odds.dtype) / real.sum(dim=1, keepdim=True)
        return Classified((weights * log_odds).sum(dim=1), weights, log_odds)
