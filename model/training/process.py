"""The memory that a training process keeps."""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3


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
