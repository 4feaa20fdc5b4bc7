"""Decide the claims of a paper, each by its paired test."""

from pathlib import Path

from workflow.definitions.paper import Paper
from workflow.failure import one_sentence
from workflow.files import write_json
from workflow.reporting.claims.judging import judge
from workflow.reporting.measures import Measures
from workflow.terminal import command


def main() -> None:
    """Run from the command line."""
    parser = command.of_measures(__doc__)
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    given = parser.parse_args()
    with one_sentence():
        measures = Measures.read(given.measures, given.runs)
        write_json(given.out, judge(Paper(given.paper), given.scale, measures))


if __name__ == "__main__":
    main()
