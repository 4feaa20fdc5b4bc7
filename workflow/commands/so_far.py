"""Make a report of the runs of a scale that were measured so far, training nothing."""

import argparse
import sys

from workflow.reporting.publication.current import planned
from workflow.reporting.publication.so_far import write_so_far
from workflow.runtime.errors import ReportingError
from workflow.terminal import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.share(parser, "--scale", "--limit", "--results", "--configfile")
    parser.add_argument(
        "--published", action="store_true", help="take what is published where nothing was measured"
    )


def main(args: argparse.Namespace) -> None:
    """Write the report, and say what is in it."""
    plan = arguments.plan_of(args)
    if args.scale and args.scale not in (plan.scale, plan.config["scale"]):
        raise ReportingError(
            f"--scale {args.scale}: this is {plan.scale}; name an overlay's file with "
            "--configfile (make so-far OVERLAY=file)."
        )
    report = write_so_far(plan, planned(plan), say, args.published)
    for reason in report.left_out:
        say(f"left out: {reason}")
    own = f"{report.runs} of {report.planned} planned runs"
    runs = f"{own}, beside {report.published} published runs" if args.published else own
    print(f"{runs}; the cells of the others are 'not run'")
    print(f"Report so far:  {report.page}")


def say(line: str) -> None:
    """Say a line on stderr at once."""
    print(line, file=sys.stderr, flush=True)
