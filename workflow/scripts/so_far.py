"""Show what is done so far of a scale: a report of the runs that were measured, no run trained."""

import argparse
import sys
from pathlib import Path

from workflow.errors import ReportingError
from workflow.paths import ROOT
from workflow.planning.configured import configured
from workflow.reporting.publication.current import planned
from workflow.reporting.publication.so_far import write_so_far
from workflow.scripts.failure import one_sentence

SETTINGS = ("scale", "results")


def main() -> None:
    """Run from the command line, in the root of the project."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", help="results folder, else as configured")
    parser.add_argument("--scale", help="the scale, or <scale>+<overlay>; else as configured")
    parser.add_argument("--configfile", type=Path, nargs="*", default=[], help="your own changes")
    given = parser.parse_args()
    settings = {name: value for name in SETTINGS if (value := getattr(given, name))}
    with one_sentence():
        plan = configured(ROOT, given.configfile, **settings)
        if given.scale and given.scale not in (plan.scale, plan.config["scale"]):
            raise ReportingError(
                f"--scale {given.scale}: this is {plan.scale}; name an overlay's file with "
                "--configfile (make so-far OVERLAY=file)."
            )
        made = write_so_far(plan, planned(plan), say)
    for reason in made.left_out:
        say(f"left out: {reason}")
    print(f"{made.runs} of {made.planned} planned runs; the cells of the others are 'not run'")
    print(f"Report so far:  {made.page}")


def say(line: str) -> None:
    """Say a line on stderr at once."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
