"""Claims as a Markdown table: claim, paper, ours, verdict, and what decided it."""

from collections.abc import Callable, Iterable, Sequence

from workflow.files import markdown_cell
from workflow.planning.equivalents import TIMES
from workflow.reporting.claims.judged import KINDS, JudgedClaim
from workflow.reporting.statistics.decisions import without_spread

MOST_DIGITS = 9
OPEN = ("undecided", "undecidable")
LEANS = {"holds": "points towards", "does not hold": "points against"}
"""What is said of an undecided claim whose interval answers it."""
COUNTED = {"examples": "example", "corpora": "sentence"}
"""What one pair is, by what a claim is over."""


def difference(claim: JudgedClaim) -> str:
    """Return a claim's difference with its 95 % interval, empty if it was not run."""
    return f"{_difference(claim)}{_of_one_seed(claim)}"


def _difference(claim: JudgedClaim) -> str:
    if claim.estimate is None:
        return ""
    shown = _signed(claim, claim.estimate)
    if claim.interval:
        shown += f" [{', '.join(_signed(claim, end) for end in claim.interval)}]"
    return shown


def _of_one_seed(claim: JudgedClaim) -> str:
    """Return what the interval of a single seed is over, which looks decisive without it."""
    alone = claim.interval and claim.over in COUNTED and len(claim.seeds) == 1
    return ", test set only" if alone else ""


def _signed(claim: JudgedClaim, value: float) -> str:
    """Return a number of a claim, rounded, but never to 0 or to the margin: its side decides."""
    digits = claim.digits
    marks = [mark for mark in (0, *claim.asked.edges) if value != mark]
    while digits < MOST_DIGITS and any(
        round(value, digits) == round(mark, digits) for mark in marks
    ):
        digits += 1
    return f"{value:+.{digits}f}"


def counted(claim: JudgedClaim) -> str:
    """Return what a claim's interval is over, and on what else than CPUs its runs were trained.

    Of a claim on speeds the kind of machine is always told.
    """
    shown, runs = _over(claim), sum(claim.devices.values())
    others = {kind: count for kind, count in claim.devices.items() if kind != "cpu"}
    if not others and claim.unit in TIMES:
        return f"{shown}; on a CPU"
    told = [
        f"on {kind}" if count == runs else f"{count} of {runs} runs on {kind}"
        for kind, count in others.items()
    ]
    return "; ".join([shown, *told])


def _over(claim: JudgedClaim) -> str:
    """Return what a claim's interval is over, and each seed's difference beside a test set."""
    looks = f" (looks: {', then '.join(map(str, claim.looks))})" if claim.looks else ""
    if claim.over == "proportions":
        return f"{claim.n} runs{looks}"
    seeds = len(claim.seeds)
    shown = f"{seeds} seed{'s' * (seeds != 1)}{looks}"
    if claim.over == "runs":
        return shown
    one = COUNTED[claim.over]
    shown = f"{claim.n:,} {one}{'s' * (claim.n != 1)}, {shown}"
    if seeds > 1:
        shown += f": {', '.join(_signed(claim, value) for value in claim.by_seed)}"
    return shown


def sides(claim: JudgedClaim) -> list[str]:
    """Return what was compared: each side's label, mean and, of a proportion, the counts."""
    shown = []
    for side in (claim.left, claim.right):
        counts = "" if side.runs is None else f" ({side.count} of {side.runs} runs)"
        mean = "–" if side.mean is None else f"{side.mean:.{claim.digits}f}{counts}"
        shown.append(f"{side.label}: {mean}")
    return shown


def leaning(claim: JudgedClaim) -> str:
    """Return which way an undecided claim points: its whole interval lies on one side.

    Over proportions, all of its runs, two or more a side, speak alike. Else nothing.
    """
    ends = claim.interval
    if claim.over == "proportions" and claim.estimate is not None:
        ends = (claim.estimate, claim.estimate) if _agree(claim) else None
    if ends is None or claim.verdict != "undecided":
        return ""
    return LEANS.get(claim.asked.answer(ends), "")


def _agree(claim: JudgedClaim) -> bool:
    """Return whether all runs of a side end alike; those of two sides not as the other's."""
    sides = [side for side in (claim.left, claim.right) if side.runs]
    ends = [(side.count or 0) / side.runs for side in sides if side.runs and side.runs > 1]
    return len(ends) == len(sides) and {*ends} <= {0, 1} and len({*ends}) == len(ends)


COLUMNS = ("claim", "ours", "compared with", "difference [95 %]", "from", "the paper's", "verdict")


def claims_table(
    claims: Sequence[JudgedClaim], caveats: Callable[[JudgedClaim], list[str]] = lambda claim: []
) -> str:
    """Return claims as a Markdown table with the columns COLUMNS, and their caveats."""
    rows = [_cells(claim, caveats(claim)) for claim in claims]
    lines = [COLUMNS, ("---",) * len(COLUMNS), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def total(claims: Iterable[JudgedClaim], words: str) -> str:
    """Return how many of some claims are papers' own, what `words` say of them, and the checks."""
    checks = [claim.check for claim in claims]
    own, others = checks.count(False), checks.count(True)
    also = f", and {others} check{'s' * (others > 1)}" if others else ""
    return f"{own} {words.format('claim' + 's' * (own != 1))}{also}"


def _cells(claim: JudgedClaim, caveats: list[str]) -> list[str]:
    known = claim.estimate is not None
    ours = [*sides(claim), _shown(claim), counted(claim)] if known else ["–"] * 4
    cells = [f"{claim.claim} ({claim.source})", *ours, claim.paper or "–", _verdict(claim, caveats)]
    return [markdown_cell(cell) for cell in cells]


def _shown(claim: JudgedClaim) -> str:
    """Return the difference with its unit, and what a claim of more than a sign asks for.

    Of a proportion stands there what is counted (`fraction copied`).
    """
    counts = claim.over == "proportions"
    unit = f" {claim.label if counts else claim.unit}" if counts or claim.unit != "fraction" else ""
    shown = f"{_difference(claim)}{unit}{_of_one_seed(claim)}"
    if claim.margin:
        shown += f", {_asked(claim)}"
    return f"{shown} (none if within ±{claim.interest:g})" if claim.interest else shown


def _asked(claim: JudgedClaim) -> str:
    """Return what a claim with a margin asks for (`asked: at most 2 below`)."""
    size, above = f"{abs(claim.margin):g}", claim.margin > 0
    if claim.direction == "equal":
        return f"asked: within ±{size}"
    allowed = above == (claim.direction == "less")
    return f"asked: {'at most' if allowed else 'more than'} {size} {'above' if above else 'below'}"


def _verdict(claim: JudgedClaim, caveats: list[str]) -> str:
    remarks = []
    if claim.verdict == "undecided":
        remarks.append(_doubt(claim))
    if claim.verdict in OPEN and claim.needed:
        remarks.append(_too_small(claim))
    remarks += limits(claim, caveats)
    return f"**{claim.verdict}**" + (f" ({'; '.join(remarks)})" if remarks else "")


def limits(claim: JudgedClaim, caveats: list[str]) -> list[str]:
    """Return where an undecided claim points, and what limits a claim or its verdict."""
    leans = [f"{way} the claim"] if (way := leaning(claim)) else []
    about = claim.hindrances or [claim.kind][claim.kind == KINDS[0] :]
    return [*leans, *about, *filter(None, [claim.below]), *caveats]


def evidence(claim: JudgedClaim) -> str:
    """Return what was compared, the difference with its interval, and over what that is."""
    if claim.estimate is None:
        return "–"
    return f"{' vs '.join(sides(claim))}: {_shown(claim)}; {counted(claim)}"


def would_decide(claim: JudgedClaim) -> str:
    """Return what could decide a claim that is not decided, or why nothing can yet."""
    if claim.needed:
        one_by_one = claim.verdict == "undecided" and claim.over != "proportions"
        doubt = f"{_doubt(claim)}; " if one_by_one else ""
        return f"Not decided: {doubt}{_too_small(claim)}"
    runs, seeds = claim.over == "proportions", len(claim.seeds)
    of_left = (claim.left.runs or 0) if runs else seeds
    past = len(claim.looks) - claim.looks[::-1].index(of_left) if of_left in claim.looks else 0
    if later := [look for look in claim.looks[past:] if look > of_left]:
        return f"The next look, at {later[0]} {'runs' if runs else 'seeds'}, could decide it"
    if claim.looks:
        return f"Not decided at its last look ({_doubt(claim)})"
    if not runs and seeds < 2:
        return "A second seed could decide it"
    return f"More {'runs' if runs else 'seeds'} could decide it ({_doubt(claim)})"


def _too_small(claim: JudgedClaim) -> str:
    """Say which difference a test set is too small to show, and how large it has to be.

    Of proportions, how many runs could decide.
    """
    if claim.over == "proportions":
        sides = " a side" if claim.right.runs else ""
        return f"{claim.needed} runs{sides} could decide, if all agree"
    needed, one = f"{float(f'{claim.needed:.2g}'):,.0f}", COUNTED[claim.over]
    effect = claim.asked.effect
    seeds = "with these seeds" if claim.verdict == "undecided" else "whatever the seeds"
    need = f"the test set alone would need {needed}"
    if claim.enough:
        need += f"; {claim.enough} seeds with this spread would do"
    return f"too few {one}s to show a difference of {effect:g} {seeds} ({need})"


def _doubt(claim: JudgedClaim) -> str:
    """Return in two or three words why a claim is undecided."""
    if claim.estimate is None:
        return "undefined"
    equal = claim.direction == "equal"
    contains = f"interval {'reaches beyond ±' if equal else 'contains '}{claim.margin:g}"
    if claim.over == "proportions":
        if 1 in (claim.left.runs, claim.right.runs):
            return "one run"
        low, high = claim.interval or (claim.margin, claim.margin)
        return contains if low <= claim.margin <= high else claim.reason
    if len(claim.seeds) < 2:
        return "one seed"
    if without_spread(claim.by_seed):
        return "seeds without spread"
    if claim.crossed and claim.p is None and not claim.looks:
        return "one pair of trainings"
    if claim.looks and claim.p is None:
        return "between two looks"
    few = "two seeds: " if len(claim.seeds) == 2 else ""
    return f"{few}{contains}" if claim.interval else "no interval"
