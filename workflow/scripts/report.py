"""Write the report of one scale: a single page that needs no network."""

import argparse
from pathlib import Path

from workflow.reporting.command import one_sentence
from workflow.reporting.files import write_text
from workflow.reporting.page import render


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True, help="folder of the scale's results")
    parser.add_argument("--scale", required=True, help="name of the scale")
    parser.add_argument("--out", type=Path, required=True, help="HTML file to write")
    given = parser.parse_args()
    with one_sentence():
        write_text(given.out, render(given.results, given.scale))


if __name__ == "__main__":
    main()
