"""Build a mirror of every file that what is selected downloads at a scale."""

import sys
from pathlib import Path

from workflow import ROOT
from workflow.datasets.fetched.fetching import fetch
from workflow.datasets.fetched.mirroring import build
from workflow.datasets.fetched.origins import Origin
from workflow.datasets.fetched.sources import SOURCES, Source, load
from workflow.datasets.kinds import recipe
from workflow.errors import Mistake
from workflow.failure import one_sentence
from workflow.planning.configured import configured
from workflow.planning.plan import Plan
from workflow.planning.targets import Targets
from workflow.terminal import command


def main() -> None:
    """Run from the command line, in the root of the project."""
    parser = command.planner(__doc__, "scale", "results", "mirror")
    parser.add_argument("--to", required=True, help="folder of the mirror, made if it is not there")
    given = parser.parse_args()
    with one_sentence():
        if not given.to:
            raise Mistake("no folder for the mirror; name one: make mirror TO=<folder>")
        plan = configured(ROOT, given.configfile, **command.settings(given))
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
