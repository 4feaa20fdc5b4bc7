"""Write the explorer of one scale: a page that needs no network, whose models compute in it."""

import argparse
from pathlib import Path

from workflow.definitions.paper import Paper
from workflow.reporting.explorer.data import page_data, recorded_of, recordings, tasks_of
from workflow.reporting.explorer.page import render
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
    given = parser.parse_args()
    with exit_on_user_error():
        papers = list(Paper.all())
        recorded = recordings(
            recorded_of(papers), (read_measure(path, {}) for path in given.measures)
        )
        runs = [ExplorerRun.of(path) for path in given.runs]
        data = page_data(given.scale, tasks_of(papers), runs, given.data, recorded)
        write_page(given.out, render(data))


if __name__ == "__main__":
    main()
