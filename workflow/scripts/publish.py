"""Publish a scale's results in docs/reproduction and the README, or check the README's summary."""

import argparse
import sys
from pathlib import Path

from workflow.reporting.command import one_sentence
from workflow.reporting.files import ReportingError, write_text
from workflow.reporting.publishing import publish, refuse_dirty
from workflow.reporting.summary import block, replaced

README = Path("README.md")


def main() -> None:
    """Run from the command line, in the root of the project."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("results"), help="results folder")
    parser.add_argument("--scale", help="the scale to publish")
    parser.add_argument("--to", type=Path, default=Path("docs/reproduction"), help="where to")
    parser.add_argument(
        *("--check",), action="store_true", help="only say whether the README's summary is stale"
    )
    given = parser.parse_args()
    with one_sentence():
        if given.check:
            if summarised(given.to) != README.read_text(encoding="utf-8"):
                raise ReportingError(
                    f"README.md: its results are not those of {given.to}; run `make publish`, or "
                    "take the block between the markers from the last commit."
                )
            return
        if not given.scale:
            raise ReportingError("--scale is missing; say which scale to publish.")
        refuse_dirty(Path.cwd())
        summarised(given.to)
        stale = publish(given.results, given.scale, given.to)
        write_text(README, summarised(given.to))
    print(f"published {given.to / given.scale}; review it and commit")
    for key in stale:
        print(f"stale: {key}", file=sys.stderr)


def summarised(published: Path) -> str:
    """Return the README with its summary made anew from what is published."""
    if not README.is_file():
        raise ReportingError("README.md is not here; run this in the root of the project.")
    return replaced(README.read_text(encoding="utf-8"), block(published))


if __name__ == "__main__":
    main()
