"""Be Snakemake in a dry run that ends with its jobs, in its order, as one line of JSON."""

import json
import logging
import sys

from snakemake.cli import main as snakemake
from snakemake_interface_logger_plugins.common import LogEvent

from workflow.planning.budget import Job
from workflow.terminal.logger import no_rule


class Jobs(logging.Filter):
    """Keeps the jobs that Snakemake tells of, and lets through what is wrong alone."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Job] = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Note a job; what the logger wants."""
        told = record.__dict__
        # A target's name alone makes nothing.
        if told.get("event") == LogEvent.JOB_INFO and told["output"]:
            self.found.append(Job(told["rule_name"], told["wildcards"] or {}))
        if sentence := no_rule(record):
            record.msg, record.args = sentence, ()
        return record.levelno >= logging.WARNING


def main() -> None:
    """Run from the command line, with the arguments of Snakemake."""
    jobs = Jobs()
    logging.getLogger("snakemake.logging").addFilter(jobs)
    try:
        snakemake(["--cores", "all", "--dry-run", *sys.argv[1:]])
    except SystemExit as end:
        if end.code:
            raise
    print(json.dumps([[job.rule, job.wildcards] for job in jobs.found]))


if __name__ == "__main__":
    main()
