"""What torch has once in a process: default type, gradient mode, hooks and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import autograd, backends, overrides
from torch.nn.modules import module
from torch.utils._device import DeviceContext

Switch = tuple[Callable[[], Any], Callable[[Any], object]]
"""What reads a state, and what sets it."""


def attributes(owner: Any, *names: str) -> Switch:
    """Return what reads attributes, and what sets them."""

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


def _autocast() -> tuple[bool, ...]:
    return tuple(torch.is_autocast_enabled(device) for device in ("cpu", "cuda"))


def _set_autocast(enabled: tuple[bool, ...]) -> None:
    for device, value in zip(("cpu", "cuda"), enabled, strict=True):
        torch.set_autocast_enabled(device, value)


def _modes() -> list[Any]:
    """What stands between a call of torch and what it does, but for the default device."""
    modes = overrides._get_current_function_mode_stack()
    return [mode for mode in modes if not isinstance(mode, DeviceContext)]


def _set_modes(modes: list[Any]) -> None:
    while len(_modes()) > len(modes):
        overrides._pop_mode()


def _saved_by() -> Any:
    """What torch hands to what gradients need, and takes back."""
    return torch._C._autograd._top_saved_tensors_default_hooks(True)


def _set_saved_by(hooks: Any) -> None:
    while _saved_by() != hooks:
        torch._C._autograd._pop_saved_tensors_default_hooks()


STATES: dict[str, Switch] = {
    "what overrides torch (TorchFunctionMode)": (_modes, _set_modes),
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
    "torch's detection of anomalies": (torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
    "torch's hooks of all modules": (_hooks, _set_hooks),
    "torch's choice of attention (backends.cuda)": (_attention, _set_attention),
    "torch's backends.cudnn": attributes(backends.cudnn, "enabled", "benchmark", "deterministic"),
    "torch's backends.mkldnn": attributes(backends.mkldnn, "enabled", "deterministic"),
    "what is kept for gradients (saved_tensors_hooks)": (_saved_by, _set_saved_by),
    "torch's threads of gradients": (
        torch._C._is_multithreading_enabled,
        autograd.set_multithreading_enabled,
    ),
}
