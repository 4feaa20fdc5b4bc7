"""Comparisons with printed numbers and claims, counted by verdict.

Comparisons of trained models are counted apart from those of data and baselines. Several cells may
show one measurement: it counts once, by its worst verdict; in the row of a paper likewise, if that
paper prints it.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflow.definitions.references import Reference, key_of
from workflow.files import read_sidecar
from workflow.reporting.claims.judged import JudgedClaim
from workflow.reporting.claims.markdown import leans_against, points_against
from workflow.reporting.statistics.cells import Cell, read_cells
from workflow.reporting.statistics.verdict import COMPARED, WORDS

RANKED = ("not run", "not comparable", "second reading", "wide tolerance", *COMPARED)
DECIDED = ("holds", "does not hold")
"""The verdicts on claims that settle them."""


@dataclass(frozen=True)
class Comparison:
    """A number of ours beside a printed one."""

    source: str
    trained: bool
    """Whether it depends on a training; sizes and untrained baselines do not."""
    verdict: str
    measurement: Hashable = None
    """What was measured, see `measurement`; of data and what was not run None."""


def comparisons(folder: Path) -> list[Comparison]:
    """Return the comparisons below a scale's folder, without tables that repeat another."""
    counted: list[Comparison] = []
    for path in sorted((folder / "tables").glob("*/*.csv")):
        sidecar = read_sidecar(path)
        if sidecar.get("repeats"):
            continue
        counted += [
            Comparison(
                source=cell.source,
                trained=trained(sidecar, cell.metric),
                verdict=cell.verdict,
                measurement=measurement(sidecar, told, cell),
            )
            for cell, told in zip(read_cells(path), sidecar["cells"], strict=True)
            if cell.expected and cell.verdict in WORDS and not _repeated(cell)
        ]
    return counted


def _repeated(cell: Cell) -> bool:
    """Say whether a number was not run in the reading that is compared, and so in no other."""
    return cell.flag == "reading" and cell.verdict == "not run"


def measurement(sidecar: Mapping[str, Any], told: Mapping[str, Any], cell: Cell) -> Hashable:
    """Return what tells a cell's measurement from others: runs, quantity and value; None of data.

    One quantity may be measured by several evaluators, in one table as a fraction and in percent in
    another.
    """
    if not told.get("runs"):
        return None
    full, value = sidecar["tolerances"].get(cell.metric, {}).get("full", 1), cell.mean
    shown = f"{value / full:.5g}" if isinstance(value, float) else value
    return (*told["runs"], told["measure"].partition(".")[2], shown)


def once(found: Iterable[Comparison]) -> list[Comparison]:
    """Return every measurement once, by its worst verdict; what was not measured is kept."""
    kept: dict[Hashable, Comparison] = {}
    for place, one in enumerate(sorted(found, key=lambda one: RANKED.index(one.verdict))):
        kept[one.measurement or place] = one
    return list(kept.values())


def trained(sidecar: Mapping[str, Any], metric: str) -> bool:
    """Return whether a table's metric depends on a training, as its tolerance says."""
    rule = sidecar["tolerances"].get(metric, {})
    return "corpora" not in sidecar and rule.get("seed_std") != 0


def said(found: Sequence[Comparison]) -> str:
    """Return how many comparisons got which verdict, in a few sentences."""
    found = once(found)

    def of(wanted: Callable[[Comparison], bool]) -> tuple[int, str]:
        counted = Counter(one.verdict for one in found if wanted(one))
        words = [f"{counted[word]} `{word}`" for word in COMPARED]
        return sum(counted[word] for word in COMPARED), ", ".join(words)

    models, of_models = of(_compared)
    others, of_others = of(lambda one: not one.trained)
    rest = Counter(one.verdict for one in found)
    return (
        f"{models} comparisons of trained models with printed numbers: {of_models}; "
        f"{others} of data and baselines: {of_others}. "
        f"{rest['wide tolerance']} more have so wide a tolerance that no verdict is given, "
        f"{rest['second reading']} are second readings, {rest['not comparable']} are not "
        f"comparable, and {rest['not run']} were not run. "
        "What several tables show of one measurement counts once, by its worst verdict."
    )


def claims_said(claims: Sequence[JudgedClaim]) -> str:
    """Return how many claims got which verdict, in a sentence."""
    made = [claim for claim in claims if not claim.check]
    counted, checks = (
        Counter(claim.verdict for claim in claims if claim.check == own) for own in (False, True)
    )
    leaning, against = (sum(map(said_so, made)) for said_so in (leans_against, points_against))
    return (
        f"Of {len(made)} claims {counted['holds']} hold, {counted['does not hold']} do not, "
        f"{counted['undecided']} are undecided (in {leaning} our difference is on the other side "
        f"of what is claimed, in {against} of these with its whole interval), and "
        f"{counted['not run']} were not run. "
        f"Of {checks.total()} checks of our own {checks['holds']} hold."
    )


def by_paper(
    papers: Iterable[Reference], claims: Sequence[JudgedClaim], found: Sequence[Comparison]
) -> str:
    """Return a Markdown table of what was decided and compared of each paper.

    What two papers print counts in the row of each, and it is said how often.
    """
    every = sum(map(_compared, once(found)))
    lines = [
        f"| paper | claims decided | comparisons of trained models: {' / '.join(COMPARED)} "
        "| not run |",
        "| --- | --- | --- | --- |",
    ]
    for paper in papers:
        own = [claim for claim in claims if key_of(claim.source) == paper.key and not claim.check]
        decided = sum(claim.verdict in DECIDED for claim in own)
        printed = once(one for one in found if one.source == paper.key)
        counted = Counter(one.verdict for one in printed if _compared(one))
        every -= counted.total()
        compared = " / ".join(str(counted[word]) for word in COMPARED)
        absent = sum(one.verdict == "not run" for one in printed)
        name = f"[{paper.key}]({paper.link}) {paper.title}"
        lines.append(f"| {name} | {decided} of {len(own)} | {compared} | {absent} |")
    table = "\n".join(lines)
    twice = f"Of these comparisons {-every} count in two rows: both papers print the number."
    return f"{table}\n\n{twice}" if every else table


def _compared(one: Comparison) -> bool:
    """Return whether a trained model was compared."""
    return one.trained and one.verdict in COMPARED
