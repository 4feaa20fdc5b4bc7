"""Gather every file that a scale downloads in a folder, the mirror.

Of what is selected, where the configuration selects less than everything.
"""

import argparse
import sys
from pathlib import Path

from workflow.datasets.fetched.fetching import fetch
from workflow.datasets.fetched.mirroring import build
from workflow.datasets.fetched.origins import Origin
from workflow.datasets.fetched.sources import SOURCES, Source, load
from workflow.datasets.kinds import recipe
from workflow.planning.plan import Plan
from workflow.planning.targets import Targets
from workflow.runtime.errors import UserError
from workflow.terminal import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.share(parser, "--scale", "--results", "--mirror", "--configfile")
    parser.add_argument("--to", default="", help="the folder, made if it is not there")


def main(args: argparse.Namespace) -> None:
    """Fetch what the folder lacks."""
    if not args.to:
        raise UserError("no folder for the mirror; name one: make mirror TO=<folder>")
    plan = arguments.plan_of(args)
    sources = needed(plan)
    mirror = Path(plan.mirror) if plan.mirror else None
    by_hand = Path(plan.results) / "data" / "manual"

    def get(source: Source, out: Path) -> Origin:
        return fetch(source, mirror, by_hand, out)

    folder = Path(args.to).expanduser()
    failures = build(folder, sources, get)
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    had = len(sources) - len(failures)
    print(f"{folder} has {had} of the {len(sources)} files that scale {plan.scale} downloads")
    sys.exit(1 if failures else 0)


def needed(plan: Plan) -> list[Source]:
    """Return the files that everything selected is made of, each once."""
    listed, found = load(), {}
    for made in Targets(plan).recipes:
        for file in recipe.files(made)["sources"]:
            key = (made["dataset"], file)
            if key not in listed:
                raise UserError(f"{SOURCES}: {'/'.join(key)} is not listed; add a line for it")
            found[key] = listed[key]
    return [found[key] for key in sorted(found)]
