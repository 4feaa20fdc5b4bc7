"""Fetch one source file from the mirror or its address and verify its checksum."""

import argparse
from pathlib import Path

from workflow.datasets.errors import DataError, one_sentence
from workflow.datasets.fetching import fetch
from workflow.datasets.sources import SOURCES, load


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--file", required=True, help="name of the file in workflow/sources.tsv")
    parser.add_argument("--mirror", default="", help="folder with an index SOURCES.tsv, if any")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    arguments = parser.parse_args()
    with one_sentence():
        source = load().get((arguments.dataset, arguments.file))
        if source is None:
            raise DataError(
                f"{SOURCES}: {arguments.dataset}/{arguments.file} is not listed; add a line for it."
            )
        mirror = Path(arguments.mirror).expanduser() if arguments.mirror else None
        fetch(source, mirror, arguments.out)


if __name__ == "__main__":
    main()
