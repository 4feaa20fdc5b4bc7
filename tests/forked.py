"""Programs as forks of one process that has imported what most of them need."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from workflow.runtime.fork_server import IMPORTED, PLACE, THREADS

ROOT = Path(__file__).resolve().parents[1]
PRELOADED = (*IMPORTED, "snakemake.cli", "pytest", "hypothesis")
START = f"""import sys
sys.path[0] = {str(ROOT)!r}
from workflow.runtime.fork_server import be
be(sys.argv[1], sys.argv[2:])"""
"""Runs a program as `python -m` does, but as a fork."""


@dataclass(frozen=True)
class Forked:
    """Runs programs; `place` is where to ask for a fork, empty where nothing forks."""

    place: str

    def __call__(
        self, program: str, *arguments: str, folder: Path
    ) -> subprocess.CompletedProcess[str]:
        """Run `python -m program` in a folder, on one thread, with stderr in its stdout."""
        start = ["-c", START] if self.place else ["-m"]
        return subprocess.run(
            [sys.executable, *start, program, *arguments],
            cwd=folder,
            env={**os.environ, **dict.fromkeys(THREADS, "1"), PLACE: self.place},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=240,
            check=False,
        )
