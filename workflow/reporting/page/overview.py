"""What a reader sees first: of each paper what was found, how its numbers fared, and one figure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workflow.definitions.references import Reference
from workflow.planning.run_files import RunRecord
from workflow.reporting.claims.judged import KINDS, OUTCOMES
from workflow.reporting.page.claims import ShownClaim, decided
from workflow.reporting.page.figures import ShownFigure
from workflow.reporting.page.headline import Headline
from workflow.reporting.page.marks import Share, shares
from workflow.reporting.page.tables import ShownTable
from workflow.reporting.statistics.verdict import JUDGED

GOOD_FOR: Mapping[str, str] = {
    "demo": "This scale shows that everything works, in minutes and without a network. Its tasks "
    "are small and its data are generated: none of its numbers can be compared with a paper's.",
    "lite": "This scale runs on real data, in days. Where the papers' own setting needs a "
    "GPU it trains for less, or on smaller or other data; each verdict says so. It decides claims "
    "and compares numbers, except those that need full size.",
    "paper": "This scale is the papers' own setting. Its numbers compare directly with theirs.",
}
"""What each scale is good for."""


@dataclass(frozen=True)
class Card:
    """A paper at a glance."""

    reference: Reference
    finding: str
    numbers: Sequence[Share]
    """Printed numbers that ours stand beside, each measurement once, by verdict."""
    claims: Sequence[Share]
    decided: Sequence[ShownClaim]
    """Those of its claims that are decided, those that do not hold first."""
    figure: ShownFigure | None
    first: str
    """The address of the first of its tables."""
    tables: int
    """That have a number of ours."""
    runs: int
    minutes: float
    """Of training."""


def failed(cards: Iterable[Card]) -> str:
    """Say what the claims that do not hold were tried on; nothing where all hold."""
    claims = [one.claim for card in cards for one in card.decided]
    kinds = Counter(one.kind for one in claims if one.outcome == "does not hold")
    shown = ", ".join(f"{kind} ({kinds[kind]})" for kind in KINDS if kinds[kind])
    return f"Those that do not hold were tried on {shown}." if shown else ""


def cards(
    papers: Iterable[Mapping[str, Any]],
    headline: Headline | None,
    runs: Mapping[str, RunRecord],
    comparable: bool,
) -> list[Card]:
    """Return a card of each reference of the papers on the page.

    Args:
        papers: what the page shows of them.
        headline: what came out, in words and counted.
        runs: by identity.
        comparable: whether the scale's numbers and claims mean anything.
    """
    findings = {one.reference.key: one for one in headline.findings} if headline else {}
    made = []
    for paper in papers:
        if reference := paper["reference"]:
            tables: list[ShownTable] = paper["tables"]
            claims: list[ShownClaim] = [one for one in paper["claims"] if not one.claim.check]
            behind = {one for table in tables for one in table.identities}
            behind |= {one for claim in claims for one in claim.claim.runs}
            found = findings.get(reference.key)
            figures: list[ShownFigure] = [
                one for one in paper["figures"] if one.name == reference.figure and one.identities
            ]
            seconds = [runs[one].get("device_seconds") or 0 for one in behind if one in runs]
            made.append(
                Card(
                    reference=reference,
                    finding=found.text if found and comparable else "",
                    numbers=shares(found.numbers, JUDGED) if found and comparable else [],
                    claims=shares([one.mark.word for one in claims], OUTCOMES)
                    if comparable
                    else [],
                    decided=decided(claims) if comparable else [],
                    figure=figures[0] if figures else None,
                    first=tables[0].address if tables else paper["key"],
                    tables=sum(bool(table.identities) for table in tables),
                    runs=len(seconds),
                    minutes=sum(seconds) / 60,
                )
            )
    return made
