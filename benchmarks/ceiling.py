"""What a CPU could do at most: the rate of large products of matrices on one thread."""

from __future__ import annotations

import time

import torch

SIZE, TRIES = 1024, 50


def matrix_rates() -> dict[str, float]:
    """GFLOP/s in single precision, by the faster of torch's two libraries, and in bf16."""
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
