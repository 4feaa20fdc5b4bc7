"""Show what is done so far of a scale: a report of the runs that were measured, no run trained."""

import sys

from workflow import ROOT
from workflow.errors import ReportingError
from workflow.failure import one_sentence
from workflow.planning.configured import configured
from workflow.reporting.publication.current import planned
from workflow.reporting.publication.so_far import write_so_far
from workflow.terminal import command


def main() -> None:
    """Run from the command line, in the root of the project."""
    parser = command.planner(__doc__, "scale", "results")
    parser.add_argument(
        "--published", action="store_true", help="take what is published where nothing was measured"
    )
    given = parser.parse_args()
    with one_sentence():
        plan = configured(ROOT, given.configfile, **command.settings(given))
        if given.scale and given.scale not in (plan.scale, plan.config["scale"]):
            raise ReportingError(
                f"--scale {given.scale}: this is {plan.scale}; name an overlay's file with "
                "--configfile (make so-far OVERLAY=file)."
            )
        made = write_so_far(plan, planned(plan), say, given.published)
    for reason in made.left_out:
        say(f"left out: {reason}")
    own = f"{made.runs} of {made.planned} planned runs"
    said = f"{own}, beside {made.published} published runs" if given.published else own
    print(f"{said}; the cells of the others are 'not run'")
    print(f"Report so far:  {made.page}")


def say(line: str) -> None:
    """Say a line on stderr at once."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
