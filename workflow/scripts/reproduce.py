"""Train a published row once more, compare it with what is published, and log the verdicts."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from workflow import PUBLISHED, ROOT
from workflow.definitions.paper import Paper
from workflow.errors import InputError
from workflow.failure import one_sentence
from workflow.planning.configured import configured
from workflow.planning.corpora import missing_file
from workflow.planning.plan import Plan, Run
from workflow.reporting.measures import Measures
from workflow.reporting.publication.reproduction import LOG, Row, append, compare, line
from workflow.reporting.publication.results import measured, measures_of, published
from workflow.terminal import command

FOLDER = "reproduced"
"""Below the results: a folder of results of its own, where nothing else is found or trained."""


def main() -> None:
    """Run from the command line, in the root of the project."""
    parser = command.Parser(description=__doc__)
    parser.add_argument("--row", required=True, help="<paper>/<table>/<row>, as in the report")
    parser.add_argument("--seed", type=command.whole(0), help="one not published; else the next")
    parser.add_argument("--scale", default="lite", help="the scale that is published")
    parser.add_argument("--results", type=Path, default=Path("results"), help="results folder")
    parser.add_argument("--mirror", help="mirror to take files from, else as configured")
    given = parser.parse_args()
    results = str(given.results / FOLDER)
    settings = {"scale": given.scale, "results": results}
    settings |= {"mirror": given.mirror} if given.mirror else {}
    with one_sentence():
        plan = configured(ROOT, experiments="all", seeds=None, **settings)
        row = Row.at(given.row, Paper.all(plan.mechanisms))
        before = Measures(
            it.measure for it in published(PUBLISHED / plan.scale).values() if not it.stale
        )
        runs = row.runs(plan, before, given.seed)
        refuse_missing(plan, runs)
    targets = [str(measures_of(plan, run.key)) for run in runs]
    options = [part for name, value in settings.items() for part in (f"--{name}", value)]
    done = subprocess.run(
        [sys.executable, "-m", "workflow.scripts.run", *targets, *options], check=False
    )
    if done.returncode:
        sys.exit(done.returncode)
    with one_sentence():
        made = [result for run in runs if (result := measured(plan, run.key))]
        found = compare(row, before, Measures(it.measure for it in made))
        today = datetime.now(UTC).date().isoformat()
        added = line(row, found, dict(made[0].run), today, blas())
        append(PUBLISHED / LOG, added)
    print("\n".join(map(str, found)))
    print(f"Logged:   {PUBLISHED.relative_to(ROOT) / LOG}")


def refuse_missing(plan: Plan, runs: list[Run]) -> None:
    """Raise InputError for the first file of the runs' data that a person has to get."""
    for run in runs:
        if advice := missing_file(plan, run.recipe):
            raise InputError(advice)


def blas() -> str:
    """Return the library of linear algebra that torch was built with, and the CPU's instructions.

    As in `mkl, AVX512`; what torch does not say is left out.
    """
    import torch

    told = torch.__config__.show()
    library = told.partition("BLAS_INFO=")[2].partition(",")[0].strip()
    capability = told.partition("CPU capability usage: ")[2].partition("\n")[0].strip()
    return ", ".join(one for one in (library, capability) if one)


if __name__ == "__main__":
    main()
