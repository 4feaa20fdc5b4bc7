"""Start a training process without loading torch's compiler, which nothing here uses."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

import torch  # noqa: F401 (first and whole: while it loads, torch needs the compiler's place)

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
