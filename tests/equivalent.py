"""Lines of equivalence, and a project where they were accepted."""

from typing import Any

import pytest

from workflow.planning.equivalents import STATED, VERDICTS, Equivalents

BITS, ROUNDING = VERDICTS[:2]


def line(
    old: str, new: str, verdict: str = BITS, date: str = "2026-12-01", gpu: str = "unchanged"
) -> dict[str, Any]:
    """Return a line of the file; one that is stated says nothing of a GPU."""
    told = {"old": old, "new": new, "what": "training", "name": "one/small"}
    told |= {"verdict": verdict, "date": date}
    return told if verdict == STATED else told | {"gpu": gpu}


def of(*lines: Any) -> Equivalents:
    """Return what lines in this order say together."""
    return Equivalents((f"line {at}", one) for at, one in enumerate(lines, start=1))


def accept(patch: pytest.MonkeyPatch, *lines: Any) -> None:
    """Let these be the lines of every project."""
    accepted = of(*lines)
    patch.setattr(Equivalents, "read", lambda root: accepted)
