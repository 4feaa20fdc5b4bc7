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
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import autograd, nn, optim

from workflow.runtime import torch_state
from workflow.runtime.torch_state import Switch


def _numpy() -> tuple[Any, ...]:
    name, keys, *rest = np.random.get_state(legacy=True)
    return (name, np.asarray(keys).tolist(), *rest)


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
def _places() -> list[tuple[str, ModuleType | type, str]]:
    """What a run may compute with: each function's name, what has it, and as which name.

    What is there when this is asked first counts; torch may load more later.
    """
    own = [one for name, one in sys.modules.items() if name.startswith("model.")]
    homes = [nn, autograd, *own]
    classes = {one for home in homes for one in vars(home).values() if isinstance(one, type)}
    used = (torch.Tensor, optim.Adam, optim.AdamW)
    modules = [builtins, json, math, os, time, np, torch, torch.linalg, nn.functional, nn.init]
    modules += [autograd, *own]
    owners: dict[str, ModuleType | type] = {one.__name__: one for one in modules}
    owners |= {f"{one.__module__}.{one.__name__}": one for one in {*used, *classes}}
    return [
        (f"{place}.{name}", owner, name)
        for place, owner in owners.items()
        for name in (dir(owner) if owner in (torch.Tensor, nn.Module) else vars(owner))
        if callable(getattr(owner, name, None)) and name not in COMPILED
    ]


Function = Callable[..., object] | None
"""None where the base class has it."""


def _functions() -> dict[str, Function]:
    """The functions of torch, numpy, Python and the project, by name."""
    return {place: vars(owner).get(name) for place, owner, name in _places()}


def _set_functions(functions: dict[str, Function]) -> None:
    for (place, owner, name), now in zip(_places(), _functions().values(), strict=True):
        if now is not functions[place]:
            if functions[place] is None:
                delattr(owner, name)
            else:
                setattr(owner, name, functions[place])


def _errors() -> list[Any]:
    """Filters that make errors of warnings."""
    return [one for one in warnings.filters if one[0] == "error"]


def _set_errors(filters: list[Any]) -> None:
    others = [one for one in warnings.filters if one[0] != "error"]
    warnings.filters[:] = [*filters, *others]  # type: ignore[index]


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


def _modules() -> dict[str, ModuleType | None]:
    return {name: sys.modules.get(name) for name in _imported()}


def _set_modules(modules: dict[str, ModuleType | None]) -> None:
    for name, imported in modules.items():
        if imported is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = imported


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


def _set_priority(priority: int) -> None:
    with suppress(PermissionError):  # only root raises it again
        os.setpriority(os.PRIO_PROCESS, 0, priority)


LOCALE = partial(locale.setlocale, locale.LC_ALL)
"""Returns it without an argument, and sets it with one."""
STATES: dict[str, Switch] = {
    **torch_state.STATES,
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
    "what is logged (logging.disable)": (lambda: logging.root.manager.disable, logging.disable),
    "how often garbage is collected": (gc.get_threshold, lambda often: gc.set_threshold(*often)),
    "how often threads take turns": (sys.getswitchinterval, sys.setswitchinterval),
    "how long sockets wait": (socket.getdefaulttimeout, socket.setdefaulttimeout),
    "Python's limit of recursion": (sys.getrecursionlimit, sys.setrecursionlimit),
    "what is done with errors (sys.excepthook)": torch_state.attributes(
        sys, "excepthook", "unraisablehook"
    ),
    "the locale": (LOCALE, LOCALE),
    "numpy's handling of errors": (np.geterr, lambda handling: np.seterr(**handling)),
    "Python's random numbers": (random.getstate, random.setstate),
    "numpy's random numbers": (_numpy, np.random.set_state),
}


class ProcessState:
    """The value of every state, by name, when this was made."""

    def __init__(self) -> None:
        self.values = {name: _value(read) for name, (read, _) in STATES.items()}

    def change(self) -> str:
        """Say which state is another one now, and what to do; empty where none is."""
        for name, now in ProcessState().values.items():
            if _differs(self.values[name], now):
                drawn = "; draw with torch (torch.rand_like)" if "random" in name else ""
                what = f"{name}{_first(self.values[name], now)}"
                return f"it changes {what} for the whole process{drawn or '; leave that as it is'}"
        return ""

    def restore(self) -> None:
        """Set every state that is another one now as it was."""
        for name, (read, write) in STATES.items():
            if _differs(self.values[name], _value(read)):
                write(self.values[name])


def _first(before: Any, after: Any) -> str:
    """Name the first entry of a mapping that is another, such as a variable; empty without one."""
    if isinstance(after, set):
        return f" ({min(name for _, name in after - before)})"
    if not isinstance(before, dict) or not isinstance(after, dict):
        return ""
    names = (name for name in {**before, **after} if before.get(name) != after.get(name))
    return f" ({next(names)})"


def _differs(before: Any, after: Any) -> bool:
    """Whether a state changed: of a set, whether it grew, as what others began may end."""
    return bool(after - before) if isinstance(after, set) else after != before


def _value(read: Callable[[], Any]) -> Any:
    """The value of a state, or why torch doesn't tell it, as where two settings disagree."""
    try:
        return read()
    except RuntimeError as error:
        return str(error)
