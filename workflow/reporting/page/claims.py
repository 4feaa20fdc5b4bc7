"""A claim as the page shows it: what was compared, its interval as a picture, and its runs."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from workflow.definitions.paper import Paper
from workflow.definitions.references import key_of
from workflow.files import read_json
from workflow.reporting.cells import RunOrigin, value_of
from workflow.reporting.claims.caveats import Caveats
from workflow.reporting.claims.judged import JudgedClaim, read_claims
from workflow.reporting.claims.markdown import counted, difference, sides
from workflow.reporting.page.charts import whisker
from workflow.reporting.page.marks import Mark
from workflow.reporting.page.runs import addresses
from workflow.reporting.statistics.decisions import DECIDED

ORDER = ("does not hold", "no difference", "holds", "undecided", "undecidable", "not run")
"""Of claims on the page, by verdict."""


@dataclass(frozen=True)
class ShownClaim:
    """What the page shows of a claim beside what it holds itself."""

    claim: JudgedClaim
    address: str
    source: str
    """The key of the paper that claims it."""
    mark: Mark
    sides: str
    difference: str
    counted: str
    short: str
    """What it says, in a few words."""
    picture: Markup
    """Its interval, where it has one: right of the middle is as claimed."""
    seeds: str
    runs: Sequence[str]
    """The entries of the runs behind it."""
    caveats: Sequence[str]

    @property
    def link(self) -> str:
        """The entry of the first run behind it, its own where the measure has no value in any."""
        return self.runs[0] if self.runs else self.address

    @property
    def banded(self) -> bool:
        """Whether it claims a difference within a band."""
        return len(self.claim.asked.edges) > 1

    @property
    def clearness(self) -> float:
        """How far the estimate is from what the claim asks for, in half-widths of the interval."""
        if not self.claim.interval or self.claim.estimate is None:
            return 0.0
        low, high = self.claim.interval
        distance = min(abs(self.claim.estimate - edge) for edge in self.claim.asked.edges)
        return 2 * distance / (high - low) if high > low else math.inf


def shown(paper: Paper, file: Path, caveats: Caveats) -> list[ShownClaim]:
    """Return what the page shows of a paper's judged claims, the decided ones first.

    Of those that do not hold the clearest is first.
    """
    runs = read_json(file)["runs"]
    short = {one["id"]: one.get("short", "") for one in paper.claims.get("claims", [])}
    claims = [
        _shown(paper.name, claim, short.get(claim.id, ""), runs, caveats.of(claim))
        for claim in read_claims(file)
    ]

    def place(one: ShownClaim) -> tuple[int, float]:
        failed = one.claim.verdict == "does not hold"
        return ORDER.index(one.claim.verdict), -one.clearness if failed else 0.0

    return sorted(claims, key=place)


def decided(claims: Iterable[ShownClaim]) -> list[ShownClaim]:
    """Return the papers' own claims that are decided, those that do not hold first."""
    return [one for one in claims if one.claim.verdict in DECIDED and not one.claim.check]


def _shown(
    paper: str,
    claim: JudgedClaim,
    short: str,
    runs: Mapping[str, RunOrigin],
    caveats: Sequence[str],
) -> ShownClaim:
    return ShownClaim(
        claim=claim,
        address=f"claim/{paper}/{claim.id}",
        short=short or re.sub(r" \([^)]*\)", "", claim.claim).rstrip("."),
        source=key_of(claim.source),
        mark=Mark(claim.outcome),
        sides=" vs ".join(sides(claim)),
        difference=difference(claim),
        counted=counted(claim),
        picture=Markup(_picture(claim)),
        seeds=_seeds(claim.seeds),
        runs=addresses(claim.runs, runs),
        caveats=caveats,
    )


def _picture(claim: JudgedClaim) -> str:
    """Return the interval beside what the claim asks for, and the paper's difference."""
    if not claim.interval or claim.estimate is None:
        return ""
    sign, middle = -1 if claim.direction == "less" else 1, claim.margin
    if claim.direction == "equal":
        middle = 0.0
    edges = [sign * (edge - middle) for edge in claim.asked.edges]
    low, high = sorted(sign * (end - middle) for end in claim.interval)
    compared = " and ".join(f"{edge:g}" for edge in claim.asked.edges)
    said = f"95 % interval {difference(claim)}, to compare with {compared}"
    printed = printed_difference(claim)
    if printed is not None:
        said += f"; the paper's: {printed:+.{claim.digits}f}"
        printed = sign * (printed - middle)
    return whisker(
        (low, high),
        sign * (claim.estimate - middle),
        printed,
        edges,
        said,
        Mark(claim.verdict).look,
    )


def printed_difference(claim: JudgedClaim) -> float | None:
    """Return the difference of the two numbers that the paper prints, or of one to a fixed value.

    None where it does not print them.
    """
    values = [value_of(text) for text in claim.paper.split(" vs ")]
    if len(values) == 1 and claim.right.variant is None:
        values.append(claim.right.mean)
    left, right = values if len(values) == 2 else (None, None)
    return left - right if isinstance(left, float) and isinstance(right, float) else None


def _seeds(seeds: Sequence[int]) -> str:
    """Return seeds as text, three or more in a row as `0 to 19`."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))
