"""The receptive field of a stack of attention layers (discrete2020 section 5, 5.1).

r(i, 0) = {i};  r(i, l) = r(i, l-1) united with r(z, l-1) for the position z of every head.

In the form of discrete2020 eq. 1, s_ij^l in [0, 1] says how much the state of token i at layer l
relies on the embedding of token j:

    s_ij^0 = 1(i = j),    s_ij^l = min(s_ij^(l-1) + sum_k z_ik^l s_kj^(l-1), 1)

with the sum over heads too. For one-hot z this is the set recursion; for Gumbel samples and soft
attention it is differentiable, and the sparsity regulariser is made of it.

What is guaranteed, and what is not: with the routing z held fixed, changing the value of a token
outside r(i, L) changes the prediction at i by exactly 0. The routing itself is computed from
every token that the mask lets through, in the single stream as much as in the controller, so a
token outside the field can still matter by flipping a routing decision; `model.probes.fields.flips`
measures how often it does.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def receptive_field(weights: Sequence[Tensor], union: str = "min") -> Tensor:
    """The field s^L of stacked attention (discrete2020 eq. 1).

    Args:
        weights: z^l (B, H, T, T) of every layer, first layer first.
        union: `min`, as in discrete2020 eq. 1, whose gradient vanishes where the clamp acts, or
            `probabilistic`, 1 - (1 - s_ij) prod_h (1 - sum_k z_ik s_kj), whose gradient does not.

    Returns:
        s^L (B, T, T): row i is the field of position i.

    Raises:
        ValueError: `union` is neither of the two.
    """
    if union not in ("min", "probabilistic"):
        raise ValueError(f"union must be 'min' or 'probabilistic', not '{union}'.")
    first = weights[0]
    s = torch.eye(first.shape[-1], dtype=first.dtype, device=first.device).expand(
        first.shape[0], -1, -1
    )
    for z in weights:
        if union == "min":
            s = (s + z.sum(dim=1) @ s).clamp(max=1)
        else:
            s = 1 - (1 - s) * (1 - (z @ s[:, None]).clamp(max=1)).prod(dim=1)
    return s


def mean_field_size(field: Tensor, real: Tensor, sinks: int = 1) -> Tensor:
    """The sparsity regulariser: how many other tokens a prediction relies on, on average.

    The regulariser as printed, sum_i min(sum_j s_ij^L, 1), is constant: s_ii = 1 at every layer.
    So this is the mean over queries i of the sum over j != i of s_ij^L.

    Args:
        field: s^L (B, T, T).
        real: (B, T), false at padding, which is left out.
        sinks: tokens at the beginning (BOS) that serve as attention sinks; they are left out both
            as queries and as keys.

    Returns:
        A scalar, in tokens.
    """
    inner, counted = field[:, sinks:, sinks:], real[:, sinks:]
    sizes = inner.sum(dim=-1) - inner.diagonal(dim1=1, dim2=2)
    return (sizes * counted).sum() / counted.sum()
