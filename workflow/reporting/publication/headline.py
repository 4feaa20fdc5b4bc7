"""The first thing that a reader sees: what came out in words, then claims and numbers counted."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workflow.definitions.paper import Paper
from workflow.definitions.references import Reference, key_of
from workflow.reporting.claims.judged import JudgedClaim, read_claims
from workflow.reporting.claims.kinds import KINDS
from workflow.reporting.publication.counting import COMPARED, Comparison, comparisons, once
from workflow.reporting.publication.settings import REASONS, Settings
from workflow.reporting.statistics.decisions import DECIDED, VERDICTS

EVERY = "all"


@dataclass(frozen=True)
class Finding:
    """What came out of a paper."""

    reference: Reference
    text: str

    @property
    def markdown(self) -> str:
        """A line of a list."""
        one = self.reference
        return f"- **{one.key}** ([{one.title}]({one.link})): {self.text}"


@dataclass(frozen=True)
class Counts:
    """A table of counts; the first column says of what."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    @property
    def markdown(self) -> str:
        """The table, and below it its note."""
        rule = " | ".join(["---", *["--:"] * (len(self.columns) - 1)])
        lines = [" | ".join(self.columns), rule, *map(" | ".join, self.rows)]
        table = "\n".join(f"| {line} |" for line in lines)
        return f"{table}\n\n{self.note}" if self.note else table


@dataclass(frozen=True)
class Headline:
    """What came out at one scale."""

    findings: tuple[Finding, ...]
    tables: tuple[Counts, ...]

    @property
    def markdown(self) -> str:
        """The findings, then the tables."""
        lines = "\n".join(finding.markdown for finding in self.findings)
        return "\n\n".join([lines, *(table.markdown for table in self.tables)])


def headline(scale: str, tables: Iterable[Path], claims: Iterable[Path]) -> Headline:
    """Return what came out at a scale, from its tables (`.csv`) and judged claims (`.json`)."""
    shown, judged = (
        sorted(tables),
        [claim for path in sorted(claims) for claim in read_claims(path)],
    )
    found = comparisons(shown, Settings(scale, shown))
    return Headline(
        tuple(one for paper in Paper.all() for one in findings(paper, judged)),
        (claims_by_kind(judged), numbers_by_training(found), numbers_not_run(found)),
    )


def findings(paper: Paper, judged: Sequence[JudgedClaim]) -> list[Finding]:
    """Return a finding a reference of a paper: its sentences whose verdicts are so, and counts."""
    verdicts = {claim.id: claim.verdict for claim in judged}
    found = []
    for reference in paper.about.references:
        own = [one for one in judged if key_of(one.source) == reference.key and not one.check]
        if not own:
            continue
        said = [
            one["finding"].strip()
            for one in paper.claims.get("findings", [])
            if one["source"] == reference.key and one["rests_on"].items() <= verdicts.items()
        ]
        found.append(Finding(reference, " ".join([*said, _decided(own)])))
    return found


def _decided(claims: Sequence[JudgedClaim]) -> str:
    """Return how many claims of a paper were decided, and how."""
    counted = Counter(claim.verdict for claim in claims)
    words = {"holds": "hold", "does not hold": "do not hold", "no difference": "find no difference"}
    shown = [f"{counted[word]} {said}" for word, said in words.items() if counted[word]]
    shown += [f"{counted[word]} are {word}" for word in ("undecided",) if counted[word]]
    shown += [f"{counted[word]} were {word}" for word in ("not run",) if counted[word]]
    return f"Of its {len(claims)} claims {_listed(shown)}."


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def claims_by_kind(judged: Iterable[JudgedClaim]) -> Counts:
    """Return the papers' claims by kind and verdict, and how many checks of ours hold."""
    judged = list(judged)
    made = [claim for claim in judged if not claim.check]
    checks = Counter(claim.verdict for claim in judged if claim.check)
    rows = [
        (
            name,
            *_counted((claim.verdict for claim in made if name in (EVERY, claim.kind)), VERDICTS),
        )
        for name in (EVERY, *KINDS)
    ]
    columns = ("claims of the papers", EVERY, *VERDICTS)
    decided = sum(checks[word] for word in DECIDED)
    note = f"Of {checks.total()} checks of our own {checks['holds']} hold and "
    note += f"{decided - checks['holds']} do not; the others are open." if checks else ""
    return Counts(columns, tuple(rows), note if checks else "")


def numbers_by_training(found: Iterable[Comparison]) -> Counts:
    """Return the printed numbers that ours stand beside, by length of training and verdict."""
    counted = [one for one in once(found) if one.verdict in COMPARED and not one.wide]
    kinds = {
        "trained as long as the paper": [one for one in counted if one.trained and not one.shorter],
        "trained for less": [one for one in counted if one.trained and one.shorter],
        "not trained: data and baselines": [one for one in counted if not one.trained],
    }
    rows = [(EVERY, counted), *kinds.items()]
    columns = ("numbers that the papers print", EVERY, *COMPARED)
    return Counts(
        columns,
        tuple((name, *_counted((one.verdict for one in ones), COMPARED)) for name, ones in rows),
    )


def numbers_not_run(found: Iterable[Comparison]) -> Counts:
    """Return the printed numbers that were not run, by the reason."""
    reasons = [one.lacking for one in found if one.verdict == "not run"]
    counted = Counter(reasons)
    rows = [(EVERY, str(len(reasons))), *((why, str(counted[why])) for why in REASONS)]
    return Counts(("numbers that the papers print, not run", "count"), tuple(rows))


def _counted(words: Iterable[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Return the sum of some words and the count of each, as text."""
    counted = Counter(words)
    return tuple(map(str, (counted.total(), *(counted[word] for word in columns))))
