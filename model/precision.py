"""Which products are in reduced precision, as the device's hardware has it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any

import torch


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
