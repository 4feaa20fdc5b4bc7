"""What a process has once, and an attention mechanism leaves alone: switches, hooks, functions."""

from __future__ import annotations

import builtins
import gc
import json
import locale
import logging
import math
import os
import random
import re
import resource
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import autograd, backends, nn, optim, overrides
from torch.nn.modules import module
from torch.utils._device import DeviceContext

Switch = tuple[Callable[[], Any], Callable[[Any], object]]
"""What reads a state, and what sets it."""


def _attributes(owner: Any, *names: str) -> Switch:
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
    name, keys, *rest = np.random.get_state(legacy=True)
    return (name, np.asarray(keys).tolist(), *rest)


def _autocast() -> tuple[bool, ...]:
    return tuple(torch.is_autocast_enabled(device) for device in ("cpu", "cuda"))


def _set_autocast(enabled: tuple[bool, ...]) -> None:
    for device, value in zip(("cpu", "cuda"), enabled, strict=True):
        torch.set_autocast_enabled(device, value)


LIBRARIES = re.compile("TORCHINDUCTOR|TRITON|^KMP_")
"""What variables have in their name that torch.compile and scikit-learn set themselves."""
COMPILED = ("__init__", "__setstate__", "_init_group", "manual_seed")
"""Functions that torch.compile replaces."""
SIGNALS = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
COMPILER = "torch._inductor.async_compile"
"""The module of torch.compile that starts processes, and threads which wait for them."""
TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)


def _signals() -> tuple[list[Any], set[int]]:
    """What each signal does, and which ones wait."""
    waiting: set[int] = {*signal.pthread_sigmask(signal.SIG_BLOCK, ())}
    return [signal.getsignal(number) for number in SIGNALS], waiting


def _set_signals(before: tuple[list[Any], set[int]]) -> None:
    handlers, waiting = before
    for number, handler in zip(SIGNALS, handlers, strict=True):
        if signal.getsignal(number) != handler:
            signal.signal(number, handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, waiting)


def _timers() -> tuple[bool, ...]:
    return tuple(signal.getitimer(timer)[0] > 0 for timer in TIMERS)


def _stop_timers(running: tuple[bool, ...]) -> None:
    for timer, runs in zip(TIMERS, running, strict=True):
        if not runs:
            signal.setitimer(timer, 0)


def _umask() -> int:
    """Which rights new files lack; to ask is to set."""
    os.umask(mask := os.umask(0o077))
    return mask


def _environment() -> dict[str, str]:
    """The variables, but for those that libraries set."""
    return {name: value for name, value in os.environ.items() if not LIBRARIES.search(name)}


def _set_environment(variables: dict[str, str]) -> None:
    for name in _environment().keys() - variables.keys():
        del os.environ[name]
    os.environ.update(variables)


@cache
def _places() -> list[tuple[str, Any, str]]:
    """What a run may compute with: each function's name, what has it, and as which name.

    What is there when this is asked first counts; torch may load more later.
    """
    own = [one for name, one in sys.modules.items() if name.startswith("model.")]
    homes = [nn, autograd, *own]
    classes = {one for home in homes for one in vars(home).values() if isinstance(one, type)}
    used = (torch.Tensor, optim.Adam, optim.AdamW)
    modules = [builtins, json, math, os, time, np, torch, torch.linalg, nn.functional, nn.init]
    modules += [autograd, *own]
    owners: dict[str, Any] = {one.__name__: one for one in modules}
    owners |= {f"{one.__module__}.{one.__name__}": one for one in {*used, *classes}}
    return [
        (f"{place}.{name}", owner, name)
        for place, owner in owners.items()
        for name in (dir(owner) if owner in (torch.Tensor, nn.Module) else vars(owner))
        if callable(getattr(owner, name, None)) and name not in COMPILED
    ]


def _functions() -> dict[str, Any]:
    """The functions of torch, numpy, Python and the project, by name."""
    return {place: vars(owner).get(name) for place, owner, name in _places()}


def _set_functions(functions: dict[str, Any]) -> None:
    for (place, owner, name), now in zip(_places(), _functions().values(), strict=True):
        if now is not functions[place]:
            if functions[place] is None:  # its base class has it
                delattr(owner, name)
            else:
                setattr(owner, name, functions[place])


def _errors() -> list[Any]:
    """Filters that make errors of warnings."""
    return [one for one in warnings.filters if one[0] == "error"]


def _set_errors(filters: list[Any]) -> None:
    others = [one for one in warnings.filters if one[0] != "error"]
    warnings.filters[:] = [*filters, *others]  # type: ignore[index]


def _modes() -> list[Any]:
    """What stands between a call of torch and what it does, but for the default device."""
    modes = overrides._get_current_function_mode_stack()
    return [mode for mode in modes if not isinstance(mode, DeviceContext)]


def _set_modes(modes: list[Any]) -> None:
    while len(_modes()) > len(modes):
        overrides._pop_mode()


def _traces() -> tuple[Any, Any]:
    return sys.gettrace(), sys.getprofile()


def _set_traces(functions: tuple[Any, Any]) -> None:
    sys.settrace(functions[0])
    sys.setprofile(functions[1])


def _started() -> set[tuple[int, str]]:
    """The threads and processes that run beside this one, but for those of torch.compile."""
    others = {(one.ident or 0, one.name) for one in threading.enumerate() if not _compiles(one)}
    if COMPILER not in sys.modules:
        for listed in glob("/proc/self/task/*/children"):  # on Linux
            with suppress(OSError):
                others |= {(int(one), f"process {one}") for one in Path(listed).read_text().split()}
    return others


def _compiles(thread: threading.Thread) -> bool:
    """Whether a thread is of torch.compile, which leaves its pool of workers, or shows progress."""
    homes = (type(thread).__module__, getattr(getattr(thread, "_target", None), "__module__", ""))
    its = ("torch.", "tqdm.", *(["concurrent."] if COMPILER in sys.modules else []))
    return any(str(home).startswith(tuple(its)) for home in homes)


def _files() -> set[tuple[int, str]]:
    """The open files, by number and name, but for devices, pipes and what torch.compile has."""
    found = set()
    for number in os.listdir("/dev/fd"):
        with suppress(OSError):
            name = os.readlink(f"/dev/fd/{number}")
            if not re.match("/dev/|/proc/|/sys/|pipe:|anon_inode:", name):
                found.add((int(number), name))
    return found


def _close_files(files: set[tuple[int, str]]) -> None:
    for number, _ in _files() - files:
        os.close(number)


def _limits() -> dict[str, tuple[int, int]]:
    kinds = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    return {name: resource.getrlimit(getattr(resource, name)) for name in kinds}


def _set_limits(limits: dict[str, tuple[int, int]]) -> None:
    for name, before in limits.items():
        with suppress(ValueError, OSError):  # what was lowered for good
            resource.setrlimit(getattr(resource, name), before)


@cache
def _imported() -> list[str]:
    """The names of the modules that are there when this is asked first; more may be imported."""
    return list(sys.modules)


def _modules() -> dict[str, Any]:
    return {name: sys.modules.get(name, "none") for name in _imported()}


def _set_modules(modules: dict[str, Any]) -> None:
    for name, one in modules.items():
        if one == "none":
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = one


def _paths() -> list[str]:
    """Where modules are found, but for what an installed package brings along."""
    return [path for path in sys.path if "/site-packages/" not in str(path)]


def _set_paths(paths: list[str]) -> None:
    sys.path[:] = [*paths, *(path for path in sys.path if "/site-packages/" in str(path))]


def _set_collection(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()


def _output() -> tuple[Any, ...]:
    places = [os.fstat(number) for number in (1, 2)]
    return sys.stdout, sys.stderr, [(place.st_dev, place.st_ino) for place in places]


def _set_output(streams: tuple[Any, ...]) -> None:
    sys.stdout, sys.stderr, *_ = streams


def _saved_by() -> Any:
    """What torch hands to what gradients need, and takes back."""
    return torch._C._autograd._top_saved_tensors_default_hooks(True)


def _set_saved_by(hooks: Any) -> None:
    while _saved_by() != hooks:
        torch._C._autograd._pop_saved_tensors_default_hooks()


def _set_priority(priority: int) -> None:
    with suppress(PermissionError):  # only root raises it again
        os.setpriority(os.PRIO_PROCESS, 0, priority)


LOCALE = partial(locale.setlocale, locale.LC_ALL)
"""Reads it without an argument, and sets it."""
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
    "torch's detection of anomalies": (
        torch.is_anomaly_enabled,
        torch.autograd.set_detect_anomaly,
    ),
    "torch's hooks of all modules": (_hooks, _set_hooks),
    "torch's choice of attention (backends.cuda)": (_attention, _set_attention),
    "torch's backends.cudnn": _attributes(backends.cudnn, "enabled", "benchmark", "deterministic"),
    "torch's backends.mkldnn": _attributes(backends.mkldnn, "enabled", "deterministic"),
    "the working folder": (os.getcwd, os.chdir),
    "the rights of new files (umask)": (_umask, os.umask),
    "what signals do": (_signals, _set_signals),
    "timers (signal.alarm)": (_timers, _stop_timers),
    "variables of the environment": (_environment, _set_environment),
    "functions that are not its own": (_functions, _set_functions),
    "the output (sys.stdout, sys.stderr)": (_output, _set_output),
    "Python's warnings, some of them to errors": (_errors, _set_errors),
    "Python's collection of garbage": (gc.isenabled, _set_collection),
    "what traces calls (sys.settrace, sys.setprofile)": (_traces, _set_traces),
    "which threads and processes run": (_started, lambda started: None),
    "which files are open": (_files, _close_files),
    "the limits of resources": (_limits, _set_limits),
    "where modules are found (sys.path)": (_paths, _set_paths),
    "modules that others import (sys.modules)": (_modules, _set_modules),
    "its priority (os.nice)": (partial(os.getpriority, os.PRIO_PROCESS, 0), _set_priority),
    "what is kept for gradients (saved_tensors_hooks)": (_saved_by, _set_saved_by),
    "torch's threads of gradients": (
        torch._C._is_multithreading_enabled,
        autograd.set_multithreading_enabled,
    ),
    "what is logged (logging.disable)": (lambda: logging.root.manager.disable, logging.disable),
    "how often garbage is collected": (gc.get_threshold, lambda often: gc.set_threshold(*often)),
    "how often threads take turns": (sys.getswitchinterval, sys.setswitchinterval),
    "how long sockets wait": (socket.getdefaulttimeout, socket.setdefaulttimeout),
    "Python's limit of recursion": (sys.getrecursionlimit, sys.setrecursionlimit),
    "what is done with errors (sys.excepthook)": _attributes(sys, "excepthook", "unraisablehook"),
    "the locale": (
        partial(locale.setlocale, locale.LC_ALL),
        partial(locale.setlocale, locale.LC_ALL),
    ),
    "numpy's handling of errors": (np.geterr, lambda handling: np.seterr(**handling)),
    "Python's random numbers": (random.getstate, random.setstate),
    "numpy's random numbers": (_numpy, np.random.set_state),
}


def read_states() -> dict[str, Any]:
    """The value of every state, by name."""
    return {name: _value(read) for name, (read, _) in STATES.items()}


def changed_state(before: dict[str, Any]) -> str:
    """Say which state is another than before, and what to do; empty where none is."""
    for name, value in read_states().items():
        if _differs(before[name], value):
            drawn = "; draw with torch (torch.rand_like)" if "random" in name else ""
            what = f"{name}{_first(before[name], value)}"
            return f"it changes {what} for the whole process{drawn or '; leave that as it is'}"
    return ""


def _first(before: Any, after: Any) -> str:
    """Name the first entry of a mapping that is another, such as a variable; empty without one."""
    if isinstance(after, set):
        return f" ({min(name for _, name in after - before)})"
    if not isinstance(before, dict) or not isinstance(after, dict):
        return ""
    names = (name for name in {**before, **after} if before.get(name) != after.get(name))
    return f" ({next(names)})"


def restore_states(before: dict[str, Any]) -> None:
    """Set every state that is another than before as it was."""
    for name, (read, write) in STATES.items():
        if _differs(before[name], _value(read)):
            write(before[name])


def _differs(before: Any, after: Any) -> bool:
    """Whether a state changed: of a set, whether it grew, as what others began may end."""
    return bool(after - before) if isinstance(after, set) else after != before


def _value(read: Callable[[], Any]) -> Any:
    """The value of a state, or why torch doesn't tell it, as where two settings disagree."""
    try:
        return read()
    except RuntimeError as error:
        return str(error)
