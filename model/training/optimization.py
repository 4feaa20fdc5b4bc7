"""The optimiser, its rate along training, and the precision of its arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import torch
from torch import nn

CPU = torch.device("cpu")
GPUS = ("cuda",)
"""Types of devices whose products in single precision may be of reduced precision."""


class Adam(TypedDict):
    """The options of Adam."""

    lr: float
    betas: Sequence[float]
    weight_decay: NotRequired[float | None]


def adam(model: nn.Module, settings: Adam) -> torch.optim.Optimizer:
    """Adam (Kingma & Ba 2015), or AdamW (Loshchilov & Hutter 2019) with a `weight_decay`.

    Args:
        model: whose parameters to optimise.
        settings: `lr`, `betas` and optionally `weight_decay`.
    """
    options: dict[str, Any] = {"lr": settings["lr"], "betas": tuple(settings["betas"])}
    if decay := settings.get("weight_decay"):
        return torch.optim.AdamW(model.parameters(), weight_decay=decay, fused=True, **options)
    return torch.optim.Adam(model.parameters(), fused=True, **options)


def learning_rate(
    update: int, updates: int, peak: float, name: str, warmup: int = 0, start: float = 0.0
) -> float:
    """The learning rate of an update.

    Args:
        update: counted from 1.
        updates: of the whole run.
        peak: rate at the end of the warm-up.
        name: `constant`, `inverse_sqrt` (Vaswani et al. 2017: peak * sqrt(warmup / update)) or
            `cosine` (to 0 at the last update).
        warmup: updates of linear growth from `start` to `peak`.
        start: rate before the first update.

    Raises:
        ValueError: an unknown name.
    """
    if update < warmup:
        return start + (peak - start) * update / warmup
    if name == "constant":
        return peak
    if name == "inverse_sqrt":
        return peak * math.sqrt(max(warmup, 1) / update)
    if name == "cosine":
        return peak * 0.5 * (1 + math.cos(math.pi * (update - warmup) / max(updates - warmup, 1)))
    raise ValueError(f"schedule '{name}' is unknown: constant, inverse_sqrt or cosine.")


def autocast(precision: str, device: torch.device) -> AbstractContextManager[Any]:
    """Mixed precision in the block, if `uses_bf16`; weights and their updates stay in single."""
    return torch.autocast(device.type, torch.bfloat16, enabled=uses_bf16(precision, device))


def uses_bf16(precision: str, device: torch.device) -> bool:
    """Whether a run of a precision (fp32, bf16) multiplies in bf16 on a device.

    GPUs do, and CPUs that have it in hardware (AVX512-BF16, AMX), where training the translation
    models takes half the time; on other CPUs it would be slower than single precision.
    """
    fast = device.type == "cuda" or cpu_has("avx512_bf16") or cpu_has("amx_bf16")
    return precision == "bf16" and fast


@cache
def cpu_has(flag: str) -> bool:
    """Whether the CPU has a feature, as Linux tells; elsewhere False."""
    told = Path("/proc/cpuinfo")
    return told.is_file() and flag in told.read_text().split()


def set_numerics(training: Mapping[str, Any], device: torch.device = CPU) -> str:
    """Set threads and matrix-product mode as the spec says; returns torch's name of the mode.

    `fast` and `fastest` let a CPU use the library that is fastest for single-precision products. On
    CPUs with AMX the same setting would mean bf16 products, so there it stays at `highest`. On a
    GPU `fastest` means products of reduced precision (TF32 or less), and `fast` does not;
    `run.json` records what was used.

    Raises:
        KeyError: the mode is unknown.
    """
    torch.set_num_threads(training["threads"])
    fast = device.type not in GPUS and not cpu_has("amx_tile")
    modes = {"highest": False, "fast": fast, "fastest": fast or device.type in GPUS}
    mode = "medium" if modes[training["matmul"]] else "highest"
    torch.set_float32_matmul_precision(mode)
    return mode
