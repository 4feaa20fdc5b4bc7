"""Print tables as LaTeX, from their CSV files: published ones, or your own."""

import argparse
from pathlib import Path
from typing import Any

from workflow.definitions.cells import row_name
from workflow.definitions.paper import Paper
from workflow.reporting.cells import read_table
from workflow.reporting.tables import layout
from workflow.reporting.tables.corpus_tables import definitions_of
from workflow.reporting.tables.latex import latex
from workflow.runtime.errors import ReportingError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tables", nargs="+", type=Path, help="files <paper>/<table>.csv")
    parser.add_argument("--ours", action="store_true", help="leave out rows without our numbers")
    parser.add_argument("--slide", action="store_true", help="as slides of beamer, 16 to 9")


def main(args: argparse.Namespace) -> None:
    """Print the tables."""
    print("\n\n".join(latex_of(path, args.slide, args.ours) for path in args.tables))


def latex_of(path: Path, slide: bool = False, ours: bool = False) -> str:
    """Return the LaTeX of a table by its CSV; `ours` leaves out rows without a number of ours.

    Raises ReportingError where it has rows that the paper's definitions lack: a user's own.
    """
    table = read_table(path)
    paper, name = Paper(table.about["paper"]), table.about["table"]
    definitions: Any = definitions_of(paper, table)
    rows = definitions["tables"].get(name, {}).get("rows", ())
    if others := sorted({*table.cells["row"]} - {row_name(row) for row in rows}):
        raise ReportingError(
            f"{path}: {others[0] if rows else name} is none of {paper.name}; "
            f"the run that made the table made {path.stem}.tex too."
        )
    shown = layout.grid(definitions, name, table)
    return latex(definitions, name, shown.ours if ours else shown, table, slide)
