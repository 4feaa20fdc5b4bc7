"""How far Snakemake is, by what it logs."""

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from workflow.terminal.progress import Progress, duration, named


class Run:
    """An invocation whose time a test sets."""

    def __init__(self, *jobs):
        self.now = 0.0
        self.progress = Progress(lambda: self.now)
        self.progress.note({"expected": list(enumerate_jobs(jobs))})

    def start(self, number, rule="train", **wildcards):
        told = {"event": LogEvent.JOB_INFO, "jobid": number, "rule_name": rule}
        self.progress.note({**told, "wildcards": wildcards})

    def finish(self, number):
        self.progress.note({"event": LogEvent.JOB_FINISHED, "job_id": number})


def enumerate_jobs(jobs):
    """Jobs with numbers from 1."""
    return [(number, rule, planned) for number, (rule, planned) in enumerate(jobs, 1)]


def test_the_line_tells_what_is_done_and_what_runs_longest():
    run = Run(*[("train", None)] * 4)
    run.start(1, experiment="toy", variant="soft", seed="0")
    run.now = 5
    run.start(2, rule="train_locally", experiment="toy", variant="hard", seed="1")
    assert run.progress.line == "0 of 4 jobs done; 2 running, longest train toy/soft/seed-0 (5 s)"
    run.now = 20
    run.finish(1)
    longest = "1 running, longest train toy/hard/seed-1 (15 s)"
    # Three jobs of 20 s, of which 15 s are done, at 35 s of work in 20 s.
    assert run.progress.left == pytest.approx(45 * 20 / 35)
    assert run.progress.line == f"1 of 4 jobs done; about 26 s left; {longest}"
    assert run.progress.done == {"train": 1}


def test_what_was_planned_is_scaled_by_what_it_took():
    run = Run(("train", 100.0), ("train", 1000.0), ("report", None))
    run.start(1)
    run.now = 200
    run.finish(1)
    # The other training takes twice its plan as well; the report as long as a job did so far.
    assert run.progress.left == pytest.approx(2000 + 200)


def test_the_time_left_is_that_of_the_longest_job_at_least():
    run = Run(("train", 10.0), ("train", 10.0), ("train", 500.0))
    for number in (1, 2):
        run.start(number)
    run.now = 10
    run.finish(1)
    run.finish(2)
    assert run.progress.left == pytest.approx(500)


def test_a_job_that_failed_runs_no_more_and_may_be_tried_again():
    run = Run(("train", None))
    run.start(1)
    run.progress.note({"event": LogEvent.JOB_ERROR, "jobid": 1})
    assert run.progress.line == "0 of 1 jobs done" and run.progress.name(1) is None
    run.start(1)
    run.finish(1)
    assert run.progress.line == "1 of 1 jobs done"


def test_a_total_may_change():
    run = Run(("train", None))
    run.progress.note({"event": LogEvent.PROGRESS, "done": 1, "total": 7})
    assert run.progress.line == "0 of 7 jobs done"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (273600, "3 d 4 h")],
)
def test_durations_have_two_units(seconds, text):
    assert duration(seconds) == text


def test_jobs_are_named_by_their_wildcards():
    assert named("report", None) == "report"
    assert named("measure_locally", {"experiment": "toy", "seed": "3"}) == "measure toy/seed-3"
