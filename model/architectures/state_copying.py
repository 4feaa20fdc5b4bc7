"""Copying with any mechanism, one with steps that read states too (snell2021 section 5.2).

alpha_t^(k) = normalizer(before((W^(k) s_t + b^(k))^T h, s, h))
c_t         = after([alpha_t^(1) h^(1), .., alpha_t^(K) h^(K)], s)
"""

from __future__ import annotations

from torch import Tensor

from model.architectures.context_copying import ContextCopyingModel
from model.architectures.copying import Copied
from model.layers.attention import merge_heads, split_heads
from model.layers.qk_norm import cosines
from model.layers.steps import context_after, scores_before


class StateCopyingModel(ContextCopyingModel):
    """A `ContextCopyingModel` whose mechanism gets decoder states s as queries and h as keys."""

    reads_states = True

    def forward(self, source: Tensor, before: Tensor) -> Copied:
        """Predict each symbol of the copy, as a `ContextCopyingModel` does."""
        h, s = self.read(source, before)
        weights = self.attend(h, s)
        context = context_after(self.normalizer, weights @ split_heads(h, self.heads), s)
        return Copied(self.predict(merge_heads(context), s), weights.mean(dim=1))

    def attend(self, h: Tensor, s: Tensor) -> Tensor:
        """alpha of every head, (B, K, T, S), of states h (B, S, H) and s (B, T, H)."""
        queries = self.query(s).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        scores = scores_before(self.normalizer, self.scores(queries, h[:, None]), s, h)
        weights: Tensor = self.normalizer(scores)
        return weights

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Products (B, K, T, S) of queries (B, K, T, H) and keys (B, 1, S, H)."""
        return queries @ keys.transpose(2, 3)


class NormedCopyingModel(StateCopyingModel):
    """A copying model with QK norm, for mechanisms whose threshold is of cosines."""

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        """sqrt(H) cos(q, h) of queries (B, K, T, H) and keys (B, 1, S, H)."""
        return cosines(queries, keys)
