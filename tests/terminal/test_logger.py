"""The line of progress, on a terminal and in a log."""

import contextlib
import io
import logging
import os
import pty
import subprocess
import time
from types import SimpleNamespace

import pytest
from snakemake.logging import DefaultFormatter
from snakemake_interface_logger_plugins.common import LogEvent

from workflow.commands import run
from workflow.terminal import logger
from workflow.terminal.progress import JobProgress


class Clock:
    """A time that a test sets."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """The clock of the progress."""
    found = Clock()
    monkeypatch.setattr(logger, "PROGRESS", JobProgress(found))
    return found


def handler(stream, monkeypatch):
    """A handler that writes there, whose own thread does nothing."""
    monkeypatch.setattr(logger.sys, "stderr", stream)
    monkeypatch.setattr(logger.LogHandler, "_tick", lambda self: None)
    made = logger.LogHandler(SimpleNamespace(), None)
    made.setFormatter(DefaultFormatter(show_failed_logs=True))
    return made


def record(message="", level=logging.INFO, **more):
    """A record of Snakemake's log."""
    found = logging.LogRecord("snakemake", level, "", 0, message, (), None)
    vars(found).update(more)
    return found


STARTS = {"event": LogEvent.JOB_INFO, "jobid": 1, "rule_name": "train", "wildcards": {"seed": "0"}}


def test_a_log_has_a_line_now_and_then(clock, monkeypatch):
    said = io.StringIO()
    made = handler(said, monkeypatch)
    made.emit(record(expected=[(1, "train", None)]))
    made.emit(record(**STARTS))
    for clock.now in (0, 29, 31, 50, 62, 900, 940):
        made.emit(record("nobody reads this"))
    lines = said.getvalue().splitlines()
    assert len(lines) == 3 and "nobody" not in said.getvalue()
    assert lines[0].startswith("0 of 1 jobs done; 1 running, longest train seed-0")


def read_all(terminal):
    """What was written to a terminal that nobody writes to any more."""
    found = b""
    with contextlib.suppress(OSError), open(terminal, "rb", buffering=0) as file:
        while part := file.read(4096):
            found += part
    return found.decode()


def test_a_terminal_has_one_line_that_is_drawn_anew(clock, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as stream:
        made = handler(stream, monkeypatch)
        made.emit(record(expected=[(1, "train", None)]))
        made.emit(record(**STARTS))
        made.emit(record("disk is full", logging.ERROR))
        made.close()
    said = read_all(ours)
    drawn = said.split(logger.ERASED)
    running = "0 of 1 jobs done; 1 running, longest train seed-0 (0 s)"
    assert drawn[1:3] == ["0 of 1 jobs done", running]
    assert drawn[3] == "disk is full\r\n"
    assert said.endswith(logger.ERASED)


def test_a_job_that_fails_says_its_sentence(clock, monkeypatch, tmp_path):
    said = io.StringIO()
    made = handler(said, monkeypatch)
    made.emit(record(expected=[(1, "train", None)]))
    made.emit(record(**STARTS))
    log = tmp_path / "job.log"
    log.write_text("reading\nerror: the loss is no number.\n")
    fails = {**dict.fromkeys(("input", "output", "conda_env", "shellcmd")), "aux": {}}
    fails |= {"event": LogEvent.JOB_ERROR, "jobid": 1, "rule_name": "train", "log": [str(log)]}
    made.emit(record("Error in rule train", logging.ERROR, rule_msg=None, **fails))
    assert said.getvalue() == f"train seed-0 failed: the loss is no number. ({log})\n"
    command = 'RuleException:\nCalledProcessError in file "train.smk", line 70:\nexec python'
    made.emit(record(command, logging.ERROR, event=LogEvent.ERROR, exception="RuleException"))
    assert "exec python" not in said.getvalue()
    log.write_text("reading\n")
    made.emit(record("Error in rule train", logging.ERROR, rule_msg=None, **fails))
    assert "Error in rule train:" in said.getvalue() and "reading" in said.getvalue()


@pytest.mark.parametrize(
    ("measured", "options", "seconds", "told"),
    [
        (True, ["--scale=demo"], 60, ["Report so far:  page"]),
        (False, ["--scale=demo"], 60, []),  # there would be nothing in it
        (True, ["--scale=demo"], 59, []),
        (True, None, 60, []),  # not everything was asked for
    ],
)
def test_what_is_done_so_far_is_shown_once(clock, monkeypatch, measured, options, seconds, told):
    said, begun = [], []
    monkeypatch.setattr(run, "AGAIN", 0.001)
    monkeypatch.setattr(run.log, "warning", said.append)

    def so_far(command, **_):
        begun.append(command[2:])
        return subprocess.CompletedProcess(command, 0, "3 of 4\nReport so far:  page\n")

    monkeypatch.setattr(run.subprocess, "run", so_far)
    logger.PROGRESS.done.update({"measure": 1} if measured else {"train": 1})
    clock.now = seconds
    with run.shown_early(options, logger.PROGRESS):
        time.sleep(0.1)
    assert said == told
    assert begun == [["workflow", "so-far", "--scale=demo"]] * len(told)
