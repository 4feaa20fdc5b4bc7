"""Snakemake's logger while `make` runs it: one line of progress, and what goes wrong.

Snakemake's own log, below `.snakemake/log`, has the rest.
"""

import logging
import os
import re
import sys
import threading
from pathlib import Path
from typing import TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from workflow.runtime.failure import last_error
from workflow.terminal.progress import JobProgress, LogRecord

NAME = "saccade"
PROGRESS = JobProgress()
"""Of this process, which runs Snakemake once."""
FIRST, EVERY = 30, 10
"""Where there is no terminal: seconds before a line, which are more, a tenth of the time, later."""
ERASED = "\r\x1b[K"
_NO_RULE = re.compile(r"^MissingRuleException:?\s+No rule to produce (.+?)(?: \(|\n|$)")


class LogHandler(LogHandlerBase):
    """Shows the progress on stderr: drawn anew on a terminal, else a plain line now and then."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        self.stream: TextIO = sys.stderr
        self.live = self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self.drawn = False
        self.due: float = FIRST
        self.closed = threading.Event()
        threading.Thread(target=self._tick, daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Note what a record says; say it where it is a warning or an error."""
        fields = record.__dict__
        if record.levelno >= logging.WARNING and not _repeats(fields):
            self._erase()
            self.stream.write(f"{_sentence(fields) or no_rule(record) or self.format(record)}\n")
        PROGRESS.note(fields)
        self._show()

    def close(self) -> None:
        """End the line of progress."""
        self.closed.set()
        with self.lock or threading.RLock():
            self._erase()
        super().close()

    def _tick(self) -> None:
        while not self.closed.wait(1):
            with self.lock or threading.RLock():
                if not self.closed.is_set():
                    self._show()

    def _show(self) -> None:
        if not PROGRESS.total:
            return
        if self.live:
            width = os.get_terminal_size(self.stream.fileno()).columns or 80
            self.stream.write(ERASED + PROGRESS.line[: width - 1])
            self.drawn = True
        elif PROGRESS.elapsed >= self.due:
            self.due = PROGRESS.elapsed + max(FIRST, PROGRESS.elapsed / EVERY)
            self.stream.write(f"{PROGRESS.line}\n")
        self.stream.flush()

    def _erase(self) -> None:
        if self.drawn:
            self.stream.write(ERASED)
            self.stream.flush()
        self.drawn = False


def no_rule(record: logging.LogRecord) -> str | None:
    """Return the sentence for a target that nothing makes, None for any other record."""
    found = _NO_RULE.match(record.getMessage())
    if found is None:
        return None
    apart = "; put a space between two targets" if "," in found[1] else ""
    return (
        f'error: command line: nothing makes the target "{found[1]}"{apart}; name a paper, an '
        f"experiment, or a file that `make plan LIST=1` has a job for"
    )


def _repeats(fields: LogRecord) -> bool:
    """Return whether an error says only that jobs failed, which they have said themselves."""
    summaries = ("CalledProcessError in ", "At least one job did not complete ")
    return fields.get("event") == LogEvent.ERROR and any(
        summary in fields["msg"] for summary in summaries
    )


def _sentence(fields: LogRecord) -> str | None:
    """Return the sentence of a job that failed, where one of its logs ends with one."""
    if fields.get("event") != LogEvent.JOB_ERROR:
        return None
    errors = [(error, log) for log in fields["log"] if (error := last_error(Path(log)))]
    name = PROGRESS.name(fields["jobid"]) or fields["rule_name"]
    return f"{name} failed: {errors[0][0]} ({errors[0][1]})" if errors else None
