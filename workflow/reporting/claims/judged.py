"""A claim with its decision, as it stands in the JSON of its paper, and its kind.

The kind says what it was tried on: the paper's setting, shorter training, or other data.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, cast

from workflow.definitions.claims import Claim, ComparedVariant
from workflow.files import read_json
from workflow.planning.departures import Departures, Deviation
from workflow.reporting.statistics.decisions import DECIDED, VERDICTS, Hypothesis

BY_DEPARTURE: dict[Deviation, str] = {
    "none": "the paper's setting",
    "shorter": "the paper's data, shorter training",
    "other data": "smaller or other data",
    "absent": "data not here in full",
}
TASK, READING = "another task", "another reading"
KINDS = (*list(BY_DEPARTURE.values())[:-1], TASK, READING, BY_DEPARTURE["absent"])
"""In the order in which they are counted."""
ELSEWHERE = (BY_DEPARTURE["other data"], TASK)
"""What is decided of these kinds speaks of other data or of another task than the paper does."""
OUTCOMES = (*DECIDED, *(f"{verdict} elsewhere" for verdict in DECIDED), *VERDICTS[len(DECIDED) :])
"""The verdicts, with those on other data or on another task apart."""


def kind_of(claim: Claim, departures: Departures) -> str:
    """Return the kind of a claim, one of `KINDS`: what the scales tell, else what it states."""
    sides = (claim["left"], cast(ComparedVariant, claim["right"]))
    variants = [side["variant"] for side in sides if "variant" in side]
    found, stated = departures.of(claim["experiment"], variants), claim.get("kind", "")
    return stated if stated and found != "absent" else BY_DEPARTURE[found]


@dataclass(frozen=True)
class ClaimSide:
    """What a claim compares: a variant over its runs, or a fixed value."""

    label: str
    variant: str | None = None
    mean: float | None = None
    count: int | None = None
    """Over proportions: in how many runs the measure is 1."""
    runs: int | None = None
    """Over proportions: of how many."""


@dataclass(frozen=True)
class JudgedClaim:
    """What is claimed, what was compared, and what its test says; see `decisions.Decision`."""

    id: str
    source: str
    label: str
    unit: str
    claim: str
    digits: int
    over: str
    direction: str
    margin: float
    interest: float | None
    """The smallest difference of interest, where it names one."""
    kind: str
    """One of `KINDS`."""
    headline: bool
    check: bool
    """Whether it is ours, and no claim of the paper."""
    family: str
    """What it is one of, beside others that are corrected together with it, if it is."""
    paper: str
    """What the paper prints for the two sides, or nothing."""
    verdict: str
    reason: str
    estimate: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    by_seed: tuple[float, ...]
    p: float | None
    """As `needed`, see `decisions.Decision`."""
    needed: int | None
    enough: int | None
    looks: list[int]
    """The numbers of seeds at which it is decided, where there are several."""
    left: ClaimSide
    right: ClaimSide
    seeds: list[int]
    devices: dict[str, int]
    """On what the runs were trained, and how many."""
    hindrances: list[str]
    below: str
    """Which sides are below its baseline, and that, where it has one."""
    measures: list[str]
    runs: list[str]
    partners: list[str]
    crossed: bool
    """Whether its seeds are not independent, see `measures.crossed`."""
    fragile: int | None
    """Of a decided claim, the number of seeds without which, each left out alone, the verdict is
    another, at the level of one look; over proportions, the number of runs."""

    @property
    def outcome(self) -> str:
        """The verdict, one of `OUTCOMES`: what is decided elsewhere says so."""
        apart = self.kind in ELSEWHERE and self.verdict in DECIDED
        return f"{self.verdict} elsewhere" if apart else self.verdict

    @property
    def asked(self) -> Hypothesis:
        """What it asks of its difference, at one look."""
        return Hypothesis(self.direction, self.margin, self.interest)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the difference, None where there is none."""
        return None if self.ci_low is None or self.ci_high is None else (self.ci_low, self.ci_high)

    def told(self) -> dict[str, Any]:
        """Return the claim as JSON; sides that are no proportions have no counts."""
        told = asdict(self)
        for side in (told["left"], told["right"]):
            for name in ("count", "runs"):
                if side[name] is None:
                    del side[name]
        return told

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "JudgedClaim":
        """Read a claim that `told` wrote, here or before it had all of its fields."""
        later: dict[str, Any] = {
            "devices": {},
            "looks": [],
            "crossed": False,
            "below": "",
            "family": "",
        }
        later |= dict.fromkeys(("p", "needed", "enough", "fragile"))
        told = {**later, **told}
        sides = {side: ClaimSide(**told[side]) for side in ("left", "right")}
        return cls(**{field.name: told[field.name] for field in fields(cls)} | sides)


def claims_in(files: Iterable[Path]) -> list[JudgedClaim]:
    """Return the claims of several papers' JSON files, in the order of the files' names."""
    return [claim for path in sorted(files) for claim in read_claims(path)]


def read_claims(path: Path) -> list[JudgedClaim]:
    """Read the judged claims of a paper."""
    return [JudgedClaim.of(told) for told in read_json(path)["claims"]]
