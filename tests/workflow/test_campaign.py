"""The lines of docs/gpu.md that say what a GPU is for name runs, how many, and what they take."""

import re
from pathlib import Path

import pytest

from tests.workflow.pages.guides import ROOT
from workflow import PUBLISHED
from workflow.lent.priority import chosen, planned
from workflow.planning.configured import configured
from workflow.planning.estimator import Estimator
from workflow.planning.plan import Plan
from workflow.runtime.errors import InputError

PAGE = ROOT / "docs/gpu.md"
LINE = re.compile(r"^\| (\d+) \| `([^`]+)` \| (.+) \| (\d+) \| (\d+) \|$", re.M)
LINES = LINE.findall(PAGE.read_text("utf-8"))


def plan_of(folder: Path) -> Plan:
    """The plan of scale lite before anything is made."""
    return configured(ROOT, scale="lite", results=str(folder))


@pytest.mark.parametrize(("number", "runs", "what", "count", "minutes"), LINES)
def test_a_line_names_its_runs_and_what_they_take(tmp_path, number, runs, what, count, minutes):
    plan = plan_of(tmp_path)
    found = {pattern: chosen(plan, [pattern]) for pattern in runs.split()}  # each names some
    every = chosen(plan, [*found])
    estimator = Estimator(plan, True, PUBLISHED)
    takes = sum(planned(plan.duplicate_of(run) or run, estimator) for run in every) / 60
    assert len(every) == int(count)
    assert takes / 1.5 < int(minutes) < 1.5 * takes, f"as planned now, {takes:.0f} minutes"


def test_lines_are_numbered_and_a_pattern_that_names_nothing_is_refused(tmp_path):
    assert [int(number) for number, *_ in LINES] == [*range(1, len(LINES) + 1)] and len(LINES) > 4
    with pytest.raises(InputError):
        chosen(plan_of(tmp_path), ["sparse_translation/iwslt_31_*"])
