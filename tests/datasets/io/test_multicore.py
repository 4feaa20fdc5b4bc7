"""Streams that all cores work on: in order, and never far ahead."""

import os
from collections.abc import Iterator

import pytest

from workflow.datasets.io import multicore
from workflow.datasets.io.multicore import chunks, in_order


def test_chunks_have_all_items_in_order():
    assert list(chunks(range(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(chunks([], 3)) == []


@pytest.mark.parametrize("cores", [1, 2])
def test_results_come_in_order_and_few_chunks_are_read_ahead(monkeypatch, cores):
    monkeypatch.setattr(multicore, "cores", lambda: cores)
    taken = []

    def stream() -> Iterator[list[int]]:
        for number in range(40):
            taken.append(number)
            yield [0] * number

    results = in_order(len, stream())
    assert next(results) == 0
    assert len(taken) <= multicore.FEW + 1 + multicore.AHEAD * cores
    assert list(results) == list(range(1, 40))


def test_an_error_in_a_worker_ends_the_stream(monkeypatch):
    monkeypatch.setattr(multicore, "cores", lambda: 2)
    with pytest.raises(ValueError, match="invalid literal"):
        list(in_order(int, ["1", "2", "3", "4", "five", "6"]))


@pytest.mark.parametrize(("wanted", "given"), [(0, 1), (1, 1), (3, 3), (99, multicore.MOST)])
def test_the_number_of_cores_is_what_was_asked_for_within_limits(monkeypatch, wanted, given):
    monkeypatch.setattr(multicore, "_cores", 1)
    assert multicore.cores() == 1
    multicore.use(wanted)
    assert multicore.cores() == given


@pytest.mark.parametrize("cores", [1, 3])
def test_no_more_processes_are_started(monkeypatch, cores):
    monkeypatch.setattr(multicore, "_cores", cores)
    processes = {*in_order(process, range(40))}
    assert len(processes) <= cores
    assert (os.getpid() in processes) == (cores == 1)


def process(chunk: int) -> int:
    """The process that works on a chunk."""
    return os.getpid()
