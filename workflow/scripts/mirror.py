"""Build a mirror of every file that what is selected downloads at a scale."""

import argparse
import sys
from pathlib import Path

from workflow.datasets.fetched.fetching import fetch
from workflow.datasets.fetched.mirroring import build
from workflow.datasets.fetched.origins import Origin
from workflow.datasets.fetched.sources import SOURCES, Source, load
from workflow.datasets.kinds import recipe
from workflow.errors import Mistake
from workflow.paths import ROOT
from workflow.planning.configured import configured
from workflow.planning.plan import Plan
from workflow.planning.targets import Targets
from workflow.scripts.failure import one_sentence

SETTINGS = ("scale", "results", "mirror")


def main() -> None:
    """Run from the command line, in the root of the project."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", required=True, help="folder of the mirror, made if it is not there")
    parser.add_argument("--scale", help="the scale whose data is needed, else as configured")
    parser.add_argument("--results", help="with files got by hand, else as configured")
    parser.add_argument("--mirror", help="mirror to take files from, else as configured")
    given = parser.parse_args()
    settings = {name: value for name in SETTINGS if (value := getattr(given, name))}
    with one_sentence():
        if not given.to:
            raise Mistake("no folder for the mirror; name one: make mirror TO=<folder>")
        plan = configured(ROOT, **settings)
        sources = needed(plan)
        mirror = Path(plan.mirror) if plan.mirror else None
        by_hand = Path(plan.results) / "data" / "manual"

        def get(source: Source, out: Path) -> Origin:
            return fetch(source, mirror, by_hand, out)

        folder = Path(given.to).expanduser()
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
                raise Mistake(f"{SOURCES}: {'/'.join(key)} is not listed; add a line for it")
            found[key] = listed[key]
    return [found[key] for key in sorted(found)]


if __name__ == "__main__":
    main()
