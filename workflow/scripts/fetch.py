"""Fetch one source file from the mirror or its address, verify it and record its origin."""

import argparse
from pathlib import Path

from workflow.datasets.fetched import origins
from workflow.datasets.fetched.fetching import fetch
from workflow.datasets.fetched.sources import SOURCES, load
from workflow.runtime.errors import DataError
from workflow.runtime.failure import exit_on_user_error


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--file", required=True, help="name of the file in workflow/sources.tsv")
    parser.add_argument("--mirror", default="", help="folder with an index SOURCES.tsv, if any")
    parser.add_argument("--manual", type=Path, required=True, help="folder of files got by hand")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    given = parser.parse_args()
    with exit_on_user_error():
        source = load().get((given.dataset, given.file))
        if source is None:
            raise DataError(
                f"{SOURCES}: {given.dataset}/{given.file} is not listed; add a line for it."
            )
        mirror = Path(given.mirror).expanduser() if given.mirror else None
        origins.record(given.out).unlink(missing_ok=True)
        origin = fetch(source, mirror, given.manual, given.out)
        origins.write(given.out, origin)


if __name__ == "__main__":
    main()
