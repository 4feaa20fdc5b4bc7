"""Write a table of corpora: what each holds, from the manifests of its data."""

from pathlib import Path

from workflow.definitions.paper import Paper
from workflow.failure import one_sentence
from workflow.reporting.tables.corpora import Facts, describe, facts_of, with_stated
from workflow.terminal import command


def main() -> None:
    """Run from the command line."""
    parser = command.of_paper(__doc__, "table", ".csv, .md, .tex, .json")
    parser.add_argument("--data", type=Path, required=True, help="the results' folder of data")
    parser.add_argument(
        "--corpora",
        type=command.mappings("recipe", "folder", "missing"),
        required=True,
        help="by row: its recipe, and its folder below --data or why it is missing, as JSON",
    )
    given = parser.parse_args()
    with one_sentence():
        facts: dict[str, Facts] = {}
        for row, one in given.corpora.items():
            facts[row] = {name: one[name] for name in ("recipe", "missing")}
            if not one["missing"]:
                fetched = given.data / "sources" / one["recipe"]["dataset"]
                encoded = given.data / one["folder"] / "encoded"
                facts[row] = facts_of(one["recipe"], encoded, fetched)
            facts[row] = with_stated(facts[row], one.get("stated"))
        describe(Paper(given.paper), given.table, given.scale, facts, given.out_prefix)


if __name__ == "__main__":
    main()
