"""Make tables, figures and claims of a paper from what was measured."""

import argparse
from pathlib import Path

from workflow.definitions.paper import Paper
from workflow.planning.corpora import DescribedCorpus
from workflow.reporting.measures import Measures
from workflow.reporting.publication.outputs import Items, facts_at, make
from workflow.runtime.failure import exit_on_user_error
from workflow.terminal import job_arguments


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paper", required=True, help="folder below workflow/papers")
    parser.add_argument("--scale", required=True, help="the scale, or <scale>+<overlay>")
    names = {"tables": "tables.yaml", "figures": "figures.yaml"}
    for kind, file in names.items():
        parser.add_argument(f"--{kind}", nargs="*", default=[], help=f"names in {file}")
    parser.add_argument("--claims", action="store_true", help="decide the claims, too")
    parser.add_argument(
        "--corpora",
        type=job_arguments.mappings("recipe", "missing", "stated"),
        default={},
        help="by <table>/<row> of corpora.yaml: its recipe, or why it is missing, as JSON",
    )
    files = {"measures": "measures; missing: not run", "runs": "their run.json files"}
    for name, what in files.items():
        parser.add_argument(f"--{name}", type=Path, nargs="*", default=[], help=what)
    parser.add_argument("--mechanisms", nargs="*", default=[], help="names of a user's own")
    parser.add_argument(
        "--own", type=job_arguments.mappings(), default={}, help="tables of a user's own, as JSON"
    )
    parser.add_argument(
        "--overlaid",
        type=job_arguments.mappings(),
        default={},
        help="for an overlay: before and after by setting, by <experiment>/<variant>, as JSON",
    )
    whole = "folder of results: data, and the tables that an overlay stands on"
    parser.add_argument("--results", type=Path, required=True, help=whole)
    parser.add_argument("--out", type=Path, required=True, help="folder of the scale in it")
    args = parser.parse_args()
    with exit_on_user_error():
        corpora: dict[str, dict[str, DescribedCorpus]] = {}
        for key, one in args.corpora.items():
            table, _, row = key.partition("/")
            corpora.setdefault(table, {})[row] = DescribedCorpus(**one)
        make(
            Paper(args.paper, mechanisms=args.mechanisms, own=args.own),
            Items(args.tables, args.figures, args.claims, corpora),
            args.scale,
            Measures.read(args.measures, args.runs),
            facts_at(args.results / "data"),
            args.results,
            args.out,
            args.overlaid,
        )


if __name__ == "__main__":
    main()
