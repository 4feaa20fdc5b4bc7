"""Train a published row again, compare it with what is published, and log the verdicts."""

import argparse
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime

from workflow import PUBLISHED, ROOT
from workflow.definitions.paper import Paper
from workflow.planning.configured import configured
from workflow.planning.corpora import missing_file
from workflow.planning.plan import Plan, Run
from workflow.reporting.measures import Measures
from workflow.reporting.publication.reproduction import (
    LOG,
    AddressedRow,
    append,
    check_appendable,
    compare,
    line,
)
from workflow.reporting.publication.results import measured, measures_of, published
from workflow.runtime.errors import InputError
from workflow.terminal import arguments

FOLDER = "reproduced"
"""Below the results: a folder of results of its own, where nothing else is found or trained."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.share(parser, "--scale", "--results", "--mirror")
    parser.set_defaults(scale="lite")
    parser.add_argument("--row", required=True, help="<paper>/<table>/<row>, as in the report")
    parser.add_argument("--seed", type=arguments.whole(0), help="one not published; else the next")


def main(args: argparse.Namespace) -> None:
    """Train the row in a folder of its own, and compare."""
    plan, row, before, runs = asked(args, args.seed)
    refuse_missing(plan, runs)
    check_appendable(PUBLISHED / LOG)
    targets = [str(measures_of(plan, run.key)) for run in runs]
    settings = arguments.settings(args).items()
    options = [part for name, value in settings for part in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "workflow", "run", *targets, *options]
    if code := status_of(command):
        sys.exit(code)
    made = [result for run in runs if (result := measured(plan, run.key))]
    found = compare(row, before, Measures(it.measure for it in made))
    today = datetime.now(UTC).date().isoformat()
    append(PUBLISHED / LOG, line(row, found, made[0].run, today, blas()))
    print("\n".join(map(str, found)))
    print(f"Logged:   {PUBLISHED.relative_to(ROOT) / LOG}")


def status_of(command: list[str]) -> int:
    """Return the exit status of a command, which Ctrl-C lets end in its own time."""
    with subprocess.Popen(command) as process:
        while process.returncode is None:
            with suppress(KeyboardInterrupt):  # it hears of it, too, and saves what it has
                process.wait()
        return process.returncode


def asked(
    args: argparse.Namespace, seed: int | None = None
) -> tuple[Plan, AddressedRow, Measures, list[Run]]:
    """Return a plan in a folder of its own, the row, what is published, and the runs to train."""
    args.results = str(arguments.results_of(args) / FOLDER)
    plan = configured(ROOT, **arguments.settings(args) | {"experiments": "all", "seeds": None})
    row = AddressedRow.at(args.row, Paper.all(plan.mechanisms))
    before = Measures(
        it.measure for it in published(PUBLISHED / plan.scale).values() if not it.stale
    )
    return plan, row, before, row.runs(plan, before, seed)


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
