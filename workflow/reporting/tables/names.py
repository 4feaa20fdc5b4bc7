"""Names of tables as readers see them: the paper's own order, and symbols as such."""

import re

GREEK = {
    **{"alpha": "α", "beta": "β", "Delta": "Δ", "xi": "ξ", "tau": "τ", "theta": "θ"},
    **{"A_hat": "Â", "A-hat": "Â"},
}
INDICES = {
    **{"uf": "ᵘᶠ", "px": "ᵖˣ", "fr": "ᶠʳ", "log": "ˡᵒᵍ", "opt": "ᵒᵖᵗ"},
    **{"hat": "\u0302", "star": "*"},
}
SYMBOL = re.compile(rf"(?<![\w.])({'|'.join(GREEK)})(?:_({'|'.join(INDICES)}))?(?![\w])", re.ASCII)
NUMBERED = re.compile(r"(Table|Figure|Section) ([A-Z]?[\d.]*\d)\b")


def symbols(text: str) -> str:
    """Return a text with mathematical symbols in the place of their names.

    `A(alpha,beta_uf)` becomes `A(α,βᵘᶠ)`.
    """
    return SYMBOL.sub(lambda found: GREEK[found[1]] + INDICES.get(found[2], ""), text)


def number_of(title: str) -> str:
    """Return what a title begins with, as `Table 6.1`, where the paper has it by a number."""
    found = NUMBERED.match(title)
    return found[0] if found else ""


def papers_order(title: str) -> tuple[str, list[int]]:
    """Return what sorts titles as papers do: tables, figures, sections by number, then others."""
    found = NUMBERED.match(title)
    if not found:
        return "3", []
    kind = {"Table": "0", "Figure": "1", "Section": "2"}[found[1]]
    letter = re.sub(r"[\d.]", "", found[2])
    return kind + letter, [int(part) for part in re.findall(r"\d+", found[2])]
