"""Compare a device with the CPU, and say what differs.

    python -m workflow.lent.runner check

The difference of two tensors is its norm, relative to that of the tensor or to a tenth of the
largest one of the part, whichever is more: some gradients are 0 but for rounding. Of all tensors of
a part, results and gradients, the largest difference counts.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from model.training.optimization import set_numerics
from workflow.lent.parts import HALF, RUNS, SINGLE, ComparedPart, SameNoise, parts
from workflow.lent.tiny import corpus, spec, trained, waits
from workflow.runtime.preflight import prepare_process

CPU = torch.device("cpu")
NAMES = {SINGLE: "fp32", HALF: "bf16"}
TOLERANCES = {SINGLE: 1e-4, HALF: 0.1}
"""How far a device may be from the CPU in single precision."""
REPEATED, TIMES = 0.5, 10
"""How far a GPU may be from itself after a training: it may add in any order, and Adam takes whole
steps where a gradient is 0 but for rounding. A CPU may not. And how many times as far it may be
when it was stopped in between."""
UPDATES, STOP = 30, 13
"""Of a training, and of the one that is stopped and goes on."""


def check() -> bool:
    """Print a line for all that the GPU, else the CPU, computes, and tell whether none differs."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    prepare_process()
    set_numerics({"threads": 1, "matmul": "highest"})
    with (
        tempfile.TemporaryDirectory() as folder,
        torch.backends.cudnn.flags(enabled=True, allow_tf32=False),  # which training allows
    ):
        data = {of: corpus(Path(folder, of), of) for of in ("texts", "copies", "pairs")}
        print(heading(device))
        fine = [compare(part, device) for part in parts(data)]
        for name, (model, objective, kind) in RUNS.items():
            for precision in ("fp32", "bf16"):
                run = spec(model, objective, precision, UPDATES)
                first, again, resumed = (
                    [*trained(run, data[kind], device, stop).values()] for stop in (0, 0, STOP)
                )
                twice = largest(again, first)
                limit = 0.0 if device == CPU else REPEATED
                fine.append(say(f"{name}, trained twice", [(precision, twice, limit)]))
                apart = largest(resumed, first)
                fine.append(
                    say(f"{name}, stopped and resumed", [(precision, apart, TIMES * twice)])
                )
        for name, (model, objective, kind) in RUNS.items():
            counts = waits(model, objective, data[kind], device)
            told = ", ".join(f"{what} {count:g}" for what, count in counts.items() if count)
            print(f"{name}, an update waits: {told or 'never'}")
    print(f"{len(fine)} compared, {fine.count(False)} differ")
    return all(fine)


def compare(part: ComparedPart, device: torch.device) -> bool:
    """Print how far a part is from the CPU; whether that is within the tolerances."""
    expected = seeded(part, CPU, SINGLE)
    found = []
    for kind in part.kinds:
        try:
            got = seeded(part, device, kind)
        except Exception as error:
            print(f"{part.name}: fails with {type(error).__name__}: {error}".splitlines()[0])
            return False
        limit = 0.0 if part.exact else TOLERANCES[kind]
        found.append((NAMES[kind], largest(got, expected), limit))
    return say(part.name, found)


def seeded(part: ComparedPart, device: torch.device, kind: torch.dtype) -> list[Tensor]:
    """What a part computes from seed 0, on the CPU."""
    torch.manual_seed(0)
    with SameNoise():
        return [one.detach().cpu() for one in part.computed(device, kind)]


def largest(found: Sequence[Tensor], expected: Sequence[Tensor]) -> float:
    """The largest difference; inf where something is no number, or of another shape."""
    if [one.shape for one in found] != [one.shape for one in expected]:
        return math.inf
    sizes = [float(one.double().norm()) for one in expected]
    least = max(max(sizes) / 10, 1e-9)
    apart = [
        float((one.double() - other.double()).norm()) / max(size, least)
        for one, other, size in zip(found, expected, sizes, strict=True)
    ]
    return max(one if math.isfinite(one) else math.inf for one in apart)


def say(name: str, found: Sequence[tuple[str, float, float]]) -> bool:
    """Print a line: each precision with its difference and tolerance."""
    fine = all(apart <= limit for _, apart, limit in found)
    told = "  ".join(f"{kind} {apart:7.1e} of {limit:g}" for kind, apart, limit in found)
    print(f"{name:45} {told:48} {'ok' if fine else 'DIFFERS'}", flush=True)
    return fine


def heading(device: torch.device) -> str:
    """What is compared with what."""
    if device == CPU:
        return f"torch {torch.__version__} finds no GPU: the CPU is compared with itself"
    name = torch.cuda.get_device_name(device)
    return f"{name}, torch {torch.__version__}, against the CPU in fp32"
