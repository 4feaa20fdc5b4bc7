"""Make a page of models to try, which needs no network.

Of a scale's runs, which are trained where they are not there; or of published weights.
"""

import argparse
import sys
from pathlib import Path

from workflow import PUBLISHED
from workflow.definitions.paper import Paper
from workflow.planning.plan import Plan
from workflow.reporting.explorer.shown import ExplorerRun
from workflow.reporting.measures import EvaluatedRun
from workflow.reporting.page.page import write_page
from workflow.reporting.publication.current import planned
from workflow.reporting.publication.results import judged, published
from workflow.reporting.publication.weights import published_runs
from workflow.runtime.errors import ReportingError
from workflow.terminal import command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    command.share(parser, "--scale", "--results", "--mirror", "--configfile")
    parser.add_argument("--published", action="store_true", help="of published weights")


def main(args: argparse.Namespace) -> None:
    """Make the page."""
    if args.published:
        of_published(args)
    else:
        from workflow.commands import run

        run.main(argparse.Namespace(targets=["explore"], jobs=None, profile=None, **vars(args)))


def of_published(args: argparse.Namespace) -> None:
    """Make the page of published weights."""
    plan = command.plan_of(args)
    page = Path(plan.folder) / "explorer.html"
    folder = PUBLISHED / plan.scale
    results = judged(published(folder), planned(plan))
    runs = published_runs(folder, results)
    if not runs:
        raise ReportingError(f"{folder}: no weights are published that count today.")
    if status := encode(plan, runs, args):
        sys.exit(status)
    measures = [result.measure for result in results.values() if not result.stale]
    write_page(page, made(plan, runs, measures))
    print(f"Explorer: {page}, of {len(runs)} published runs")


def encode(plan: Plan, runs: list[ExplorerRun], args: argparse.Namespace) -> int:
    """Have Snakemake make the data of runs that are not there, and return its exit status."""
    folders = dict.fromkeys(run.data(Path(plan.results) / "data") for run in runs)
    missing = [str(folder) for folder in folders if not (folder / "manifest.json").is_file()]
    if not missing:
        return 0
    return command.make_quietly(missing, command.settings(args), args.configfile)


def made(plan: Plan, runs: list[ExplorerRun], measures: list[EvaluatedRun]) -> str:
    """Return the page of some runs, and of what was recorded of others."""
    # What computes is slow to import; nothing waits for it that is refused before.
    from workflow.reporting.explorer.data import page_data, recorded_of, recordings, tasks_of
    from workflow.reporting.explorer.page import render

    papers, data = Paper.all(), Path(plan.results) / "data"
    recorded = recordings(recorded_of(papers), measures)
    return render(page_data(plan.scale, tasks_of(papers), runs, data, recorded))
