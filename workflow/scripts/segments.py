"""Where, when and by which code processes worked on a run, as the store keeps it."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

from workflow import ROOT
from workflow.datasets.io.dataset_files import parse_json
from workflow.runtime.atomic import write_atomically
from workflow.runtime.store import Entry, now
from workflow.scripts.job import say


class RunSegment(TypedDict):
    """Where, when and by which code a process worked on a run."""

    started: str
    update: int
    """the first that it made"""
    time: float
    """when it started, in seconds since 1970"""
    host: str
    job_id: str | None
    commit: str | None
    dirty: bool | None
    code: NotRequired[str]
    """left out of a finished run's where it is the last one's"""
    cpu: str
    device: str
    torch: str
    exact: bool
    """whether it resumed bit for bit"""


def in_vain(segments: list[RunSegment]) -> int:
    """How many attempts before the newest began where that one begins, by the same code."""
    place = [(segment["update"], segment.get("code")) for segment in segments]
    return sum(1 for _ in takewhile(place[-1].__eq__, reversed(place[:-1])))


def begin_segment(
    entry: Entry, code: str, device: Any, update: int, processes: int
) -> list[RunSegment]:
    """Note where, when and by which code this process works on the run, after those before it."""
    import torch

    from workflow.runtime.provenance import commit, cpu_name

    path = entry.folder / "segments.json"
    place = {"cpu": cpu_name(), "device": device.type, "torch": torch.__version__}
    segments = read_segments(path, ("update", "time", *place))
    same = all(place.items() <= segment.items() for segment in segments)
    same = same and all(segment.get("code", code) == code for segment in segments)
    exact = same and device.type == "cpu" and processes == 1
    began = {
        "started": now(),
        "update": update,
        "time": time.time(),
        "host": socket.gethostname(),
        "job_id": os.environ.get("SLURM_JOB_ID"),
        **commit(ROOT),
        "code": code,
    }
    segments.append(cast(RunSegment, {**began, **place, "exact": exact}))
    write_atomically(path, json.dumps(segments).encode())
    return segments


def read_segments(path: Path, keys: Iterable[str]) -> list[RunSegment]:
    """The segments so far, each with these keys; none where nothing says so any more."""
    segments = parse_json(path.read_bytes()) if path.is_file() else []
    try:
        whole = all({*keys} <= {*segment} for segment in segments)
    except TypeError:
        whole = False
    if whole:
        return list(segments)
    say(f"{path} is damaged: nobody knows any more where and when the run began.")
    return []
