"""Write one table of a paper: long form, the paper's layout, and the runs behind every cell."""

from pathlib import Path

from workflow.definitions.paper import Paper
from workflow.failure import one_sentence
from workflow.reporting.measures import Measures
from workflow.reporting.tables.tabulating import tabulate
from workflow.terminal import command


def main() -> None:
    """Run from the command line."""
    parser = command.of_measures(__doc__, "table", ".csv, .md, .tex, .json")
    parser.add_argument("--base", type=Path, help="for an overlay: the scale's own CSV, if made")
    parser.add_argument("--mechanisms", nargs="*", default=[], help="names of a user's own")
    parser.add_argument(
        "--overlaid",
        type=command.mappings(),
        default={},
        help="for an overlay: before and after by setting, by <experiment>/<variant>, as JSON",
    )
    given = parser.parse_args()
    with one_sentence():
        measures = Measures.read(given.measures, given.runs)
        paper = Paper(given.paper, mechanisms=given.mechanisms)
        beside = (given.base, given.overlaid)
        tabulate(paper, given.table, given.scale, measures, given.out_prefix, *beside)


if __name__ == "__main__":
    main()
