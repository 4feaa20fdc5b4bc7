"""Become Snakemake, after a look at the configuration: its mistakes have a file and a line then.

Of a file of changes that is missing or no YAML, Snakemake would say neither.
"""

import argparse
import os
import sys
from pathlib import Path

from workflow.paths import ROOT
from workflow.planning.configured import configured
from workflow.scripts import command
from workflow.scripts.failure import one_sentence

SETTINGS = ("scale", "results")


def main() -> None:
    """Run from the command line, in the root of the project."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="*", help="what to ask Snakemake for; else everything")
    parser.add_argument("--scale", help="else as configured")
    parser.add_argument("--results", help="folder of results, else as configured")
    parser.add_argument("--configfile", type=Path, nargs="*", default=[], help="your own changes")
    parser.add_argument("--profile", help="of Snakemake; without one all cores of this machine")
    given = parser.parse_args()
    settings = {name: value for name in SETTINGS if (value := getattr(given, name))}
    with one_sentence():
        configured(ROOT, given.configfile, **settings)
    where = ["--profile", given.profile] if given.profile else ["--cores", "all"]
    asked = command.asked(given.targets, settings, given.configfile)
    os.execv(sys.executable, [sys.executable, "-m", "snakemake", *where, *asked])


if __name__ == "__main__":
    main()
