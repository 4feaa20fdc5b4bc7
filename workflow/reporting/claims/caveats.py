"""What a reader holds against claims: asked when results were known, or not alone."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from workflow.files import read_history
from workflow.reporting.claims import history
from workflow.reporting.claims.history import DatedChanges
from workflow.reporting.claims.judged import JudgedClaim, claims_in
from workflow.reporting.statistics.decisions import DECIDED
from workflow.reporting.statistics.intervals import LEVEL
from workflow.reporting.statistics.multiple import after_benjamini_hochberg, after_holm, holm

ONE_OF_MANY = "not after Benjamini-Hochberg"
EXACT = 9
"""Decimals of a difference that are no rounding of the machine's."""
CROSSED = "seeds share trainings: the interval is too narrow"


class Caveats:
    """The caveats of some claims.

    Args:
        claims: those that are published together. Checks are tests, too, but none of the papers'.
        entries: of the history of claims.

    Attributes:
        in_family: by claim the p that is corrected for all of its family, where it is of one: those
            without a test have a p of 1, so that a family is as large as it was planned.
    """

    def __init__(self, claims: Iterable[JudgedClaim], entries: Iterable[DatedChanges]) -> None:
        claims = [*claims]
        self._made = [one for one in claims if not one.check]
        self._runs = {one.id: {*one.runs} for one in self._made if one.estimate is not None}
        self._tested = [one for one in self._made if one.p is not None]
        self.late = history.late(entries)
        ps = [one.p for one in self._tested if one.p is not None]
        names = [one.id for one in self._tested]
        self.holm = {name for name, stands in zip(names, after_holm(ps), strict=True) if stands}
        after = zip(names, after_benjamini_hochberg(ps), strict=True)
        self.benjamini_hochberg = {name for name, stands in after if stands}
        self._families = Counter(one.family for one in claims if one.family)
        self.in_family: dict[str, float] = {}
        for family in self._families:
            of = {one.id: one.p for one in claims if one.family == family}
            corrected = holm([1.0 if p is None else p for p in of.values()])
            self.in_family |= zip(of, corrected, strict=True)

    @classmethod
    def read(cls, folder: Path) -> "Caveats":
        """Read those of the claims published below a scale's folder."""
        claims = claims_in((folder / "claims").glob("*.json"))
        return cls(claims, read_history(folder / history.NAME))

    def of(self, claim: JudgedClaim) -> list[str]:
        """Return the caveats of a claim in words."""
        words = [CROSSED] * (claim.crossed and claim.interval is not None)
        words += [said] if (said := self._shared(claim)) else []
        words += [self.late[claim.id]] if claim.id in self.late else []
        many = claim.verdict in DECIDED and claim.p is not None and not claim.check
        words += [ONE_OF_MANY] * (many and claim.id not in self.benjamini_hochberg)
        return [*words, *_of_seeds(claim), *self._of_family(claim)]

    def _of_family(self, claim: JudgedClaim) -> list[str]:
        """Say whether a decided claim stands among its family, if it is of one."""
        if claim.verdict not in DECIDED or claim.id not in self.in_family:
            return []
        p, size = self.in_family[claim.id], self._families[claim.family]
        stands = "" if p <= 1 - LEVEL else "not "
        return [f"{stands}after Holm for {size} {claim.family} (p = {p:.2g})"]

    def _shared(self, claim: JudgedClaim) -> str:
        """Say with how many other claims of the papers a claim has runs in common, by identity."""
        others = [runs & {*claim.runs} for name, runs in self._runs.items() if name != claim.id]
        some = sum(bool(runs) for runs in others)
        whole = sum(runs == {*claim.runs} for runs in others if runs)
        if not some:
            return ""
        use = f"{some} other claim{'s use' if some > 1 else ' uses'}"
        if some == whole:
            return f"{use} exactly these runs"
        return f"{use} some of these runs" + f", {whole} exactly these" * (whole > 0)

    @property
    def sentence(self) -> str:
        """Say how many of the decided claims came late, and stand after correction."""
        decided = {one.id for one in self._made if one.verdict in DECIDED}
        if not decided:
            return ""
        tested = decided.intersection(one.id for one in self._tested)
        untested = len(decided) - len(tested)
        rest = f"; {untested} {'have' if untested > 1 else 'has'} no test" if untested else ""
        narrow = sum(one.crossed for one in self._made if one.id in decided)
        fragile = sum(bool(one.fragile) for one in self._made)
        also = f"; {fragile} would change without one of their seeds (fragile)" if fragile else ""
        also += f"; in {narrow} the seeds share trainings" if narrow else ""
        return (
            f"Caution: {len(decided & {*self.late})} of the {len(decided)} decided claims were "
            f"added or reworded after results were known{also}. After correction for multiple "
            f"tests, {len(tested & self.benjamini_hochberg)} (Benjamini-Hochberg) or "
            f"{len(tested & self.holm)} (Holm) of {len(tested)} remain{rest}."
        )


def _of_seeds(claim: JudgedClaim) -> list[str]:
    """Say without how many seeds a verdict is another, and how many alone say the opposite."""
    cases = claim.n if claim.over == "proportions" else len(claim.by_seed)
    words = [f"fragile ({claim.fragile} of {cases})"] if claim.fragile else []
    opposite = {"holds": "does not hold", "does not hold": "holds"}.get(claim.verdict)
    alone = np.round(claim.by_seed, EXACT).tolist()
    opposed = sum(claim.asked.answer((one, one)) == opposite for one in alone)
    return words + [f"{opposed} of {cases} seeds point the other way"] * (opposed > 0)
