"""The jobs that Snakemake would run, which a process of its own asks it for."""

import json
import logging
import subprocess
import sys
from collections.abc import Sequence

from snakemake_interface_logger_plugins.common import LogEvent

from workflow.planning.cost import Job
from workflow.terminal.logger import no_rule


def dry_run(arguments: Sequence[str]) -> list[Job]:
    """Return the jobs that Snakemake would run now, in its order; a target's name is none.

    Where it finds a mistake, this program ends with what it said.
    """
    dry = [sys.executable, "-m", __name__, *arguments]
    done = subprocess.run(dry, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stderr}{done.stdout}".strip())
    jobs = json.loads(done.stdout.splitlines()[-1])
    return [Job(rule, wildcards) for rule, wildcards in jobs]


class Jobs(logging.Filter):
    """Keeps the jobs that Snakemake tells of, and lets through what is wrong alone."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[Job] = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Note a job; what the logger wants."""
        fields = record.__dict__
        # A target's name alone makes nothing.
        if fields.get("event") == LogEvent.JOB_INFO and fields["output"]:
            self.jobs.append(Job(fields["rule_name"], fields["wildcards"] or {}))
        if sentence := no_rule(record):
            record.msg, record.args = sentence, ()
        return record.levelno >= logging.WARNING


def main() -> None:
    """Be Snakemake in a dry run; print the jobs as one line of JSON."""
    from snakemake.cli import main as snakemake

    jobs = Jobs()
    logging.getLogger("snakemake.logging").addFilter(jobs)
    try:
        snakemake(["--cores", "all", "--dry-run", *sys.argv[1:]])
    except SystemExit as end:
        if end.code:
            raise
    print(json.dumps([[job.rule, job.wildcards] for job in jobs.jobs]))


if __name__ == "__main__":
    main()
