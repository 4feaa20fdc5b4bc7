"""Compare what is computed with what is expected, tensor by tensor."""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

Tensors = Iterable[Tensor | None] | Mapping[str, Tensor]


def close(found: Tensors, expected: Tensors, atol: float = 1e-8) -> bool:
    """Whether all are close, by name where they have one; where one is None the other has to be."""
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        assert found.keys() == expected.keys()
        found, expected = found.values(), [expected[name] for name in found]
    for one, other in zip(found, expected, strict=True):
        if one is None or other is None:
            if one is not other:
                return False
        elif not torch.allclose(one, other, rtol=0, atol=atol):
            return False
    return True


def gradients(total: Tensor, model: nn.Module) -> list[Tensor | None]:
    """By each parameter; None where nothing depends on it."""
    return list(torch.autograd.grad(total, list(model.parameters()), allow_unused=True))
