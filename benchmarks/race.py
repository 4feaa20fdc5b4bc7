"""Contenders that take turns, each in a process of its own, and what came of it.

A round is the same work for every contender, one after the other, in an order that moves on. CPU
time is what is compared: other programs on the machine disturb it less than wall time, which is
kept beside it. A ratio is the median over the rounds.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

Job = Mapping[str, Any]
Turn = dict[str, Any]
Work = Callable[[int], Turn]


def race(
    start: Callable[[Job], Work], contenders: Mapping[str, Job], rounds: int
) -> dict[str, list[Turn]]:
    """Let contenders take turns.

    Args:
        start: prepares a contender in its process; what it returns is given the number of a round
            and returns what came out. Round -1, which warms up, is not counted.
        contenders: by name.
        rounds: how many, one at least.

    Returns:
        For each contender what came out of every round from -1 on, with `cpu` and `wall` seconds.
    """
    context = multiprocessing.get_context("spawn")
    pipes: dict[str, Connection] = {}
    processes = []
    for name, job in contenders.items():
        pipes[name], far = context.Pipe()
        processes.append(context.Process(target=_serve, args=(far, start, job), daemon=True))
        processes[-1].start()
    names = list(pipes)
    results: dict[str, list[Turn]] = {name: [] for name in names}
    for turn in range(-1, rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            pipes[name].send(turn)
            results[name].append(pipes[name].recv())
    for pipe, process in zip(pipes.values(), processes, strict=True):
        pipe.send(None)
        process.join()
    return results


def _serve(pipe: Connection, start: Callable[[Job], Work], job: Job) -> None:
    """Do one contender's rounds as they are asked for."""
    work = start(job)
    while (turn := pipe.recv()) is not None:
        wall, cpu = time.perf_counter(), time.process_time()
        result = work(turn)
        took = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
        pipe.send(result | took)


def summary(results: Mapping[str, list[Turn]]) -> dict[str, dict[str, Any]]:
    """Tokens per second of every contender, and its time per token relative to the first one's.

    Args:
        results: from `race`; every round has its `tokens`.
    """
    first = next(iter(results.values()))[1:]
    rows: dict[str, dict[str, Any]] = {}
    for name, (_, *turns) in results.items():
        row: dict[str, Any] = {}
        for clock in ("cpu", "wall"):
            rates = [turn["tokens"] / turn[clock] for turn in turns]
            firsts = [turn["tokens"] / turn[clock] for turn in first]
            ratios = [its / own for own, its in zip(rates, firsts, strict=True)]
            row[f"tokens_per_{clock}_second"] = round(statistics.median(rates), 1)
            row[f"relative_{clock}_time"] = round(statistics.median(ratios), 4)
            row[f"relative_{clock}_time_of_rounds"] = [round(ratio, 4) for ratio in ratios]
        rows[name] = row
    return rows


def machine() -> dict[str, Any]:
    """What the numbers were measured on, and how busy it was."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    told = dict(line.split("\t", 1) for line in lines if "\t" in line)
    told = {name: value.lstrip("\t: ") for name, value in told.items()}
    return {
        "cpu": told.get("model name", platform.processor()),
        "family": told.get("cpu family", ""),
        "model": told.get("model", ""),
        "cores": os.cpu_count(),
        "threads": 1,
        "load": round(os.getloadavg()[0], 2),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
