"""The sum over roles of a role's transformation; no tensor (N, R, D) is kept.

    y_n = sum_i r_ni U_i e_n

One product per chunk of tokens: row n of Z holds r_ni e_n for every role, and y = Z [U_1 .. U_R].
Z, R times as large as a chunk of e, is made anew for the gradients: on a CPU it lives in the cache;
on a GPU a chunk may be the whole batch, and Z fills memory for the length of one product.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

CHUNK = 256
"""Tokens per chunk on a CPU: enough for fast products, few enough for the cache."""
DEVICE_CHUNK = 4096
"""Tokens per chunk elsewhere."""


def role_sum(roles: Tensor, e: Tensor, transforms: Tensor) -> Tensor:
    """Transform every token by the sum of its roles' matrices (weissenborn2019 eq. 5).

    Args:
        roles: r (N, R).
        e: tokens (N, D).
        transforms: (R, D, D'), of role i the transpose of U_i.

    Returns:
        (N, D'), in the type that the matrix products have under autocast.
    """
    if torch.is_autocast_enabled(e.device.type):
        kind = torch.get_autocast_dtype(e.device.type)
        roles, e, transforms = (x.to(kind) for x in (roles, e, transforms))
    transformed: Tensor = _RoleSum.apply(roles, e, transforms)
    return transformed


class _RoleSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, roles: Tensor, e: Tensor, transforms: Tensor) -> Tensor:
        ctx.save_for_backward(roles, e, transforms)
        stacked = transforms.flatten(0, 1)
        transformed = e.new_empty(len(e), stacked.shape[1])
        for chunk in _chunks(e):
            torch.mm(_spread(roles[chunk], e[chunk]), stacked, out=transformed[chunk])
        return transformed

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        roles, e, transforms = ctx.saved_tensors
        stacked = transforms.flatten(0, 1)
        gradient = gradient.to(e.dtype)
        by_roles, by_e = torch.empty_like(roles), torch.empty_like(e)
        by_stacked = torch.zeros_like(stacked, dtype=torch.promote_types(e.dtype, torch.float32))
        for chunk in _chunks(e):
            # Row n holds U_i^T g_n for every role.
            back = (gradient[chunk] @ stacked.t()).view(-1, roles.shape[1], e.shape[1])
            by_roles[chunk] = torch.bmm(back, e[chunk, :, None]).squeeze(2)
            by_e[chunk] = torch.bmm(roles[chunk, None], back).squeeze(1)
            by_stacked += _spread(roles[chunk], e[chunk]).t() @ gradient[chunk]
        return by_roles, by_e, by_stacked.view(transforms.shape).to(transforms.dtype)


def _spread(roles: Tensor, e: Tensor) -> Tensor:
    """Z (N, R D) of roles (N, R) and tokens (N, D)."""
    return (roles[:, :, None] * e[:, None]).flatten(1)


def _chunks(e: Tensor) -> list[slice]:
    size = CHUNK if e.is_cpu else DEVICE_CHUNK
    return [slice(start, start + size) for start in range(0, len(e), size)]
