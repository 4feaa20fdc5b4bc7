"""What a machine could do at most: the rate of large products of matrices."""

from __future__ import annotations

import time

import torch

SIZE, TRIES = 1024, 50


def matrix_rates() -> dict[str, float]:
    """GFLOP/s of a CPU's thread in single precision, by torch's faster library, and in bf16."""
    before = torch.get_num_threads(), torch.get_float32_matmul_precision()
    torch.set_num_threads(1)
    single, half = torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE).bfloat16()
    rates = []
    for mode in ("highest", "medium"):
        torch.set_float32_matmul_precision(mode)
        rates.append(_rate(single))
    found = {"fp32": round(max(rates), 1), "bf16": round(_rate(half), 1)}
    torch.set_num_threads(before[0])
    torch.set_float32_matmul_precision(before[1])
    return found


def _rate(a: torch.Tensor) -> float:
    """GFLOP/s of a @ a, the best try."""
    seconds = []
    for _ in range(TRIES):
        start = time.process_time()
        a @ a
        seconds.append(time.process_time() - start)
    return 2e-9 * len(a) ** 3 / min(seconds)


def device_rates(device: torch.device) -> dict[str, float]:
    """TFLOP/s of a device in single precision, in the mode that is set, and in bf16."""
    size = 8192 if device.type == "cuda" else 64
    found = {}
    for name, kind in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        a, seconds = torch.randn(size, size, dtype=kind, device=device), []
        for _ in range(10):
            wait(device)
            start = time.perf_counter()
            a @ a
            wait(device)
            seconds.append(time.perf_counter() - start)
        found[name] = round(2e-12 * size**3 / min(seconds), 1)
    return found


def wait(device: torch.device) -> None:
    """Wait until a GPU has done all that it was told."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
