"""Texts of definitions as a page of one scale shows them: symbols, and nothing on the demo."""

import re
from unicodedata import normalize

LETTERS = {"alpha": "α", "beta": "β", "theta": "θ", "Delta": "Δ", "tau": "τ", "xi": "ξ"}
SYMBOL = re.compile(rf"(?<![\w./])(?:({'|'.join(LETTERS)})(?:_([a-z]+))?|A[-_](hat))(?![\w/])")
RAISED = {"uf": "ᵘᶠ", "px": "ᵖˣ", "fr": "ᶠʳ", "log": "ˡᵒᵍ", "opt": "ᵒᵖᵗ"}
RAISED |= {"hat": "\u0302", "star": "*"}
"""Indices as signs; the last two are marks upon or beside their letter."""
LARGE = re.compile(r"(?<![\w.,])\d{5,}(?![\w.,])")
ASIDE = re.compile(r",? \([^()]*\bdemo\b[^()]*\)")
SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z“])")


def symbols(text: str) -> str:
    """Return a text with symbols in the place of their names; what is in backticks stays as it is.

    `A(alpha, beta_uf)` is A(α, βᵘᶠ), and `A_hat` is Â; names with another index stay.
    """
    parts = text.split("`")
    return "`".join(part if at % 2 else SYMBOL.sub(_symbol, part) for at, part in enumerate(parts))


def _symbol(found: re.Match[str]) -> str:
    index = found[2] or found[3]
    if index and index not in RAISED:
        return found[0]
    return normalize("NFC", LETTERS.get(found[1], "A") + RAISED.get(index, ""))


def thousands(text: str) -> str:
    """Return a text whose whole numbers of five digits or more have separators (12,231,782)."""
    return LARGE.sub(lambda found: f"{int(found[0]):,}", text)


def without_demo(text: str) -> str:
    """Return a text without its sentences, clauses and asides on the demo."""
    kept = []
    for sentence in SENTENCE.split(ASIDE.sub("", text)):
        clauses = [one for one in sentence.split("; ") if not re.search(r"\bdemo\b", one)]
        kept += ["; ".join(clauses).rstrip(".") + "."] if clauses else []
    return " ".join(kept)


def shortened(text: str, words: int) -> tuple[str, str]:
    """Return the sentences that a text begins with, as far as `words` allow, and the others.

    The first is among them however long it is.
    """
    first, *others = SENTENCE.split(text)
    while others and len(f"{first} {others[0]}".split()) <= words:
        first += f" {others.pop(0)}"
    return first, " ".join(others)
