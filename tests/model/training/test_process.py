"""What a training process keeps: freed memory."""

import ctypes

from model.training.process import keep_freed_memory


def test_glibc_is_told_to_keep_freed_memory(monkeypatch):
    told = {}

    class Library:
        def mallopt(self, option: int, value: int) -> None:
            told[option] = value

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    keep_freed_memory()
    # M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD of malloc.h; mallopt takes a C int.
    assert sorted(told) == [-3, -2, -1]
    assert all(2**20 <= value < 2**31 for value in told.values())


def test_without_glibc_nothing_happens(monkeypatch):
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    keep_freed_memory()
