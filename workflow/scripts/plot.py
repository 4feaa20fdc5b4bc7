"""Draw one figure of a paper, as PDF and PNG, with the runs behind it."""

from workflow.failure import one_sentence
from workflow.reporting.measures import Measures
from workflow.terminal import command


def main() -> None:
    """Run from the command line."""
    parser = command.of_measures(__doc__, "figure", ".pdf, .png, .svg, .json")
    given = parser.parse_args()
    from workflow.definitions.paper import Paper
    from workflow.reporting.figures.drawing import plot

    with one_sentence():
        measures = Measures.read(given.measures, given.runs)
        plot(Paper(given.paper), given.figure, given.scale, measures, given.out_prefix)


if __name__ == "__main__":
    main()
