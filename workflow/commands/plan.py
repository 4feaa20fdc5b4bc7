"""Say what would run and what it would take, and run nothing.

Jobs are those of Snakemake's dry run. Training is counted, which is what takes the time; a run that
the store has costs nothing.
"""

import argparse
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from workflow import PUBLISHED, ROOT
from workflow.commands import reproduce
from workflow.datasets.fetched import sources
from workflow.datasets.fetched.fetching import at_hand
from workflow.datasets.kinds.feature_files import locate
from workflow.datasets.kinds.image_features import advice
from workflow.planning.budget import check_budget, check_built, save_plan, too_large, too_long
from workflow.planning.configured import file_named
from workflow.planning.cost import Cost, Job, by_experiment, run_of, trained
from workflow.planning.estimator import WITHIN, Estimator, uses_bf16, uses_gpu
from workflow.planning.folders import check_home
from workflow.planning.plan import Plan, named
from workflow.reporting.publication.results import measures_of
from workflow.runtime.errors import InputError
from workflow.terminal import arguments
from workflow.terminal.dry_run import dry_run

LONG = 24 * 30
"""Hours above which a plan says what a cluster would take."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    shared = ("--scale", "--limit", "--results", "--device", "--mirror", "--configfile")
    arguments.share(parser, "targets", *shared)
    at_once = arguments.whole(1)
    parser.add_argument("--parallel", type=at_once, default=os.cpu_count(), help="runs at once")
    parser.add_argument("--jobs", action="store_true", help="list the jobs instead")
    parser.add_argument("--row", help="<paper>/<table>/<row>, as reproduce would train it")


def main(args: argparse.Namespace) -> None:
    """Print what the jobs cost, or the jobs."""
    if args.row is not None:
        if args.targets:
            raise InputError("ROW= (--row) and ONLY= name two things to plan; leave one out")
        args.scale = args.scale or "lite"
        own, *_, runs_of_row = reproduce.asked(args)
        args.targets = [str(measures_of(own, run.key)) for run in runs_of_row]
    plan, settings = arguments.plan_of(args), arguments.settings(args)
    plan.check_scale(args.targets)
    check_home()
    jobs = dry_run(arguments.snakemake_arguments(args.targets, settings, args.configfile))
    with file_named(ROOT, args.configfile, settings):
        gpu = uses_gpu(plan.config["device"])
        estimator = Estimator(plan, gpu, PUBLISHED, bf16=uses_bf16())
        check_built(filter(None, (run_of(plan, job) for job in jobs)), estimator)
        if args.jobs:
            lines = [*by_hand(plan, jobs), *listed(plan, jobs, estimator)]
            print("\n".join([*lines, f"{len(jobs)} jobs would run"]))
            return
        costs = by_experiment(jobs, estimator)
        unit = "GPU-hours" if gpu else "core-hours"
        runs = costs.values()
        warnings = [*too_long(plan, runs), *too_large(plan, runs)]
        whole = total(jobs, costs, unit, args.parallel)
        if not gpu and sum(runs, Cost()).wall(args.parallel) > LONG:
            on_gpus = by_experiment(jobs, Estimator(plan, True, PUBLISHED)).values()
            whole += f" Of GPUs: about {_number(sum(on_gpus, Cost()).hours)} GPU-hours."
        first = [whole, *warnings[:1], ""]
        lines = [*table(costs, unit, args.parallel), *elsewhere(plan, costs, args.parallel)]
        print("\n".join([*first, *lines, *warnings[1:], *downloads(plan, jobs)]))
        save_plan(plan, runs)
        check_budget(plan, costs, unit)


def total(jobs: Sequence[Job], costs: Mapping[str, Cost], unit: str, parallel: int) -> str:
    """Return in a line what all runs together take."""
    whole = sum(costs.values(), Cost())
    hours = f"{_duration(whole.wall(parallel))} here with {parallel} at once"
    return f"{len(jobs)} jobs, {len(whole.runs)} runs: {hours} ({_number(whole.hours)} {unit})."


def listed(plan: Plan, jobs: Iterable[Job], estimator: Estimator) -> Iterator[str]:
    """Yield a line for each job; that of a run which trains nothing says so."""
    for job in jobs:
        run = trained(plan, job)
        stored = run is not None and estimator.estimate(run).source == "store"
        line = f"{job.rule:11} {'/'.join(_named(job))}".rstrip()
        yield f"{line}  (from the store)" if stored else line


def _named(job: Job) -> list[str]:
    values = job.wildcards.items()
    return [f"seed-{value}" if name == "seed" else value for name, value in values]


def table(costs: Mapping[str, Cost], unit: str, parallel: int) -> list[str]:
    """Return the lines of a table of costs, with a total, and how sure they are."""
    head = ("", "jobs", "runs", unit, "hours", "memory", "disk", "estimates")
    whole = sum(costs.values(), Cost())
    rows = [head]
    for name, cost in (*costs.items(), ("total", whole)):
        sources = Counter(run.source for run in cost.runs.values() if cost is not whole)
        rows.append(
            (
                name or "data, tables, figures",
                str(cost.jobs),
                str(len(cost.runs)),
                _number(cost.hours),
                _number(cost.wall(parallel)),
                _size(cost.memory),
                _size(cost.disk),
                ", ".join(f"{n} {name}" for name, n in sources.most_common()),
            )
        )
    wide = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = [
        "  ".join(
            text.ljust(wide[n]) if n in (0, len(head) - 1) else text.rjust(wide[n])
            for n, text in enumerate(row)
        ).rstrip()
        for row in rows
    ]
    used = {run.source for run in whole.runs.values()}
    sure = "; ".join(f"{name}: within {much}" for name, much in WITHIN.items() if name in used)
    runs, stored = len(whole.runs), sum(run.source == "store" for run in whole.runs.values())
    notes = [
        f"Hours of training with {parallel} runs at once; measuring and data come on top.",
        "Memory of the largest run, disk for weights.",
        *([f"Store: {stored} of {runs} runs train nothing, as equal ones did."] if stored else []),
        *([f"Estimates, on like hardware: {sure}."] if sure else []),
    ]
    return [*lines, "", *notes]


def elsewhere(plan: Plan, costs: Mapping[str, Cost], parallel: int) -> list[str]:
    """Return lines on what a cluster would take, of a plan of more than LONG hours here."""
    whole = sum(costs.values(), Cost())
    hours = whole.wall(parallel)
    if hours <= LONG:
        return []
    limits = {key: 60 * plan.run(*named(key)).settings.resources.runtime for key in whole.runs}
    wanting = [key for key, run in whole.runs.items() if run.seconds > limits[key]]
    others = whole.seconds - sum(whole.runs[key].seconds for key in wanting)
    return [
        f"This machine needs {_duration(hours)}. On a cluster that trains all runs at once, on "
        f"hardware like this machine's, the longest takes {_duration(whole.longest / 3600)}.",
        f"{len(wanting)} runs want GPUs, as they take longer here than their jobs may; make plan "
        f"DEVICE=cuda has GPU-hours. The other {len(whole.runs) - len(wanting)} take "
        f"{_duration(others / 3600)} here, one after another.",
    ]


def downloads(plan: Plan, jobs: Sequence[Job]) -> list[str]:
    """Return lines about what would be downloaded, and what a person has to get."""
    sizes: Counter[str] = Counter()
    far, unindexed = _far(plan, jobs), _unindexed(plan, jobs)
    loaded = [file for file in far if not file.by_hand]
    for file in loaded:
        sizes[file.dataset] += file.bytes
    each = ", ".join(f"{name} {_size(size / 1e6)}" for name, size in sizes.most_common() if size)
    size = _size(sizes.total() / 1e6)
    lines = [f"Downloads: {len(loaded)} files, {size} ({each})."] if loaded else []
    advised = _advised(plan, far, unindexed)
    if len(advised) > 1:
        names = dict.fromkeys([file.dataset for file in far if file.by_hand] + unindexed)
        advised = [f"To get by hand: data of {', '.join(names)}; LIST=1 (--jobs) says from where."]
    return [*lines, *advised] or ["Downloads: none."]


def by_hand(plan: Plan, jobs: Sequence[Job]) -> list[str]:
    """Return a sentence about each file that a person has to get."""
    return _advised(plan, _far(plan, jobs), _unindexed(plan, jobs))


def _advised(plan: Plan, far: Sequence[sources.Source], unindexed: Sequence[str]) -> list[str]:
    advised = [f"{file.advice}; docs/data.md says what is in it." for file in far if file.by_hand]
    return [*advised, *(advice(_manual(plan), dataset) for dataset in unindexed)]


def _far(plan: Plan, jobs: Sequence[Job]) -> list[sources.Source]:
    """Return the source files that neither a mirror nor a person has put here."""
    listed, mirror = sources.load(), Path(plan.mirror) if plan.mirror else None
    wanted = [
        listed[job.wildcards["dataset"], job.wildcards["file"]]
        for job in jobs
        if job.rule == "fetch"
    ]
    return [file for file in wanted if not at_hand(file, mirror, _manual(plan))]


def _unindexed(plan: Plan, jobs: Sequence[Job]) -> list[str]:
    """Return the datasets whose features of images are missing."""
    indexed = [job.wildcards["dataset"] for job in jobs if job.rule == "index_features"]
    return [dataset for dataset in indexed if locate(_manual(plan), dataset) is None]


def _manual(plan: Plan) -> Path:
    return Path(plan.results) / "data" / "manual"


def _number(hours: float) -> str:
    """Return hours with the digits that an estimate has: `<0.01`, `0.52`, `6.7`, `1,647,481`."""
    if 0 < hours < 0.005:
        return "<0.01"
    return f"{hours:,.{0 if hours >= 10 else 1 if hours >= 1 else 2}f}" if hours else "–"


def _duration(hours: float) -> str:
    """Return hours in the unit of which there are few: `20 minutes`, `5 h`, `115 years`."""
    if 60 * hours < 1:
        return "under a minute"
    for unit, size in (("years", 24 * 365), ("days", 24)):
        if hours >= 2 * size:
            return f"about {hours / size:,.0f} {unit}"
    return f"about {hours:.0f} h" if hours >= 2 else f"about {60 * hours:.0f} minutes"


def _size(megabytes: float) -> str:
    if megabytes >= 1000:
        return f"{megabytes / 1000:,.1f} GB"
    return f"{megabytes:.1f} MB" if megabytes else "–"
