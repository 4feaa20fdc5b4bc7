"""What a job that trains or measures a run asks for."""

from dataclasses import dataclass

MEGABYTES = {"MB": 1, "GB": 1000}
MINUTES = {"m": 1, "h": 60, "d": 24 * 60}


@dataclass(frozen=True)
class Resources:
    """What a job that trains or measures a run asks for; the same at each attempt.

    No part of the run: changing it trains nothing.
    """

    gpu: int
    """number of GPUs"""
    memory: int
    """in MB"""
    runtime: int
    """in minutes"""
    where: str
    """`cluster`, or `local` for the machine that runs Snakemake"""

    @classmethod
    def of(
        cls, gpu: int = 1, memory: str = "4GB", runtime: str = "12h", where: str = "cluster"
    ) -> "Resources":
        """Read the `resources` of an experiment, and the defaults of what they leave out."""
        return cls(
            gpu=gpu,
            memory=int(memory[:-2]) * MEGABYTES[memory[-2:]],
            runtime=int(runtime[:-1]) * MINUTES[runtime[-1:]],
            where=where,
        )
