"""What a process has once, and an attention mechanism leaves alone: switches, hooks, seeds."""

from __future__ import annotations

import os
import random
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import backends
from torch.nn.modules import module

Switch = tuple[Callable[[], Any], Callable[[Any], object]]
"""What reads a state, and what sets it."""


def _attributes(owner: Any, *names: str) -> Switch:
    """Attributes of a backend."""

    def write(values: tuple[Any, ...]) -> None:
        for name, value in zip(names, values, strict=True):
            setattr(owner, name, value)

    return lambda: tuple(getattr(owner, name) for name in names), write


def _flushes() -> bool:
    """Whether numbers below 1e-38 become 0; torch has no other way to ask."""
    small = torch.tensor([1e-40], dtype=torch.float32, device="cpu")
    return not small.mul(0.5).view(torch.int32).any()


def _hooks() -> dict[str, dict[Any, Any]]:
    """The hooks that all modules have, copied."""
    found = {name: value for name, value in vars(module).items() if name.startswith("_global_")}
    return {name: dict(value) for name, value in found.items() if isinstance(value, dict)}


def _set_hooks(hooks: dict[str, dict[Any, Any]]) -> None:
    for name, value in hooks.items():
        getattr(module, name).clear()
        getattr(module, name).update(value)


def _attention() -> tuple[bool, ...]:
    """Which forms torch's own attention may choose."""
    cuda = backends.cuda
    return (
        cuda.flash_sdp_enabled(),
        cuda.mem_efficient_sdp_enabled(),
        cuda.math_sdp_enabled(),
        cuda.cudnn_sdp_enabled(),
    )


def _set_attention(enabled: tuple[bool, ...]) -> None:
    cuda = backends.cuda
    flash, efficient, plain, cudnn = enabled
    cuda.enable_flash_sdp(flash)
    cuda.enable_mem_efficient_sdp(efficient)
    cuda.enable_math_sdp(plain)
    cuda.enable_cudnn_sdp(cudnn)


def _numpy() -> tuple[Any, ...]:
    """The state of numpy's global random numbers, in what can be compared."""
    name, keys, *rest = np.random.get_state(legacy=True)
    return (name, np.asarray(keys).tolist(), *rest)


def _autocast() -> tuple[bool, ...]:
    return tuple(torch.is_autocast_enabled(device) for device in ("cpu", "cuda"))


def _set_autocast(enabled: tuple[bool, ...]) -> None:
    for device, value in zip(("cpu", "cuda"), enabled, strict=True):
        torch.set_autocast_enabled(device, value)


SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _set_signals(handlers: list[Any]) -> None:
    for number, handler in zip(SIGNALS, handlers, strict=True):
        signal.signal(number, handler)


def _errors() -> list[Any]:
    """Filters that make errors of warnings."""
    return [one for one in warnings.filters if one[0] == "error"]


def _set_errors(filters: list[Any]) -> None:
    others = [one for one in warnings.filters if one[0] != "error"]
    warnings.filters[:] = [*filters, *others]  # type: ignore[index]


def _set_output(streams: tuple[Any, Any]) -> None:
    sys.stdout, sys.stderr = streams


STATES: dict[str, Switch] = {
    "torch's default type": (torch.get_default_dtype, torch.set_default_dtype),
    "torch's default device": (torch.get_default_device, torch.set_default_device),
    "torch's gradient mode": (torch.is_grad_enabled, torch.set_grad_enabled),
    "torch's number of threads": (torch.get_num_threads, torch.set_num_threads),
    "torch's precision of products": (
        torch.get_float32_matmul_precision,
        torch.set_float32_matmul_precision,
    ),
    "torch's deterministic mode": (
        torch.get_deterministic_debug_mode,
        torch.set_deterministic_debug_mode,
    ),
    "torch's autocast": (_autocast, _set_autocast),
    "torch's flushing of small numbers to 0": (_flushes, torch.set_flush_denormal),
    "torch's detection of anomalies": (
        torch.is_anomaly_enabled,
        torch.autograd.set_detect_anomaly,
    ),
    "torch's hooks of all modules": (_hooks, _set_hooks),
    "torch's choice of attention (backends.cuda)": (_attention, _set_attention),
    "torch's backends.cudnn": _attributes(backends.cudnn, "enabled", "benchmark", "deterministic"),
    "torch's backends.mkldnn": _attributes(backends.mkldnn, "enabled", "deterministic"),
    "the working folder": (os.getcwd, os.chdir),
    "what signals do": (lambda: [signal.getsignal(one) for one in SIGNALS], _set_signals),
    "the output (sys.stdout, sys.stderr)": (lambda: (sys.stdout, sys.stderr), _set_output),
    "Python's warnings, some of them to errors": (_errors, _set_errors),
    "Python's random numbers": (random.getstate, random.setstate),
    "numpy's random numbers": (_numpy, np.random.set_state),
}


def read_states() -> dict[str, Any]:
    """The value of every state, by name."""
    return {name: _value(read) for name, (read, _) in STATES.items()}


def changed_state(before: dict[str, Any]) -> str:
    """Say which state is another than before, and what to do; empty where none is."""
    for name, value in read_states().items():
        if value != before[name]:
            drawn = "; draw with torch (torch.rand_like)" if "random" in name else ""
            return f"it changes {name} for the whole process{drawn or '; leave that as it is'}"
    return ""


def restore_states(before: dict[str, Any]) -> None:
    """Set every state that is another than before as it was."""
    for name, (read, write) in STATES.items():
        if _value(read) != before[name]:
            write(before[name])


def _value(read: Callable[[], Any]) -> Any:
    """The value of a state, or why torch doesn't tell it, as where two settings disagree."""
    try:
        return read()
    except RuntimeError as error:
        return str(error)
