"""Be Snakemake, after a look at the configuration: its mistakes have a file and a line then.

Of a file of changes that is missing or no YAML, Snakemake would say neither. While jobs run, a line
says how far they are; the last lines say what ran and what to look at. Without a profile jobs are
forks (`workflow.forking`).
"""

import sys
from contextlib import nullcontext

from snakemake.cli import main as snakemake
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

from workflow import ROOT
from workflow.failure import one_sentence
from workflow.forking import forks
from workflow.planning.configured import configured
from workflow.terminal import command, logger
from workflow.terminal.closing import closing
from workflow.terminal.progress import Progress, duration


def main() -> None:
    """Run from the command line, in the root of the project."""
    parser = command.planner((__doc__ or "").partition("\n")[0], *command.SETTINGS)
    parser.add_argument("targets", nargs="*", help="what to ask Snakemake for; else everything")
    parser.add_argument("--profile", help="of Snakemake; without one jobs run on this machine")
    parser.add_argument("--jobs", help="at once, with a profile; else cores (all)")
    given = parser.parse_args()
    settings = command.settings(given)
    with one_sentence():
        plan = configured(ROOT, given.configfile, **settings)
    where = ["--cores", given.jobs or "all"]
    if given.profile:
        where = ["--profile", given.profile, *(["--jobs", given.jobs] if given.jobs else [])]
    asked = command.asked(given.targets, settings, given.configfile)
    registry = LoggerPluginRegistry()
    registry.register_plugin(f"{registry.module_prefix}{logger.NAME}", logger)
    progress = logger.PROGRESS
    try:
        with nullcontext() if given.profile else forks():
            snakemake([*asked, *where, "--logger", logger.NAME])
    except SystemExit as end:
        if end.code and progress.total:
            print(f"{stopped(progress)}.", file=sys.stderr)
        if end.code:
            raise
    with one_sentence():
        print("\n".join(closing(plan, progress, given.targets)))


def stopped(progress: Progress) -> str:
    """Return what is done of an invocation that failed or was interrupted."""
    done = f"{progress.done.total()} of {progress.total} jobs are done"
    return (
        f"Stopped: {done} after {duration(progress.elapsed)}; the same command goes on from there"
    )


if __name__ == "__main__":
    main()
