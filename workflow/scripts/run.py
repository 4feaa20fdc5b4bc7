"""Become Snakemake, after a look at the configuration: its mistakes have a file and a line then.

Of a file of changes that is missing or no YAML, Snakemake would say neither.
"""

import os
import sys

from workflow.failure import one_sentence
from workflow.paths import ROOT
from workflow.planning.configured import configured
from workflow.scripts import command


def main() -> None:
    """Run from the command line, in the root of the project."""
    parser = command.planner((__doc__ or "").partition("\n")[0], "scale", "results")
    parser.add_argument("targets", nargs="*", help="what to ask Snakemake for; else everything")
    parser.add_argument("--profile", help="of Snakemake; without one all cores of this machine")
    given = parser.parse_args()
    settings = command.settings(given)
    with one_sentence():
        configured(ROOT, given.configfile, **settings)
    where = ["--profile", given.profile] if given.profile else ["--cores", "all"]
    asked = command.asked(given.targets, settings, given.configfile)
    os.execv(sys.executable, [sys.executable, "-m", "snakemake", *where, *asked])


if __name__ == "__main__":
    main()
