"""Verdicts as marks, which take less room than words."""

from collections import Counter
from collections.abc import Iterable, Mapping

from workflow.reporting.cells import Cell
from workflow.reporting.statistics.verdict import RANKED

MARKS = {
    "reproduced": "✓",
    "within, one seed": "≈",
    "within, seeds apart": "≈",
    "near": "~",
    "differs": "✗",
    "wide tolerance": "–",
    "second reading": "–",
    "not comparable": "–",
}
"""Of every word that says something of a number of ours; the others have none."""
ABOUT = {
    "≈": "within tolerance, but one seed, or seeds too spread",
    "–": "no verdict: {}",
}
"""What a mark means where its words alone do not say it."""


NAMES = {"≈": "within tolerance", "–": "without a verdict"}
"""What numbers with a mark are, where several words have it."""


def of(judged: Mapping[str, Mapping[str, str]]) -> str:
    """Return the marks of a cell: one where all are equal, else one a number, in their order.

    `judged` has the verdicts by metric, and there by the text that prints a number.
    """
    marks = [
        "/".join(dict.fromkeys(_mark(verdict) for verdict in by_source.values()))
        for by_source in judged.values()
        if by_source
    ]
    return marks[0] if len(set(marks)) == 1 else " ".join(marks)


def counted(cells: Iterable[Cell]) -> str:
    """Say of a table how many numbers beside printed ones have which verdict, the best first.

    One that two papers print counts once, by the worse verdict.
    """
    marked = [cell for cell in cells if cell["expected"] and cell["verdict"] in MARKS]
    marked.sort(key=lambda cell: RANKED.index(cell["verdict"]))
    words = {(cell["row"], cell["metric"]): cell["verdict"] for cell in marked}.values()
    by_mark = Counter(NAMES.get(MARKS[word], word) for word in sorted(words, key=[*MARKS].index))
    each = ", ".join(f"{count} {name}" for name, count in by_mark.items())
    return (
        f"{len(words)} number{'s' * (len(words) > 1)} beside the paper's: {each}." if words else ""
    )


def _mark(verdict: str) -> str:
    """Return the mark of a verdict, with the one that was another before."""
    word, _, former = verdict.removesuffix(")").partition(" (was ")
    mark = MARKS.get(word, "")
    return f"{mark} (was {MARKS[former]})" if former else mark


def legend(verdicts: Iterable[str]) -> list[str]:
    """Say of each mark of some verdicts what it means, the best first."""
    said = {part for one in verdicts for part in one.removesuffix(")").split(" (was ")}
    words: dict[str, list[str]] = {}
    for word, mark in MARKS.items():
        if word in said:
            words.setdefault(mark, []).append(word)
    return [
        f"{mark} {ABOUT.get(mark, '{}').format(' or '.join(known))}"
        for mark, known in words.items()
    ]
