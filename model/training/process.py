"""A training process: what it does not load, and the memory that it keeps."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

import torch  # noqa: F401 (first and whole: while it loads, torch needs the compiler's place)

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3

NAME = "torch._dynamo"


class _Absent(ModuleType):
    """Stands where the compiler would, and gives way to it at the first real use."""

    @staticmethod
    def graph_break() -> None:
        """Outside of compiled code this does nothing."""

    @staticmethod
    def disable(function: Any = None, *_: Any, **__: Any) -> Any:
        """Outside of compiled code a function is what it is."""
        return function if function is not None else lambda one: one

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(NAME) is self:
            del sys.modules[NAME]
        return getattr(importlib.import_module(NAME), name)


def leave_compiler_out() -> None:
    """Spare a process the import of the compiler, 1.3 s on one CPU core.

    Optimisers import it only to tell it to stay away from their steps. What asks it for anything
    else still gets it.
    """
    if NAME not in sys.modules:
        absent = _Absent(NAME)
        absent.__spec__ = importlib.util.find_spec(NAME)
        sys.modules[NAME] = absent


def keep_freed_memory() -> None:
    """Tell glibc to reuse freed memory; elsewhere this does nothing.

    By default every tensor of some megabytes is mapped and unmapped again, and touching fresh
    pages costs as much as the arithmetic on small models: training of the stack language's model
    ran 1.4 times as fast with this on one CPU core.
    """
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return
    mallopt(_MMAP_THRESHOLD, 2**30)
    mallopt(_TRIM_THRESHOLD, 2**31 - 1)
    mallopt(_TOP_PAD, 2**26)
