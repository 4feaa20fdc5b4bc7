"""What `claims.yaml` may say, its checks, and the runs that the claims are about."""

from collections.abc import Iterator
from typing import Annotated, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from workflow.definitions.names import Runs, require_known, require_unique
from workflow.definitions.values import (
    AboveZero,
    Digits,
    MetricPath,
    Name,
    NonEmptyText,
    Number,
    Place,
    closed,
)
from workflow.runtime.errors import InputError

Outcome = Literal["holds", "does not hold", "no difference", "undecided", "undecidable", "not run"]
"""What comes of a claim; the first three decide it."""
Remark = Literal[
    "points towards",
    "points against",
    "holds, not after Benjamini-Hochberg",
    "does not hold, not after Benjamini-Hochberg",
]

PAIRED = ("runs", "examples")
SeedsAtLook = Annotated[int, Field(ge=2)]


@closed
class ComparedVariant(TypedDict):
    """The runs of one variant."""

    variant: str
    """whose runs they are"""
    label: str
    """its name in the sentence"""
    measure: NotRequired[MetricPath]
    """in place of the claim's"""
    beyond: NotRequired[str]
    """a variant, such as an untrained one, whose measure of the same seed (of examples: of the same
    example) is taken off"""
    times: NotRequired[Annotated[float, Field(gt=0)]]
    """what its measure is multiplied by, over runs"""


@closed
class Constant(TypedDict):
    """A number to compare with."""

    value: Number
    """in the unit of the measure"""


@closed
class Theirs(TypedDict):
    """The number that the paper prints for the other side."""

    printed: Literal["left"]
    """the side whose number it is"""


@closed
class SidePlace(Place):
    """Where expected.csv has the paper's number of one side."""

    metric: NotRequired[str]
    """in place of that of both sides"""


@closed
class PrintedSides(TypedDict):
    """The paper's numbers."""

    metric: str
    """its name in expected.csv"""
    left: SidePlace
    """of the left side"""
    right: NotRequired[SidePlace]
    """of the right side"""


@closed
class Baseline(TypedDict):
    """A measure of the same runs that needs no model."""

    measure: MetricPath
    label: str
    """what it is, as `most frequent tag`"""


@closed
class Claim(TypedDict):
    """A sentence of a paper that can be decided."""

    id: Name
    claim: NonEmptyText
    """the sentence"""
    short: NotRequired[Annotated[str, Field(min_length=1, max_length=56)]]
    """what it says, where there is room for a line"""
    source: str
    """the paper's key and section"""
    headline: NotRequired[Literal[True]]
    """whether docs/results.md shows it"""
    check: NotRequired[Literal[True]]
    """whether it is one of ours, that no paper makes"""
    family: NotRequired[NonEmptyText]
    """what it is one of, beside others of that name: they are corrected together, by Holm"""
    experiment: str
    """whose runs it is about"""
    measure: MetricPath
    label: str
    """the measure's name"""
    unit: str
    """of the measure; empty where it has none"""
    digits: Digits
    """behind the point"""
    over: Annotated[Literal["runs", "examples", "proportions", "corpora"], Field(default="runs")]
    """what is compared: pairs of runs, pairs of examples, fractions of runs (the measure is 0 or 1
    and nothing is paired), or corpora of translations (BLEU, by paired bootstrap)"""
    direction: Annotated[Literal["greater", "less", "equal"], Field(default="greater")]
    """what the left side is, beside the right; of `equal` the difference stays below the margin, on
    either side"""
    margin: Annotated[Number, Field(default=0)]
    """the difference to exceed"""
    interest: NotRequired[Literal["half"] | AboveZero]
    """the smallest difference of interest, fixed before the runs: an interval within it is a tie.
    `half` is half of the difference between the two printed numbers"""
    kind: NotRequired[Literal["smaller or other data", "another task", "another reading"]]
    """what the scales do not tell: that the paper makes its claim of other data or of another task,
    or that its words are read in a second way"""
    baseline: NotRequired[Baseline]
    """what a side has to exceed to mean anything; the claim says which does not"""
    left: ComparedVariant
    """what the sentence is about"""
    right: ComparedVariant | Constant | Theirs
    """what it is compared with"""
    printed: NotRequired[PrintedSides]
    """where the paper's numbers stand"""


@closed
class Finding(TypedDict):
    """What came out, in a sentence that stands for as long as claims are decided so."""

    source: str
    """the paper's key"""
    finding: NonEmptyText
    rests_on: Annotated[dict[str, Outcome | Remark], Field(min_length=1)]
    """the verdicts that it tells, by claim; or where what is undecided points, or that a verdict
    does not stand after a correction for many tests"""


@closed
class Claims(TypedDict):
    """The claims of a paper."""

    claims: Annotated[list[Claim], Field(min_length=1)]
    """from the first to the last section"""
    findings: NotRequired[list[Finding]]
    """the headline: of each source those are shown whose verdicts are as they say"""
    looks: NotRequired[dict[str, dict[str, Annotated[list[SeedsAtLook], Field(min_length=2)]]]]
    """by scale and claim, the numbers of seeds (of proportions: of runs of the left side) at which
    it is looked at, in order, where there are several: its intervals are the wider for it"""


def check_claims(claims: Claims, where: str) -> None:
    """Raise InputError for two claims with one id, or sides that cannot be compared."""
    ids = [claim["id"] for claim in claims["claims"]]
    require_unique(where, "claim", ids)
    for finding in claims.get("findings", []):
        require_known(f"{where}: findings", "claim", finding["rests_on"], ids)
    for scale, looks in claims.get("looks", {}).items():
        require_known(f"{where}: looks of {scale}", "claim", looks, ids)
    for claim in claims["claims"]:
        if "printed" in claim["right"] and "printed" not in claim:
            raise InputError(
                f"{where}: claim {claim['id']}: the right side is a printed number; say in "
                "`printed` where it stands"
            )
        if claim["over"] == "corpora" and "variant" not in claim["right"]:
            raise InputError(
                f"{where}: claim {claim['id']}: corpora are compared with corpora; name a variant "
                "on the right, or compare runs"
            )
        if "beyond" in {**claim["left"], **claim["right"]} and claim["over"] not in PAIRED:
            raise InputError(
                f"{where}: claim {claim['id']}: `beyond` takes a control off runs or examples; "
                "drop it, or compare these"
            )
        if "times" in {**claim["left"], **claim["right"]} and claim["over"] != "runs":
            raise InputError(
                f"{where}: claim {claim['id']}: `times` multiplies a number of each run; drop it, "
                "or compare runs"
            )
        groups = claim["over"] == "proportions" and "variant" in claim["right"]
        if groups and claim["margin"]:
            raise InputError(
                f"{where}: claim {claim['id']}: what is tested of proportions is that they are "
                "equal; drop `margin`, or compare with a fixed value"
            )
        if claim["direction"] == "equal" and (
            claim["over"] == "proportions" or claim["margin"] <= 0
        ):
            raise InputError(
                f"{where}: claim {claim['id']}: `equal` needs a margin above 0, over pairs; add "
                "`margin`, or name another `over`"
            )
        if "interest" in claim and claim["margin"]:
            raise InputError(
                f"{where}: claim {claim['id']}: a difference of interest is one from 0; drop "
                "`interest` or `margin`"
            )
        if claim.get("interest") == "half" and "right" not in claim.get("printed", {}):
            raise InputError(
                f"{where}: claim {claim['id']}: half of the printed difference needs the numbers "
                "of both sides in `printed`; name them, or write a number"
            )


def looks_of(claims: Claims, scale: str, claim: str) -> tuple[int, ...]:
    """Return the numbers of seeds at which a claim is looked at, where there are several."""
    return (*claims.get("looks", {}).get(scale, {}).get(claim, ()),)


def claim_runs(claims: Claims) -> Runs:
    """Return the runs behind all claims."""
    pairs = [
        (claim["experiment"], variant)
        for claim in claims["claims"]
        for side in (claim["left"], cast(ComparedVariant, claim["right"]))
        for variant in (side.get("variant"), side.get("beyond"))
        if variant
    ]
    return list(dict.fromkeys(pairs))


def claim_places(claims: Claims) -> Iterator[tuple[str, Place, str]]:
    """Yield every place at which claims look for a number: where it is said, and the metric."""
    for claim in claims["claims"]:
        if "printed" not in claim:
            continue
        printed = claim["printed"]
        sides = {"left": printed["left"]}
        if "right" in printed:
            sides["right"] = printed["right"]
        for side, place in sides.items():
            yield f"claim {claim['id']}, {side}", place, place.get("metric", printed["metric"])
