"""Make a page of models to try, which needs no network.

Of a scale's runs, which are trained where they are not there; or of published weights.
"""

import argparse
from pathlib import Path

from workflow import PUBLISHED
from workflow.definitions.explorer import explorer_runs
from workflow.definitions.paper import Paper
from workflow.planning.plan import Plan, named
from workflow.reporting.explorer.shown import ExplorerRun
from workflow.reporting.measures import EvaluatedRun
from workflow.reporting.page.page import write_page
from workflow.reporting.publication.current import planned
from workflow.reporting.publication.results import published, with_staleness
from workflow.reporting.publication.weights import published_runs
from workflow.runtime.errors import ReportingError
from workflow.terminal import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.share(parser, "--scale", "--results", "--mirror", "--configfile")
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
    plan = arguments.plan_of(args)
    page = Path(plan.folder) / "explorer.html"
    runs, measures, missing = published_models(plan, args)
    # What computes is slow to import; nothing waits for it that is refused before.
    from workflow.reporting.explorer.page import beside, explorer_page

    data = Path(plan.results) / "data"
    write_page(page, explorer_page(plan.scale, runs, data, measures, beside(page), missing))
    print(f"Explorer: {page}, of {len(runs)} published runs")
    if missing:
        print(left_out(plan, runs, missing))


def published_models(
    plan: Plan, args: argparse.Namespace
) -> tuple[list[ExplorerRun], list[EvaluatedRun], list[ExplorerRun]]:
    """Return published runs whose data is there, the measures, and runs whose data is not.

    Missing data is made; ReportingError where none can be.
    """
    folder = PUBLISHED / plan.scale
    results = with_staleness(published(folder), planned(plan))
    tasks = [task for paper in Paper.all() for task in paper.items("explorer").values()]
    shown = {pair for task in tasks for pair in explorer_runs(task)}
    runs = [run for run in published_runs(folder, results) if named(run.key)[:2] in shown]
    if not runs:
        raise ReportingError(f"{folder}: no weights are published that count today.")
    data = Path(plan.results) / "data"
    encode(plan, runs, args)
    there = [run for run in runs if _encoded(run, data)]
    missing = [run for run in runs if not _encoded(run, data)]
    if not there:
        raise ReportingError(f"The {_lacking(plan, missing)}.")
    measures = [result.measure for result in results.values() if not result.stale]
    return there, measures, missing


def left_out(plan: Plan, runs: list[ExplorerRun], missing: list[ExplorerRun]) -> str:
    """Say how many models the page has no data of, and the way out."""
    left = f"{len(missing)} of {len(runs) + len(missing)} models"
    return f"Left out: {left}, whose {_lacking(plan, missing)}."


def _lacking(plan: Plan, missing: list[ExplorerRun]) -> str:
    names = ", ".join(sorted({run.dataset for run in missing}))
    why = f"data could not be made ({names}; {log_of(plan)} says why)"
    return f"{why}; connect to a network or set MIRROR="


def encode(plan: Plan, runs: list[ExplorerRun], args: argparse.Namespace) -> None:
    """Have Snakemake make the data of runs that are not there, as far as it can."""
    data = Path(plan.results) / "data"
    missing = dict.fromkeys(str(run.data(data)) for run in runs if not _encoded(run, data))
    if missing:
        print(f"Making {len(missing)} data sets", flush=True)
        arguments.make_quietly(missing, arguments.settings(args), args.configfile, log=log_of(plan))


def log_of(plan: Plan) -> Path:
    """Return the file of what Snakemake says."""
    return Path(plan.folder) / "logs" / "explore_data.log"


def _encoded(run: ExplorerRun, data: Path) -> bool:
    return (run.data(data) / "manifest.json").is_file()
