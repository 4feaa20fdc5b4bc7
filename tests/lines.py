"""Which lines of the project the suite has run, by SlipCover: python -m pytest -n 2 -p tests.lines.

Each worker of pytest-xdist notes its own; the sum is told at the end, and below `LEAST` the suite
fails. What tests start as other processes is not counted, as most of scripts and equivalence.
"""

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from slipcover import FileMatcher, ImportManager, Slipcover, merge_coverage, print_coverage

IN_PROCESS = (
    *("datasets", "definitions", "lent", "planning"),
    *("reporting", "runtime", "terminal", "trained"),
)
SOURCE = ["model", *(f"workflow/{room}" for room in IN_PROCESS)]
UNCOUNTED = ["if TYPE_CHECKING:", r"^\s*\.\.\.$"]
LEAST = 90
"""Percent."""
WORKER = "PYTEST_XDIST_WORKER" in os.environ

lines = Slipcover(source=SOURCE, exclude_also=UNCOUNTED)
total: dict[str, Any] = {}
if WORKER:
    # Here, not in a hook: what is imported before is not counted.
    ImportManager(lines, FileMatcher(sources=SOURCE)).__enter__()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand a worker's lines over; judge the sum."""
    if WORKER:
        session.config.workeroutput["lines"] = json.dumps(lines.get_coverage())
    elif total and total["summary"]["percent_covered"] < LEAST:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add the lines of a worker that ends."""
    told = json.loads(node.workeroutput["lines"]) if hasattr(node, "workeroutput") else None
    if told and total:
        merge_coverage(total, told)
    elif told:
        total.update(told)


@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary() -> Iterator[None]:
    """Tell the lines that no test has run."""
    yield
    if total:
        print_coverage(total, outfile=sys.stdout, skip_covered=True)
        print(f"{total['summary']['percent_covered']:.1f} % of lines; at least {LEAST} are wanted")
