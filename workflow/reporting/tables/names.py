"""Names of tables as readers see them: the paper's own order, and symbols as such."""

import re
from collections.abc import Sequence
from unicodedata import normalize

from workflow.reporting.prose import MARKED, SYMBOL, letter_of

RAISED = {"uf": "ᵘᶠ", "px": "ᵖˣ", "fr": "ᶠʳ", "log": "ˡᵒᵍ", "opt": "ᵒᵖᵗ", **MARKED}
"""Indices as signs."""
KINDS = ("Table", "Figure", "Section")
"""What has a number, in the order of a report."""
NUMBERED = re.compile(r"(Table|Figure|Section) ([A-Z]?[\d.]*\d)\b")


def symbols(text: str) -> str:
    """Return a text with mathematical symbols in the place of their names, without any markup.

    `A(alpha,beta_uf)` becomes `A(α,βᵘᶠ)`; names with another index stay.
    """
    return SYMBOL.sub(_symbol, text)


def _symbol(found: re.Match[str]) -> str:
    letter, index = letter_of(found)
    if index and index not in RAISED:
        return found[0]
    return normalize("NFC", letter + RAISED.get(index, ""))


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
