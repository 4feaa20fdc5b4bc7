"""Write the report of one scale: a single page that needs no network."""

import argparse
from pathlib import Path

from workflow.reporting.page.guides import guides
from workflow.reporting.page.page import render, write_page
from workflow.reporting.page.runs import recorded
from workflow.reporting.publication.headline import headline
from workflow.runtime.failure import exit_on_user_error
from workflow.terminal import job_arguments

SHOWN = {
    "runs": "the run.json of each run, beside its history",
    "tables": "the CSV file of each table",
    "figures": "the SVG file of each figure",
    "claims": "the JSON file of each paper's claims",
}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", required=True, help="name of the scale")
    for name, what in SHOWN.items():
        parser.add_argument(f"--{name}", type=Path, nargs="*", default=[], help=what)
    parser.add_argument("--plan", type=Path, help="what was planned, where anything was")
    parser.add_argument("--mechanisms", nargs="*", default=[], help="names of a user's own")
    parser.add_argument(
        "--own", type=job_arguments.mappings(), default={}, help="tables of a user's own, as JSON"
    )
    parser.add_argument("--explorer", nargs="*", default=[], help="address of the explorer")
    parser.add_argument("--out", type=Path, required=True, help="HTML file to write")
    args = parser.parse_args()
    with exit_on_user_error():
        files = {name: getattr(args, name) for name in SHOWN}
        first = headline(args.scale, files["tables"], files["claims"])
        runs = recorded(files.pop("runs"))
        page = render(
            args.scale,
            runs,
            **files,
            mechanisms=args.mechanisms,
            own=args.own,
            plan=args.plan,
            headline=first,
            links=[("Explorer", address) for address in args.explorer],
            guides=guides(args.out),
        )
        write_page(args.out, page)


if __name__ == "__main__":
    main()
