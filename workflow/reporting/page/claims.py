"""A claim as the page shows it: what was compared, its interval as a picture, and its runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from workflow.definitions.references import key_of
from workflow.files import read_json
from workflow.reporting.claims.caveats import Caveats
from workflow.reporting.claims.judged import JudgedClaim, read_claims
from workflow.reporting.claims.markdown import counted, difference, sides
from workflow.reporting.page.charts import whisker
from workflow.reporting.page.marks import Mark
from workflow.reporting.page.runs import addresses


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
    picture: Markup
    """Its interval, where it has one."""
    seeds: str
    runs: Sequence[str]
    """The entries of the runs behind it."""
    caveats: Sequence[str]

    @property
    def link(self) -> str:
        """The entry of the first run behind it, its own where the measure has no value in any."""
        return self.runs[0] if self.runs else self.address


def shown(paper: str, file: Path, caveats: Caveats) -> list[ShownClaim]:
    """Return what the page shows of a paper's judged claims."""
    runs = read_json(file)["runs"]
    return [_shown(paper, one, runs, caveats.of(one)) for one in read_claims(file)]


def _shown(
    paper: str,
    claim: JudgedClaim,
    runs: Mapping[str, Mapping[str, Any]],
    caveats: Sequence[str],
) -> ShownClaim:
    picture = ""
    if claim.interval and claim.estimate is not None:
        edges = claim.asked.edges
        compared = " and ".join(f"{edge:g}" for edge in edges)
        said = f"95 % interval {difference(claim)}, to compare with {compared}"
        picture = whisker(*claim.interval, claim.estimate, edges, said)
    return ShownClaim(
        claim=claim,
        address=f"claim/{paper}/{claim.id}",
        source=key_of(claim.source),
        mark=Mark(claim.verdict),
        sides=" vs ".join(sides(claim)),
        difference=difference(claim),
        counted=counted(claim),
        picture=Markup(picture),
        seeds=_seeds(claim.seeds),
        runs=addresses(claim.runs, runs),
        caveats=caveats,
    )


def _seeds(seeds: Sequence[int]) -> str:
    """Return seeds as text, three or more in a row as `0 to 19`."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))
