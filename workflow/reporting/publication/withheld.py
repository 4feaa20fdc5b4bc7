"""Runs that are published and count in nothing, as their results are in doubt."""

import csv
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from workflow import ROOT

RULES = ROOT / "workflow" / "withheld.tsv"
"""A line has a pattern of runs (`<experiment>/<variant>/seed-<n>`), the device that trained them,
and why they are withheld."""


def withheld(key: str, device: object) -> str | None:
    """Return why a run that a device trained is withheld, None where it counts."""
    for runs, trained_on, why in _rules(RULES):
        if device == trained_on and fnmatch(key, runs):
            return f"withheld: {why}"
    return None


@cache
def _rules(file: Path) -> list[tuple[str, str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return [
            (one["runs"], one["device"], one["why"])
            for one in csv.DictReader(lines, dialect="excel-tab")
        ]
