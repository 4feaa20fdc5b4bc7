"""Copying with any mechanism, one with a step after reading too (snell2021 section 5.2).

    alpha_t^(k) = normalizer((W^(k) s_t + b^(k))^T h)
    c_t         = after([alpha_t^(1) h^(1), .., alpha_t^(K) h^(K)])

Each head reads its own H / K numbers of the states, h^(k); with one head, and a mechanism without
the step, this is a `MultiheadCopyingModel`.
"""

from __future__ import annotations

from torch import Tensor

from model.architectures.copying import Copied
from model.architectures.multihead_copying import MultiheadCopyingModel
from model.layers.attention import merge_heads, split_heads


class ContextCopyingModel(MultiheadCopyingModel):
    """A copying model whose heads read side by side, and whose mechanism may bring `after`.

    What is read has `hidden` numbers, of which a mechanism with the step takes as many as `width`
    says: both are to be the same. The lexical probe is that of models without the step.
    """

    reads_after = True

    def forward(self, source: Tensor, before: Tensor) -> Copied:
        """Predict each symbol of the copy.

        Args:
            source: (B, T), what to copy.
            before: (B, T), the true symbol before each prediction; BOS first.

        Returns:
            The prediction; its `weights` are the mean over heads.
        """
        h, s = self.read(source, before)
        weights = self.attend(h, s)
        context = weights @ split_heads(h, self.heads)
        if hasattr(self.normalizer, "after"):
            context = self.normalizer.after(context)  # type: ignore[operator]
        return Copied(self.predict(merge_heads(context), s), weights.mean(dim=1))
