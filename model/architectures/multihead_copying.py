"""Copying with several attention heads and any normalizer (snell2021 section 5.2, eq. 17, 18).

    alpha_t^(k) = normalizer((W^(k) s_t + b^(k))^T h)     c_t = sum_k sum_j alpha_tj^(k) h_j
    p(o_t)      = N([c_t, s_t]) = softmax(V tanh(U [s_t; P c_t]))

With one head and softmax this is a `CopyingModel`. Contexts are summed as in the text; those of
`AveragedCopyingModel` are averaged as in the authors' code.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.architectures.copying import Copied, CopyingModel


class MultiheadCopyingModel(CopyingModel):
    """A copying model whose context is the sum of K heads' contexts.

    The heads are initialised apart from the rest, each from a generator of its own, so that their
    number changes nothing else, and neither does it matter which other heads stand beside one.

    Args:
        vocabulary_size: V.
        width: D, size of the embedding.
        hidden: H, of both LSTMs and of the layer before the output.
        heads: K.
        normalizer: from scores to weights (`model.normalizers`).
        head_seeds: K seeds; head k starts as that of a single-head model whose seed is the k-th.
            Without them the heads are drawn by the run's seed.
        body_seed: seed of all other parameters; without it that of the run.
        embedding_std: standard deviation of the initial embedding.

    Raises:
        ValueError: there is not one seed for each head, or a seed stands twice.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        hidden: int,
        heads: int,
        normalizer: nn.Module,
        head_seeds: Sequence[int] | None = None,
        body_seed: int | None = None,
        embedding_std: float = 1.0,
    ) -> None:
        run = torch.initial_seed()
        with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
            torch.manual_seed(run if body_seed is None else body_seed)
            super().__init__(vocabulary_size, width, hidden, embedding_std)
            self.query = nn.Linear(hidden, heads * hidden)
        if head_seeds is None:
            names = [f"{run} query", *(f"{run} query {k}" for k in range(1, heads))]
        else:
            names = [f"{seed} query" for seed in head_seeds]
        if len(names) != heads or len(set(names)) < heads:
            raise ValueError(
                f"head_seeds is {list(head_seeds or [])} and heads is {heads}; give every head a "
                "seed of its own."
            )
        self.heads = heads
        self.normalizer = normalizer
        for k, name in enumerate(names):
            own = torch.Generator().manual_seed(zlib.crc32(name.encode()))
            for parameter in self.query.parameters():
                part = parameter.data[k * hidden : (k + 1) * hidden]
                nn.init.uniform_(part, -(hidden**-0.5), hidden**-0.5, generator=own)

    def forward(self, source: Tensor, before: Tensor) -> Copied:
        """Predict each symbol of the copy.

        Args:
            source: (B, T), what to copy.
            before: (B, T), the true symbol before each prediction; BOS first.

        Returns:
            The prediction (snell2021 eq. 18); its `weights` are the mean over heads.
        """
        h, s = self.read(source, before)
        weights = self.attend(h, s)
        return Copied(self.predict(weights.sum(dim=1) @ h, s), weights.mean(dim=1))

    def read(self, source: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
        """Encoder states h and decoder states s, (B, T, H) each."""
        table = self.embedding.weight
        h, last = self.encoder(source.t(), table)
        s, _ = self.decoder(before.t(), table, last)
        return h.transpose(0, 1), s.transpose(0, 1)

    def attend(self, h: Tensor, s: Tensor) -> Tensor:
        """alpha of every head, (B, K, T, S), of states h (B, S, H) and s (B, T, H).

        As in snell2021 eq. 17.
        """
        queries = self.query(s).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        weights: Tensor = self.normalizer(queries @ h[:, None].transpose(2, 3))
        return weights

    def predict(self, context: Tensor, s: Tensor) -> Tensor:
        """Logits (.., V) of N([c, s]), of contexts and states (.., H) that broadcast."""
        # U [s; P c] = U_s s + (U_c P) c: the product of the matrices is smaller than one by one.
        of_state, of_context = self.combine.weight.chunk(2, dim=1)
        bias = self.combine.bias + of_context @ self.context.bias
        mixed = F.linear(context, of_context @ self.context.weight)
        logits: Tensor = self.output((F.linear(s, of_state, bias) + mixed).tanh())
        return logits

    def lexical(self, source: Tensor, before: Tensor) -> Tensor:
        """The lexical probe beta of copying, (B, T, S), as log-odds (snell2021 eq. 3).

        Entry (t, l) is what the model thinks of the t-th symbol of the copy, the right one, when
        all attention is on the l-th symbol of the source. Log-odds keep the order where
        probabilities are all but 1.
        """
        h, s = self.read(source, before)
        logits = self.predict(self.heads * h[:, None], s[:, :, None])  # (B, T, S, V)
        right = source[:, :, None, None].expand(*logits.shape[:3], 1)
        others = logits.scatter(3, right, float("-inf")).logsumexp(dim=3)
        return logits.gather(3, right).squeeze(3) - others


class AveragedCopyingModel(MultiheadCopyingModel):
    """A copying model whose context is the mean of K heads' contexts, as in the authors' code."""

    def predict(self, context: Tensor, s: Tensor) -> Tensor:
        """Logits (.., V), of K times the context and of states (.., H) that broadcast."""
        return super().predict(context / self.heads, s)
