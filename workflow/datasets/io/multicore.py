"""Work on the chunks of a long stream with several cores, the results in the order of the chunks.

A program says once with how many (`use`); without it, and in worker processes, there is one.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing import get_context
from typing import TypeVar

ItemT = TypeVar("ItemT")
ChunkT = TypeVar("ChunkT")
ResultT = TypeVar("ResultT")
FEW = 3
"""So many chunks are not worth the processes."""
MOST = 4
"""Cores at most, since each process has memory of its own, and a cluster's front end is shared."""
AHEAD = 2
"""Chunks per core that are read ahead of the result that comes next."""


_cores = 1


def use(cores: int) -> None:
    """Work with so many cores from here on, at least 1 and at most `MOST`."""
    global _cores
    _cores = max(1, min(cores, MOST))


def cores() -> int:
    """Return how many cores to work with."""
    return _cores


def chunks(items: Iterable[ItemT], size: int) -> Iterator[list[ItemT]]:
    """Yield the items in lists of `size`, the last one of the rest."""
    coming = iter(items)
    return iter(lambda: list(islice(coming, size)), [])


def in_order(work: Callable[[ChunkT], ResultT], stream: Iterable[ChunkT]) -> Iterator[ResultT]:
    """Yield `work(chunk)` for every chunk of a stream, in its order, whatever the number of cores.

    Only a few chunks are in memory at a time. Where there are few, or one core, this process works
    on them; otherwise `work` must be a function that can be pickled.
    """
    coming = iter(stream)
    first = list(islice(coming, FEW + 1))
    if len(first) <= FEW or cores() == 1:
        yield from map(work, chain(first, coming))
        return
    with ProcessPoolExecutor(cores(), get_context("spawn")) as pool:
        pending: deque[Future[ResultT]] = deque()
        for chunk in chain(first, coming):
            pending.append(pool.submit(work, chunk))
            if len(pending) > AHEAD * cores():
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
