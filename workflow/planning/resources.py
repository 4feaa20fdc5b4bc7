"""What the jobs of a run ask a cluster for. It is no part of the run: changing it trains nothing.

Only the standard library is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DEFAULTS: Mapping[str, Any] = {"gpu": 1, "memory": "4GB", "runtime": "12h", "where": "cluster"}
MEGABYTES = {"MB": 1, "GB": 1000}
MINUTES = {"m": 1, "h": 60, "d": 24 * 60}


@dataclass(frozen=True)
class Resources:
    """What a job that trains or measures a run asks for; the same at each attempt."""

    gpu: int
    """number of GPUs"""
    memory: int
    """in MB"""
    runtime: int
    """in minutes"""
    where: str
    """`cluster`, or `local` for the machine that runs Snakemake"""

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Resources":
        """Read the `resources` of a run's settings; what they leave out has a default."""
        stated = {**DEFAULTS, **settings["resources"]}
        memory, runtime = stated["memory"], stated["runtime"]
        return cls(
            gpu=stated["gpu"],
            memory=int(memory[:-2]) * MEGABYTES[memory[-2:]],
            runtime=int(runtime[:-1]) * MINUTES[runtime[-1:]],
            where=stated["where"],
        )
