"""Write one table of a paper: long form, the paper's layout, and the runs behind every cell."""

from pathlib import Path

from workflow.reporting.measures import Measures
from workflow.reporting.paper import Paper
from workflow.reporting.tabulating import tabulate
from workflow.scripts.command import parser
from workflow.scripts.failure import one_sentence


def main() -> None:
    """Run from the command line."""
    arguments = parser(__doc__)
    arguments.add_argument("--table", required=True, help="name in tables.yaml")
    arguments.add_argument("--base", type=Path, help="for an overlay: the scale's own CSV, if made")
    arguments.add_argument("--mechanisms", nargs="*", default=[], help="names of a user's own")
    arguments.add_argument(
        "--out-prefix", type=Path, required=True, help="path without .csv, .md, .tex, .json"
    )
    given = arguments.parse_args()
    with one_sentence():
        measures = Measures.read(given.measures, given.runs)
        paper = Paper(given.paper, mechanisms=given.mechanisms)
        tabulate(paper, given.table, given.scale, measures, given.out_prefix, given.base)


if __name__ == "__main__":
    main()
