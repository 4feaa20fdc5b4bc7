"""Write the explorer of one scale: a page that needs no network, whose models compute in it."""

import argparse
from pathlib import Path

from workflow.reporting.explorer.page import beside, explorer_page
from workflow.reporting.explorer.shown import ExplorerRun
from workflow.reporting.measures import read_measure
from workflow.reporting.page.page import write_page
from workflow.runtime.failure import exit_on_user_error


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", required=True, help="name of the scale")
    parser.add_argument("--runs", type=Path, nargs="*", default=[], help="run.json of each run")
    parser.add_argument("--measures", type=Path, nargs="*", default=[], help="with recordings")
    parser.add_argument("--data", type=Path, required=True, help="folder of all encoded data")
    parser.add_argument("--out", type=Path, required=True, help="HTML file to write")
    args = parser.parse_args()
    with exit_on_user_error():
        measures = (read_measure(path, {}) for path in args.measures)
        runs = [ExplorerRun.of(path) for path in args.runs]
        links = beside(args.out)
        page = explorer_page(args.scale, runs, args.data, measures, links)
        write_page(args.out, page)


if __name__ == "__main__":
    main()
