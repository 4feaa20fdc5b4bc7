"""The streams of an encoder-decoder: their embeddings and the encoder's last states.

An encoder-decoder with one stream has the stream `model`; one with two has `controller` as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from model.layers.packing import Layout

NORMS = {"model": "encoder_norm", "controller": "controller_norm"}
"""Of each stream the module whose output is the encoder's last state, before the decoder reads it;
it does nothing where the layers are post-norm."""


def embeddings(model: nn.Module, side: str) -> dict[str, np.ndarray]:
    """The embedding (V, D) of a side's words in every stream.

    Args:
        model: a `Translator`.
        side: `source` or `target`.
    """
    parts = {"model": side, "controller": f"controller_{side}"}
    tables = {stream: getattr(model, name, None) for stream, name in parts.items()}
    return {
        stream: part.token.weight.detach().float().cpu().numpy()
        for stream, part in tables.items()
        if part is not None
    }


@torch.no_grad()
def encoder_states(model: Any, source: Tensor, layout: Layout) -> dict[str, Tensor]:
    """The encoder's last states (N, D) of packed sources in every stream.

    Args:
        model: a `Translator`, in evaluation mode.
        source: (B, S), each with EOS.
        layout: of its N real tokens.
    """
    states: dict[str, Tensor] = {}
    hooks = [
        getattr(model, name).register_forward_hook(_keeping(states, stream))
        for stream, name in NORMS.items()
        if hasattr(model, name)
    ]
    try:
        model.encode(source, layout)
    finally:
        for hook in hooks:
            hook.remove()
    return states


def _keeping(states: dict[str, Tensor], stream: str) -> Any:
    def keep(module: nn.Module, inputs: Any, output: Tensor) -> None:
        states[stream] = output

    return keep
