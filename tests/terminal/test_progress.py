"""How far Snakemake is, by what it logs."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from tests.reporting.synthetic import plan_of
from workflow import PUBLISHED
from workflow.reporting.claims.judged import ClaimSide
from workflow.terminal import closing
from workflow.terminal.closing import choose, line_of
from workflow.terminal.progress import STORED, JobProgress, duration, named


class Run:
    """An invocation whose time a test sets."""

    def __init__(self, *jobs):
        self.now = 0.0
        self.progress = JobProgress(lambda: self.now)
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


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (273600, "3 d 4 h")],
)
def test_durations_have_two_units(seconds, text):
    assert duration(seconds) == text


def test_jobs_are_named_by_their_wildcards():
    assert named("report", None) == "report"
    assert named("measure_locally", {"experiment": "toy", "seed": "3"}) == "measure toy/seed-3"


def claim(name, source, left=0.5, right=0.1, **more):
    """A judged claim, as far as it is told."""
    found = {"headline": False, "check": False, "paper": "", "label": "recall", "digits": 2}
    found |= {"measures": [f"results/demo/measures/{name}_task/soft/seed-0.json"], "source": source}
    sides = {"left": ClaimSide("ours", "soft", left), "right": ClaimSide("hard", "hard", right)}
    return SimpleNamespace(**{"id": name, **found, **sides, **more})


def test_numbers_are_of_main_claims_and_of_one_paper_each():
    claims = [
        claim("plain", "one2020 section 1"),
        claim("printed", "one2020 section 2", paper="0.9"),
        claim("main", "one2020, abstract", headline=True),
        claim("check", "two2020 section 1", check=True),
        claim("not_run", "two2020 section 2", left=None),
        claim("same", "two2020 section 3", left=0.1),
        claim("other", "two2020 section 4"),
    ]
    assert [one.id for one in choose(claims, 2)] == ["main", "other"]
    assert [one.id for one in choose(claims, 3)] == ["main", "other", "printed"]


def test_a_number_has_the_papers_beside_it():
    one = claim("stack", "one2020 section 2", paper="0.92")
    ours = "stack_task, recall: 0.50 (ours), 0.10 (hard)"
    assert line_of(one) == f"{ours}; the paper's 0.92 [one2020 section 2]"
    one.right, one.paper = ClaimSide("fixed value", None, 0.9), ""
    assert line_of(one) == "stack_task, recall: 0.50 (ours) [one2020 section 2]"


def test_a_part_ends_with_the_first_values_of_its_table(tmp_path):
    csv = PUBLISHED / "lite/tables/attention_learning/table_8.csv"
    title, first, *others = closing.first_rows(plan_of(tmp_path), csv)
    assert title.endswith("Table 8: sizes of the classification corpora: ours, [the paper's]")
    row, column, ours, paper = re.split("  +", first.strip())
    assert (row, column) == ("IMDB", "train #") and paper == f"[{ours}] ✓"
    assert len(others) == closing.ROWS - 1


@pytest.mark.parametrize("there", [True, False])
def test_a_part_is_followed_by_a_look_at_it(tmp_path, monkeypatch, there):
    """Beside what is published, where that is of the scale below an overlay."""
    monkeypatch.setattr(closing, "PUBLISHED", tmp_path)
    if there:
        (tmp_path / "lite").mkdir()
    overlay = {"name": "mine", "experiments": {"stack_language": {"training": {"epochs": 3}}}}
    plan = plan_of(tmp_path, overlay=overlay)
    *_, last = closing.closing(plan, JobProgress(), ["stack_language"])
    assert last.endswith("PUBLISHED=1)" if there else "makes a report of what is done")


def test_a_run_that_came_from_the_store_is_no_training(tmp_path):
    progress = JobProgress(lambda: 0.0)
    plan = plan_of(tmp_path)
    logs = Path(plan.folder, "logs/train/toy/soft")
    logs.mkdir(parents=True)
    for number, said in enumerate((f"run 12 {STORED}", "update 10", f"run 13 {STORED}")):
        (logs / f"seed-{number}.log").write_text(f"{said}\n")
        wildcards = {"experiment": "toy", "variant": "soft", "seed": str(number)}
        start = {"jobid": number, "rule_name": "train", "wildcards": wildcards}
        progress.note({"event": LogEvent.JOB_INFO, **start})
        progress.note({"event": LogEvent.JOB_FINISHED, "job_id": number})
    first, *_ = closing.closing(plan, progress, ["stack_language"])
    assert first.endswith("3 jobs, 1 of them trainings (2 more runs came from the store), in 0 s")
