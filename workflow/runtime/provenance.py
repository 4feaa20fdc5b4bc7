"""Where a number comes from: code, libraries, machine and scheduler of a run."""

from __future__ import annotations

import json
import os
import platform
import resource
import socket
import subprocess
from pathlib import Path

import torch


def environment(device: torch.device) -> dict[str, str | int | None]:
    """Versions and hardware, as `run.json` holds them."""
    cuda = device.type == "cuda"
    return {
        "torch": torch.__version__,
        "cuda": torch.version.cuda if cuda else None,
        "python": platform.python_version(),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "device": torch.cuda.get_device_name(device) if cuda else "cpu",
        "host": socket.gethostname(),
        "job_id": os.environ.get("SLURM_JOB_ID"),
    }


COMMIT = "SACCADE_COMMIT"
"""The variable that tells, as JSON, what `commit` would say where the code was packed."""


def commit(root: Path) -> dict[str, str | bool | None]:
    """The commit that is checked out, and whether files but docs differ; None without git."""
    if COMMIT in os.environ:
        packed: dict[str, str | bool | None] = json.loads(os.environ[COMMIT])
        return packed
    status = _git(root, "status", "--porcelain", "--", ".", ":(exclude)docs")
    return {
        "commit": _git(root, "rev-parse", "HEAD"),
        "dirty": status != "" if status is not None else None,
    }


def peak_memory_mb(device: torch.device) -> dict[str, float]:
    """Peak memory of this process, and of the device's tensors, in MB."""
    peak = {"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    if device.type == "cuda":
        peak["device_memory"] = torch.cuda.max_memory_allocated(device) / 2**20
    return {f"peak_{name}_mb": round(value, 1) for name, value in peak.items()}


def cpu_name() -> str:
    """The processor's name, as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
