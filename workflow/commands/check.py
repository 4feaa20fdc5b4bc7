"""Compute a published row again from its published weights, without training."""

import argparse
from collections.abc import Iterator
from dataclasses import replace

from workflow import PUBLISHED
from workflow.commands import explore
from workflow.definitions.paper import Paper
from workflow.planning.plan import named
from workflow.reporting.cells import text
from workflow.reporting.measures import EvaluatedRun
from workflow.reporting.publication.current import planned
from workflow.reporting.publication.reproduction import AddressedRow
from workflow.reporting.publication.results import published, with_staleness
from workflow.reporting.publication.weights import published_runs, published_weights
from workflow.runtime.errors import InputError
from workflow.terminal import arguments

OF_IT = "weights of the published training"
OF_ANOTHER = "weights perhaps of another training of the same settings"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.share(parser, "--scale", "--results", "--mirror")
    parser.set_defaults(scale="lite", configfile=[])
    parser.add_argument("--row", required=True, help="<paper>/<table>/<row>, as in the report")


def main(args: argparse.Namespace) -> None:
    """Say each number of the row's runs beside the published one."""
    plan = arguments.plan_of(args)
    row, folder = AddressedRow.at(args.row, Paper.all(plan.mechanisms)), PUBLISHED / plan.scale
    results = with_staleness(published(folder), planned(plan))
    kept, trainings = published_runs(folder, results), published_weights(folder)
    pairs = {pair for _, pair, _ in row.cells()}
    runs = [run for run in kept if named(run.key)[:2] in pairs]
    if not runs:
        have = ", ".join(run.key for run in kept)
        raise InputError(
            f"ROW={row.address}: its weights are not published at scale {plan.scale}, "
            f"{f'only those of {have}' if have else 'nor any others'}; make reproduce "
            f"ROW={row.address} trains it again"
        )
    # What computes is slow to import; nothing waits for it that is refused before.
    from workflow.trained.recomputed import recomputed

    explore.encode(plan, runs, args)
    for run in runs:
        before, pair = results[run.key].measure, named(run.key)[:2]
        measures = [metric["measure"] for _, behind, metric in row.cells() if behind == pair]
        evaluators = dict.fromkeys(str(one).partition(".")[0] for one in measures)
        after = replace(before, evaluators=recomputed(plan, run, evaluators))
        print(f"{run.key}, from weights in half precision:")
        origin = OF_IT if trainings[run.key].finished else OF_ANOTHER
        print("\n".join(f"  {line}; {origin}" for line in compared(row, before, after)))


def compared(row: AddressedRow, before: EvaluatedRun, after: EvaluatedRun) -> Iterator[str]:
    """Yield a line for each number of a row that was published of a run."""
    for cell, pair, metric in row.cells():
        old, new = before.of_metric(metric), after.of_metric(metric)
        if pair != named(before.key)[:2] or old is None:
            continue
        line = f"{cell}: published {text(old.value)}"
        if new is None:
            yield f"{line}, not recomputed: that needs more than weights and data"
        elif isinstance(new.value, str) or isinstance(old.value, str):
            yield f"{line}, recomputed {text(new.value)}"
        else:
            far = new.value - old.value
            difference = f"difference {far:+.2g}" if far else "no difference"
            yield f"{line}, recomputed {text(new.value)}, {difference}"
