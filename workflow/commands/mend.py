"""Set aside what is damaged among the results, and make the outputs again.

Data and runs in the store are made again when a run needs them.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from workflow.commands import verify
from workflow.definitions.configuration import CommandSettings
from workflow.definitions.loader import read_yaml
from workflow.planning.limited import ScaleParts
from workflow.runtime.failure import made_with
from workflow.runtime.integrity import quarantine
from workflow.terminal import arguments

add_arguments = verify.add_arguments


def main(args: argparse.Namespace) -> None:
    """Mend the results; exit as Snakemake does."""
    damaged, early = verify.compared(args)
    for path in early:
        os.utime(path)
    paths = [error.path for error in damaged if not error.path.is_relative_to(args.published)]
    sys.exit(mend(paths, arguments.results_of(args), args.configfile))


def mend(damaged: Sequence[Path], results: Path, changes: Sequence[Path]) -> int:
    """Set aside what is damaged, and have Snakemake make the outputs anew; its exit status."""
    overlaid = any("overlay" in read_yaml(path) for path in changes)
    scales: dict[str, list[str]] = {}
    for path in damaged:
        gone = made_with(path, results)
        print(f"set aside: {quarantine(gone)}")
        scale = path.relative_to(results).parts[0]
        if scale not in ("store", "data") and "so_far" not in path.parts:
            scales.setdefault(scale, []).append(str(gone))
    status = 0
    for scale, targets in scales.items():
        parts = ScaleParts.of(scale)
        settings: CommandSettings = {"results": str(results), "scale": parts.base}
        if parts.limit:
            settings["limit"] = int(parts.limit)
        files = changes if bool(parts.overlay) == overlaid else ()
        status |= arguments.make_quietly(targets, settings, files)
    return status
