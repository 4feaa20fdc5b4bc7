"""The first thing that a reader sees: what came out in words, then claims and numbers counted."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from workflow.definitions.paper import Paper
from workflow.definitions.references import key_of
from workflow.reporting.claims.judged import KINDS, JudgedClaim, claims_in
from workflow.reporting.page.headline import Counts, Headline, PaperFinding
from workflow.reporting.publication.counting import Comparison, comparisons, once
from workflow.reporting.publication.settings import REASONS, CellSettings
from workflow.reporting.statistics.decisions import VERDICTS
from workflow.reporting.statistics.verdict import COMPARED

EVERY = "all"
JUDGED = (*COMPARED, "wide tolerance")
"""The verdicts that are counted; the last is none, as the tolerance confirms nothing."""


def headline(scale: str, tables: Iterable[Path], claims: Iterable[Path]) -> Headline:
    """Return what came out at a scale, from its tables (`.csv`) and judged claims (`.json`)."""
    shown, judged = sorted(tables), claims_in(claims)
    found = comparisons(shown, CellSettings(scale, shown))
    compared = [one for one in once(found) if one.verdict in COMPARED]
    return Headline(
        tuple(
            replace(one, numbers=_of(one.reference.key, compared))
            for paper in Paper.all()
            for one in findings(paper, judged)
        ),
        (claims_by_kind(judged), numbers_by_training(found), numbers_not_run(found)),
    )


def _of(key: str, compared: Iterable[Comparison]) -> tuple[str, ...]:
    """Return the verdicts on the numbers that a paper prints."""
    return tuple(one.verdict for one in compared if key_of(one.source) == key)


def findings(paper: Paper, judged: Sequence[JudgedClaim]) -> list[PaperFinding]:
    """Return a finding a reference of a paper: its sentence if it is so, and counts of claims."""
    found = []
    for reference in paper.about.references:
        own = [one for one in judged if key_of(one.source) == reference.key and not one.check]
        if own:
            said = sentence(paper, reference.key, judged)
            found.append(PaperFinding(reference, said, _decided(own)))
    return found


def sentence(paper: Paper, key: str, judged: Iterable[JudgedClaim]) -> str:
    """Return what was found of a reference, while its claims are decided as that rests on."""
    verdicts = {claim.id: claim.verdict for claim in judged}
    return " ".join(
        one["finding"].strip()
        for one in paper.claims.get("findings", [])
        if one["source"] == key and one["rests_on"].items() <= verdicts.items()
    )


def _decided(claims: Sequence[JudgedClaim]) -> str:
    """Return how many claims of a paper were decided, and how."""
    counted = Counter(claim.verdict for claim in claims)
    said = {"holds": ("holds", "hold"), "does not hold": ("does not", "do not")}
    shown = [
        f"{count} {said.get(word, (word, word))[count > 1]}"
        for word in VERDICTS
        if (count := counted[word])
    ]
    return f"({len(claims)} claims: {', '.join(shown)})"


def claims_by_kind(judged: Iterable[JudgedClaim]) -> Counts:
    """Return the papers' claims by what they were tried on, and verdict."""
    made = [claim for claim in judged if not claim.check]
    rows = [
        (name, *_counted((one.verdict for one in made if name in (EVERY, one.kind)), VERDICTS))
        for name in (EVERY, *KINDS)
    ]
    about = (
        "What the papers claim, by what it was tried on here. While a claim is undecided, chance "
        "among trainings or among test examples can explain what was found. What does not hold on "
        "smaller or other data may hold on the paper's."
    )
    return Counts(about, ("tried on", "claims", *VERDICTS), tuple(rows))


def claims_by_paper(judged: Iterable[JudgedClaim]) -> Counts:
    """Return the claims of each paper by verdict."""
    made = [(key_of(claim.source), claim.verdict) for claim in judged if not claim.check]
    keys = [reference.key for paper in Paper.all() for reference in paper.about.references]
    rows = [
        (name, *_counted((verdict for key, verdict in made if name in (EVERY, key)), VERDICTS))
        for name in (*keys, EVERY)
    ]
    about = (
        "The papers' claims, as decided here. *Undecided*: one training alone, or chance among "
        "trainings or test examples can explain it. *Not run*: in most cases the data is not here."
    )
    return Counts(about, ("paper", "claims", *VERDICTS), tuple(rows))


def numbers_by_training(found: Iterable[Comparison]) -> Counts:
    """Return the printed numbers that ours stand beside, by length of training and verdict."""
    counted = [one for one in once(found) if one.verdict in JUDGED]
    rows = {
        EVERY: counted,
        "trained as long as the paper's": [
            one for one in counted if one.trained and not one.shorter
        ],
        "trained for less": [one for one in counted if one.trained and one.shorter],
        "not trained: data and baselines": [one for one in counted if not one.trained],
    }
    return Counts(
        "Numbers that the papers print, with ours beside them: reproduced is within a tolerance "
        "fixed for each quantity, near within two. Within it, but of one seed, or of seeds further "
        "apart than the tolerance, is less; a wide tolerance confirms nothing.",
        ("ours are", "numbers", *JUDGED),
        tuple(
            (name, *_counted((one.verdict for one in ones), JUDGED)) for name, ones in rows.items()
        ),
    )


def numbers_not_run(found: Iterable[Comparison]) -> Counts:
    """Return the printed numbers that were not run, by the reason."""
    reasons = [one.lacking for one in found if one.verdict == "not run"]
    total, *counts = _counted(reasons, REASONS)
    rows = zip((EVERY, *REASONS), (total, *counts), strict=True)
    about = "Numbers that the papers print, without ours, and why."
    return Counts(about, ("why", "numbers"), tuple(rows))


def _counted(words: Iterable[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Return the sum of some words and the count of each, as text."""
    counted = Counter(words)
    return tuple(map(str, (counted.total(), *(counted[word] for word in columns))))
