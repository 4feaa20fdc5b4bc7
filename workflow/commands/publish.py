"""Publish a scale's results in docs/reproduction and the pages that sum them up."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from workflow import ROOT
from workflow.definitions.paper import Paper
from workflow.files import write_text
from workflow.planning.configured import configured
from workflow.planning.equivalents import FILE
from workflow.planning.limited import ScaleParts
from workflow.planning.plan import Plan
from workflow.reporting.publication.crate import NAME, crate_text, dated
from workflow.reporting.publication.current import planned
from workflow.reporting.publication.publishing import publish, refuse_dirty, stale_now
from workflow.reporting.publication.results import measures_of, planned_runs, published
from workflow.reporting.publication.summary import summarised
from workflow.reporting.statistics.comparability import base_scale
from workflow.runtime.errors import ReportingError
from workflow.terminal import arguments

MEND = (
    "Where code was meant to compute what it did, make equivalent SINCE=<the commit before> proves "
    "it, and the runs count again: docs/identity.md"
)
"""Said below runs that are stale because of code."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.share(parser, "--scale", "--limit", "--results", "--configfile")
    parser.add_argument("--to", type=Path, default=Path("docs/reproduction"), help="where to")
    parser.add_argument(
        "--check",
        action="store_true",
        help="only say which published runs are stale, and fail if a page or a crate is",
    )


def main(args: argparse.Namespace) -> None:
    """Publish, or check what is published."""
    results = arguments.results_of(args)
    if args.check:
        check(results, args.to)
        return
    if not args.scale:
        raise ReportingError(
            "--scale is missing; name what to publish (make publish SCALE=<scale>)."
        )
    plan = plan_of(results, args.scale, args.configfile, args.limit)
    refuse_dirty(Path.cwd())
    summarised(args.to)  # where there is no place for a summary, nothing is made
    stale = publish(plan, args.to, planned(plan))
    for page, text in summarised(args.to).items():
        write_text(page, text)
    measured = any(measures_of(plan, key).is_file() for key in planned_runs(plan))
    made = "published" if measured else f"no run of {plan.folder} was measured: made anew"
    print(f"{made} {args.to / args.scale}; review it and commit")
    say_stale(args.scale, stale)


def check(results: Path, to: Path) -> None:
    """Say which published runs would be stale today; ReportingError if a page or a crate is.

    Stale runs are no error: old results stay published until somebody has run the new ones.
    """
    for index in sorted(to.glob("*/index.json")):
        scale = index.parent.name
        check_crate(index.parent)
        if base_scale(scale) == scale:
            plan = plan_of(results, scale)
            stale = stale_now(plan, to, planned(plan))
            say_stale(scale, stale)
            if any("code" in reason for reason in stale.values()):
                print(MEND, file=sys.stderr)
    for page, text in summarised(to).items():
        if page.read_text(encoding="utf-8") != text:
            raise ReportingError(
                f"{page}: its results are not those of {to}, or its papers not those of "
                "workflow/papers; run `make publish`, or take what is between the markers from the "
                "last commit."
            )


def check_crate(folder: Path) -> None:
    """Raise ReportingError unless a scale's crate is what would be made of its files today."""
    crate = folder / NAME
    made = crate.is_file() and crate_text(folder, published(folder), Paper.all(), dated(crate))
    if not made or made != crate.read_text(encoding="utf-8"):
        raise ReportingError(
            f"{crate} is not of what is published, of workflow/sources.tsv, papers' tables or "
            f"{FILE}; run `make publish SCALE={folder.name}`."
        )


def plan_of(
    results: Path, scale: str, changes: Iterable[Path] = (), limit: int | None = None
) -> Plan:
    """Return the plan of a scale: every experiment, with the scale's own seeds.

    `changes` are the user's own configuration files, one of them with the overlay of a scale
    `<scale>+<name>`.
    """
    plan = configured(
        ROOT, changes, scale=scale, results=str(results), experiments="all", seeds=None, mirror=None
    )
    if plan.limit or limit or ScaleParts.of(scale).limit:
        raise ReportingError(
            "results on some examples of each split only try the workflow and are not published; "
            "leave out LIMIT= (limit), and run the scale in whole."
        )
    if plan.own_files or plan.own_tables:
        raise ReportingError(
            "own data and own experiments are not published; leave out the file that names them "
            "(OVERLAY=)."
        )
    if plan.scale != scale:
        raise ReportingError(
            f"--scale {scale}: this is {plan.scale}; name an overlay's file with --configfile "
            "(make publish OVERLAY=file)."
        )
    return plan


def say_stale(scale: str, stale: dict[str, str]) -> None:
    """Say on stderr which runs of a scale are stale, and why."""
    for key, reason in sorted(stale.items()):
        print(f"stale: {scale}: {key}: {reason}", file=sys.stderr)
