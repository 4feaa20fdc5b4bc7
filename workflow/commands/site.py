"""Make a static site of what is published: guides, results, the report and the explorer."""

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

from workflow import ROOT
from workflow.commands.explore import left_out, published_models
from workflow.commands.publish import plan_of
from workflow.reporting.page.guides import GUIDES
from workflow.reporting.publication.current import planned
from workflow.reporting.publication.site import FIRST, place_of, relative, site_of
from workflow.reporting.publication.so_far import write_so_far
from workflow.runtime.atomic import unwritable, write_atomically
from workflow.runtime.errors import UserError
from workflow.terminal import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.share(parser, "--results", "--mirror")
    parser.add_argument("--to", default="", help="the folder, made if it is not there")
    parser.add_argument("--scale", default="lite", help="whose report and explorer are shown")
    parser.set_defaults(configfile=[])


def main(args: argparse.Namespace) -> None:
    """Make all pages, then write what differs, the first page last."""
    to = Path(args.to).expanduser()
    if reason := (unwritable(to / FIRST) if args.to else "no folder for the site"):
        raise UserError(f"{reason}; name one: make site TO=<folder>")
    at = f"reproduction/{args.scale}"
    bar = {"Home": FIRST, "Results": f"{at}/{FIRST}", "Report": f"{at}/report.html"}
    bar |= {"Explorer": f"{at}/explorer.html", "Tutorial": "tutorial.html"}
    files = site_of(ROOT, bar)
    to_guides = [(name, relative(place_of(it, ROOT), bar["Report"])) for name, it in GUIDES.items()]
    links = [(name, relative(it, bar["Report"])) for name, it in bar.items()]
    plan = arguments.plan_of(args)
    runs, measures, missing = published_models(plan, args)
    from workflow.reporting.explorer.page import explorer_page  # slow, so it comes after errors

    data = Path(plan.results) / "data"
    lacking = [left_out(plan, runs, missing)] if missing else []
    files[bar["Explorer"]] = explorer_page(
        plan.scale, runs, data, measures, links, missing
    ).encode()
    with tempfile.TemporaryDirectory() as empty:  # where nothing was measured
        plan = plan_of(Path(empty), args.scale)
        report = write_so_far(
            plan, planned(plan), partial(print, file=sys.stderr), True, links, to_guides
        )
        files[bar["Report"]] = report.page.read_bytes()
    for place in sorted(files, key=FIRST.__eq__):
        if not (to / place).is_file() or (to / place).read_bytes() != files[place]:
            write_atomically(to / place, files[place])
    print(f"Site: {to / FIRST}, of {len(files)} files", *lacking, sep="\n")
