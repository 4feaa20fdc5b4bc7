"""Make what is asked for, or everything, by Snakemake.

First the configuration is read: of a file of changes that is missing or no YAML, Snakemake would
say neither file nor line. While jobs run, a line says how far they are. After a minute a report of
what is done so far is made, where everything is asked for. The last lines say what ran and what to
look at. Without a profile jobs are forks (`workflow.runtime.fork_server`).
"""

import argparse
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Event, Thread

from snakemake.cli import main as snakemake
from snakemake.logging import logger as log
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

from workflow import ROOT
from workflow.definitions.configuration import CommandSettings
from workflow.definitions.loader import read_yaml
from workflow.planning.folders import check_home, check_submittable
from workflow.runtime.errors import UserError
from workflow.runtime.fork_server import forks
from workflow.terminal import arguments, logger
from workflow.terminal.closing import closing
from workflow.terminal.progress import JobProgress, duration

EARLY, AGAIN = 60, 5
"""Seconds before what is done so far is shown, and between looks whether there is any."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    shared = ("--scale", "--limit", "--results", "--device", "--mirror", "--configfile")
    arguments.share(parser, "targets", *shared)
    parser.add_argument("--profile", help="of Snakemake; without one jobs run on this machine")
    number = arguments.whole(1, "all")
    parser.add_argument("--jobs", type=number, help="at once, with a profile; else cores (all)")


def main(args: argparse.Namespace) -> None:
    """Run Snakemake, and say what it did."""
    plan, settings = arguments.plan_of(args), arguments.settings(args)
    plan.check_scale(args.targets)
    check_home()
    if args.profile:
        check_slurm(Path(args.profile), Path(plan.results))
    where = ["--cores", str(args.jobs or "all"), "--keep-going"]
    if args.profile:
        jobs = "unlimited" if args.jobs == "all" else str(args.jobs)
        where = ["--profile", args.profile, *(["--jobs", jobs] if args.jobs else [])]
    options = None if args.targets else _options(settings, args.configfile)
    asked = arguments.snakemake_arguments(args.targets, settings, args.configfile)
    registry = LoggerPluginRegistry()
    registry.register_plugin(f"{registry.module_prefix}{logger.NAME}", logger)
    progress = logger.PROGRESS
    try:
        with nullcontext() if args.profile else forks(), shown_early(options, progress):
            snakemake([*asked, *where, "--logger", logger.NAME])
    except KeyboardInterrupt:  # a second Ctrl-C, while what the first one ended is waited for
        print(f"{stopped(progress)}.", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
    except SystemExit as end:
        if end.code and progress.total:
            print(f"{stopped(progress)}.", file=sys.stderr)
        if end.code and progress.failed:
            print(*without_failed(settings, args.configfile), sep="\n", file=sys.stderr)
        if end.code:
            raise
    print("\n".join(closing(plan, progress, args.targets)))
    if options is not None:  # the report has all that was shown so far
        shutil.rmtree(Path(plan.folder, "so_far"), ignore_errors=True)


def check_slurm(profile: Path, results: Path) -> None:
    """Raise UserError for a profile that submits to Slurm where none answers, or odd folders."""
    file = profile / "config.yaml"
    if not file.is_file() or read_yaml(file).get("executor") != "slurm":
        return
    check_submittable(ROOT, results)
    try:
        asked = subprocess.run(["sinfo"], capture_output=True, text=True, check=False)
        fault = asked.stderr.strip().partition("\n")[0] if asked.returncode else ""
    except FileNotFoundError:
        fault = "sinfo is not installed"
    if fault:
        raise UserError(
            f"PROFILE={profile} submits to Slurm, and none answers here ({fault}); run it on a "
            f"login node of the cluster, or without PROFILE= on this machine"
        )


@contextmanager
def shown_early(options: Sequence[str] | None, progress: JobProgress) -> Iterator[None]:
    """Meanwhile make a report of what is done so far, once.

    Args:
        options: of the command so-far; None for no report.
        progress: of what goes on meanwhile.
    """
    over = Event()

    def show() -> None:
        while not over.wait(AGAIN):
            measured = any(rule.startswith("measure") for rule in progress.done)
            if measured and progress.elapsed >= EARLY:
                made = so_far(options or ())
                if made.returncode == 0:
                    log.warning(made.stdout.splitlines()[-1])
                return

    showing = Thread(target=show, daemon=True)
    if options is not None:
        showing.start()
    try:
        yield
    finally:
        over.set()
        if showing.ident:
            showing.join()


def without_failed(settings: CommandSettings, changes: Sequence[Path]) -> list[str]:
    """Make tables of the runs that did not fail; return lines that say where, and how again."""
    variables = {"SCALE": settings.get("scale"), "LIMIT": settings.get("limit")}
    variables |= {"OVERLAY": str(changes[0]) if changes else None}
    variables |= {"RESULTS": settings.get("results")}
    named = [f"{name}={shlex.quote(str(value))}" for name, value in variables.items() if value]
    lines = [f"Tables of what did not fail: {' '.join(('make so-far', *named))}"]
    made = so_far(_options(settings, changes))
    return [*lines, *made.stdout.splitlines()[-1:]] if made.returncode == 0 else lines


def so_far(options: Iterable[str]) -> subprocess.CompletedProcess[str]:
    """Make a report of what is done so far, with options of that command."""
    return subprocess.run(
        [sys.executable, "-m", "workflow", "so-far", *options],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


def _options(settings: CommandSettings, changes: Iterable[Path]) -> list[str]:
    shown = ("scale", "limit", "results")
    named = [f"--{name}={value}" for name, value in settings.items() if name in shown]
    return [*named, *(["--configfile", *map(str, changes)] if changes else [])]


def stopped(progress: JobProgress) -> str:
    """Return what is done of an invocation that failed or was interrupted."""
    done = f"{progress.done.total()} of {progress.total} jobs are done"
    return (
        f"Stopped: {done} after {duration(progress.elapsed)}; the same command goes on from there"
    )
