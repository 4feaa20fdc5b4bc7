"""Titles of tables as readers see them: in the paper's own order."""

import re
from collections.abc import Sequence

KINDS = ("Table", "Figure", "Section")
"""What has a number, in the order of a report."""
NUMBERED = re.compile(r"(Table|Figure|Section) ([A-Z]?[\d.]*\d)\b")


def number_of(title: str) -> str:
    """Return what a title begins with, as `Table 6.1`, where the paper has it by a number."""
    found = NUMBERED.match(title)
    return found[0] if found else ""


def papers_order(title: str, kinds: Sequence[str] = KINDS) -> tuple[str, list[int]]:
    """Return what sorts titles as papers do: by kind, then by number with appendices last."""
    found = NUMBERED.match(title)
    if not found:
        return str(len(kinds)), []
    letter = re.sub(r"[\d.]", "", found[2])
    kind = kinds.index(found[1])
    return f"{kind}{letter}", [int(part) for part in re.findall(r"\d+", found[2])]
