"""The first thing that a reader sees: what came out in words, then claims and numbers counted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from workflow.definitions.paper import Paper
from workflow.definitions.references import key_of
from workflow.reporting.claims.caveats import ONE_OF_MANY, Caveats
from workflow.reporting.claims.judged import KINDS, OUTCOMES, JudgedClaim, claims_in
from workflow.reporting.claims.markdown import leaning
from workflow.reporting.page.headline import Counts, Headline, PaperFinding
from workflow.reporting.page.marks import SIGNS, shares
from workflow.reporting.publication.cell_settings import REASONS, CellSettings
from workflow.reporting.publication.counting import comparisons, counts, once
from workflow.reporting.statistics.verdict import JUDGED

EVERY = "all"
ABOUT = {
    "undecided": "one training alone, or chance among trainings or test examples can explain it",
    "undecidable": "the test set is too small, whatever the seeds",
    "not run": "mostly, the data is not here",
}
"""What verdicts mean whose words do not say it."""
ELSEWHERE = " *Elsewhere*: on smaller or other data, or another task."
THERE = "on other data or another task"
SAID = {
    "holds": ("holds", "hold"),
    "does not hold": ("does not", "do not"),
    "no difference": ("shows no difference", "show no difference"),
    "holds elsewhere": (f"holds {THERE}", f"hold {THERE}"),
    "does not hold elsewhere": (f"does not {THERE}", f"do not {THERE}"),
    "no difference elsewhere": (f"shows no difference {THERE}", f"show no difference {THERE}"),
    "undecided": ("is undecided", "are undecided"),
    "undecidable": ("cannot be decided",) * 2,
}
"""What is said of one claim, and of several, by verdict."""
AGREEING = {
    "reproduced": ("agrees", "agree"),
    "within, one seed": ("agrees by one training", "agree by one training"),
    "within, seeds apart": ("agrees within its spread", "agree within their spread"),
    "near": ("is near", "are near"),
    "differs": ("differs", "differ"),
    "wide tolerance": ("cannot be judged (wide tolerance)",) * 2,
}
"""What is said of one number, and of several, by verdict."""


def headline(scale: str, tables: Iterable[Path], claims: Iterable[Path]) -> Headline:
    """Return what came out at a scale, from its tables (`.csv`) and judged claims (`.json`)."""
    shown, judged = sorted(tables), claims_in(claims)
    compared = comparisons(shown, CellSettings(scale, shown))
    marked = compared[compared["trained"].astype(bool) & compared["verdict"].isin(JUDGED)]
    by_paper = {
        key: tuple(once(numbers)["verdict"])
        for key, numbers in marked.groupby(marked["source"].map(key_of))
    }
    return Headline(
        answer(judged, compared),
        tuple(
            replace(one, numbers=by_paper.get(one.reference.key, ()))
            for paper in Paper.all()
            for one in findings(paper, judged)
        ),
        claims_by_paper(judged, numbers=by_paper),
        (claims_by_kind(judged), numbers_by_training(compared), numbers_not_run(compared)),
    )


def answer(judged: Iterable[JudgedClaim], compared: pd.DataFrame) -> str:
    """Return how the claims came out over all papers, and the numbers trained in full."""
    claims = _of_papers(judged)
    tested = claims.loc[claims["outcome"] != "not run", "outcome"]
    full = _judged(compared).query("trained and not shorter")["verdict"]
    papers = claims["paper"].nunique()
    said = (
        f"Of {len(claims)} claims of {papers} paper{'s' * (papers != 1)}, {len(tested)} were "
        f"tried: {_listed(tested, SAID)}."
    )
    if full.empty:
        return said
    length = f"{len(full)} numbers trained as long as the paper's"
    return f"{said} Of {length}, {_listed(full, AGREEING)}."


def _listed(verdicts: pd.Series, said: Mapping[str, tuple[str, str]]) -> str:
    """Return how many verdicts of each kind there are, in words."""
    each = verdicts.value_counts()
    parts = [f"{each[word]} {said[word][int(each[word] > 1)]}" for word in said if word in each]
    *others, last = parts or ["none"]
    return f"{', '.join(others)} and {last}" if others else last


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
    """Return what was found of a reference, while its claims are decided as that rests on.

    A verdict that does not stand after the correction for many tests bears out only a finding that
    names it so. `{<claim>}` in a finding is over how many pairs of trainings the claim is.
    """
    claims = [*judged]
    caveats = Caveats(claims, [])
    said = {
        one.id: (
            leaning(one),
            f"{one.verdict}, {ONE_OF_MANY}" if ONE_OF_MANY in caveats.of(one) else one.verdict,
        )
        for one in claims
    }
    pairs = {one.id: _pairs(len(one.seeds)) for one in claims}
    return " ".join(
        one["finding"].strip().format_map(pairs)
        for one in paper.claims.get("findings", [])
        if one["source"] == key
        and all(word in said.get(claim, ()) for claim, word in one["rests_on"].items())
    )


def _pairs(count: int) -> str:
    return "one pair" if count == 1 else f"{count} pairs"


def _decided(claims: Sequence[JudgedClaim]) -> str:
    """Return how many claims of a paper were decided, and how."""
    total, *each = counts(pd.Series([claim.outcome for claim in claims]), OUTCOMES)
    said = {word: SAID[word] for word in OUTCOMES[: OUTCOMES.index("undecided")]}
    shown = [
        f"{count} {said.get(word, (word, word))[int(count) > 1]}"
        for word, count in zip(OUTCOMES, each, strict=True)
        if int(count)
    ]
    return f"{total} claims: {', '.join(shown)}."


def claims_by_kind(judged: Iterable[JudgedClaim]) -> Counts:
    """Return the papers' claims by what they were tried on, and outcome."""
    about = (
        "What the papers claim, by what it was tried on here. While a claim is undecided, chance "
        "among trainings or among test examples can explain what was found. On the paper's data "
        "another verdict may come out than on smaller or other data. The paper's setting is as it "
        "is read here: notes below the tables say what its text leaves open, and where the "
        "authors' code differs."
    )
    claims = _of_papers(judged)
    tried = claims["outcome"]
    rows = [(EVERY, tried), *((kind, tried[claims["kind"] == kind]) for kind in KINDS)]
    return _counted(about, ("tried on", "claims"), _occurring(tried), rows)


def claims_by_paper(
    judged: Iterable[JudgedClaim],
    folder: str = "",
    numbers: Mapping[str, Sequence[str]] | None = None,
) -> Counts:
    """Return the claims of each paper by outcome, of those outcomes that there are.

    Args:
        judged: all claims.
        folder: where the page of each paper is, with a slash at its end.
        numbers: by paper the verdicts on what was trained, if they have a column, too.
    """
    claims = _of_papers(judged)
    outcomes = _occurring(claims["outcome"])
    against = claims.loc[claims["outcome"] == "does not hold", "kind"]
    meant = {word: f": {ABOUT[word]}" if word in ABOUT else "" for word in outcomes}
    legend = "; ".join(f"{SIGNS[word]} {word}{text}" for word, text in meant.items())
    about = f"The papers' claims, as decided here. {legend}."
    if any(word.endswith("elsewhere") for word in outcomes):
        about += ELSEWHERE
    if len(against):
        own = int((against == KINDS[0]).sum())
        about += f" Of the {len(against)} that do not hold, {own} are in the paper's own setting."
    papers = [reference for paper in Paper.all() for reference in paper.about.references]
    rows = [
        (f"[{one.name}]({folder}{one.key}.md)", claims.loc[claims["paper"] == one.key, "outcome"])
        for one in papers
    ]
    rows.append((EVERY, claims["outcome"]))
    table = _counted(about, ("paper", "claims"), outcomes, rows)
    heads, lines = (*table.columns[:2], *(SIGNS[word] for word in outcomes)), table.rows
    if numbers is not None:
        heads = (*heads, "trained numbers")
        words = [*(numbers.get(one.key, ()) for one in papers), ()]
        lines = tuple(
            (*line, " ".join(f"{one.mark.sign}\u202f{one.number}" for one in shares(of, JUDGED)))
            for line, of in zip(lines, words, strict=True)
        )
    return Counts(about, heads, lines)


def _of_papers(judged: Iterable[JudgedClaim]) -> pd.DataFrame:
    """Return paper, kind and outcome of the claims that are the papers' own."""
    claims = [(key_of(one.source), one.kind, one.outcome) for one in judged if not one.check]
    return pd.DataFrame(claims, columns=["paper", "kind", "outcome"])


def _occurring(outcomes: pd.Series) -> list[str]:
    """Return the outcomes that there are, in their order."""
    return [word for word in OUTCOMES if word in {*outcomes}]


def numbers_by_training(compared: pd.DataFrame) -> Counts:
    """Return the printed numbers that ours stand beside, by length of training and verdict."""
    about = (
        "Numbers that the papers print, with ours beside them. Reproduced is within a tolerance "
        "fixed for each quantity, near within two. Within it, but of one seed, or of seeds further "
        "apart than the tolerance, is less; a wide tolerance confirms nothing. What two papers "
        "print counts once here, and for each of them where papers are counted apart."
    )
    numbers = _judged(compared)
    rows = [
        (EVERY, numbers["verdict"]),
        ("trained as long as the paper's", numbers.query("trained and not shorter")["verdict"]),
        ("trained for less", numbers.query("trained and shorter")["verdict"]),
        ("not trained: data and baselines", numbers.query("not trained")["verdict"]),
    ]
    return _counted(about, ("ours are", "numbers"), JUDGED, rows)


def _judged(compared: pd.DataFrame) -> pd.DataFrame:
    """Return each number that is counted, once."""
    numbers = once(compared)
    return numbers[numbers["verdict"].isin(JUDGED)].astype({"trained": bool, "shorter": bool})


def numbers_not_run(compared: pd.DataFrame) -> Counts:
    """Return the printed numbers that were not run, by the reason."""
    reasons = compared.loc[compared["verdict"] == "not run", "lacking"]
    rows = tuple(zip((EVERY, *REASONS), counts(reasons, REASONS), strict=True))
    about = "Numbers that the papers print, without ours, and why."
    return Counts(about, ("why", "numbers"), rows)


def _counted(
    about: str,
    first: tuple[str, str],
    verdicts: Sequence[str],
    rows: Iterable[tuple[str, pd.Series]],
) -> Counts:
    """Return a table that counts the verdicts in some frames."""
    lines = tuple((name, *counts(words, verdicts)) for name, words in rows)
    return Counts(about, (*first, *verdicts), lines)
