"""Texts of definitions as a page of one scale shows them: symbols, and nothing on the demo."""

import re

LETTERS = {"alpha": "α", "beta": "β", "theta": "θ", "Delta": "Δ", "tau": "τ", "xi": "ξ"}
SYMBOL = re.compile(rf"(?<![\w./])(?:({'|'.join(LETTERS)})(?:_([a-z]+))?|A[-_](hat))(?![\w/])")
MARKED = {"hat": "\u0302", "star": "*"}
"""An index that is a mark upon or beside its letter."""
ASIDE = re.compile(r",? \([^()]*\bdemo\b[^()]*\)")
SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z“])")


def symbols(text: str) -> str:
    """Return a text with symbols as the papers write them; what is in backticks stays as it is.

    `A(alpha, beta_uf)` is A(α, β<sup>uf</sup>), and `A_hat` is Â.
    """
    parts = text.split("`")
    return "`".join(part if at % 2 else SYMBOL.sub(_symbol, part) for at, part in enumerate(parts))


def letter_of(found: re.Match[str]) -> tuple[str, str]:
    """Return the letter of a symbol that `SYMBOL` found, and its index or nothing."""
    return LETTERS.get(found[1], "A"), found[2] or found[3] or ""


def _symbol(found: re.Match[str]) -> str:
    letter, index = letter_of(found)
    return letter + (MARKED.get(index) or f"<sup>{index}</sup>" if index else "")


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
