"""What is made of results, whichever there are: tables, figures and claims of papers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workflow.definitions.paper import NOTHING, Paper
from workflow.files import write_json
from workflow.planning.corpora import DescribedCorpus, corpora
from workflow.planning.departures import overlaid
from workflow.planning.plan import Plan
from workflow.reporting.claims.judging import judge
from workflow.reporting.measures import Measures
from workflow.reporting.overlaid import Overlaid
from workflow.reporting.publication.results import RunResult
from workflow.reporting.statistics.comparability import base_scale
from workflow.reporting.tables.corpus_tables import Facts, describe, facts_of, with_stated
from workflow.reporting.tables.tabulating import tabulate

FactsSource = Callable[[Paper, str, Mapping[str, DescribedCorpus]], dict[str, Facts]]
"""From a paper's table of corpora and its rows to the facts that are known, by row."""


@dataclass(frozen=True)
class Items:
    """What to make of a paper."""

    tables: Iterable[str] = ()
    figures: Iterable[str] = ()
    claims: bool = False
    corpora: Mapping[str, Mapping[str, DescribedCorpus]] = field(default_factory=dict)
    """The rows of each table of corpora."""

    @classmethod
    def all(cls, paper: Paper, plan: Plan) -> "Items":
        """Return everything that can be made of a paper."""
        described = {
            name: corpora(plan, table, f"{paper.name}, {name}")
            for name, table in paper.items("corpora").items()
        }
        claims = bool(paper.claims["claims"])
        return cls(paper.items("tables"), paper.items("figures"), claims, described)


def make_all(
    plan: Plan,
    results: Iterable[RunResult],
    known: FactsSource,
    scales: Path,
    to: Path,
    say: Callable[[str], None] = lambda line: None,
    failed: Mapping[str, str] = NOTHING,
) -> None:
    """Make tables, figures and claims of all papers; what has no result is "not run".

    Args:
        plan: with the scale.
        results: of which those that are stale are left out.
        known: see `make`.
        scales: see `make`.
        to: the folder to make them in.
        say: is told what is being made.
        failed: why runs failed, by `<experiment>/<variant>`.
    """
    measures = Measures(result.measure for result in results if not result.stale)
    changed = overlaid(plan, (run for one in plan.experiments for run in plan.runs(one)))
    for paper in Paper.all(plan.mechanisms, plan.own_tables):
        say(f"tables, figures and claims of {paper.name}")
        items = Items.all(paper, plan)
        make(paper, items, plan.scale, measures, known, scales, to, changed, failed)


def make(
    paper: Paper,
    items: Items,
    scale: str,
    measures: Measures,
    known: FactsSource,
    scales: Path,
    to: Path,
    changed: Overlaid = NOTHING,
    failed: Mapping[str, str] = NOTHING,
) -> None:
    """Make items of a paper.

    Args:
        paper: to which they belong.
        items: to be made.
        scale: the scale, or `<scale>+<overlay>`.
        measures: of the runs that there are.
        known: the facts of corpora; of recipes that are today's, they are taken.
        scales: where the tables of the scale are that an overlay stands on; none need be there.
        to: the folder to make them in.
        changed: what an overlay changes of runs.
        failed: why runs failed, by `<experiment>/<variant>`.
    """
    tables, base = to / "tables" / paper.name, base_scale(scale)
    for name in items.tables:
        before = scales / base / "tables" / paper.name / f"{name}.csv" if base != scale else None
        tabulate(paper, name, scale, measures, tables / name, before, changed, failed)
    for name in items.figures:
        # Matplotlib is slow to import; only what draws figures waits for it.
        from workflow.reporting.figures.drawing import plot

        plot(paper, name, scale, measures, to / "figures" / paper.name / name, changed)
    if items.claims:
        write_json(to / "claims" / f"{paper.name}.json", judge(paper, scale, measures, changed))
    for name, rows in items.corpora.items():
        facts = {**_missing(rows), **_current(known(paper, name, rows), rows)}
        facts = {row: with_stated(one, rows[row].stated) for row, one in facts.items()}
        describe(paper, name, scale, facts, tables / name)


def facts_at(data: Path) -> FactsSource:
    """Return what knows the facts of the corpora whose data are in a folder."""

    def known(paper: Paper, name: str, rows: Mapping[str, DescribedCorpus]) -> dict[str, Facts]:
        facts = {}
        for row, corpus in rows.items():
            encoded = data / corpus.folder / "encoded"
            if corpus.recipe and (encoded / "manifest.json").is_file():
                fetched = data / "sources" / corpus.recipe["dataset"]
                facts[row] = facts_of(corpus.recipe, encoded, fetched)
        return facts

    return known


def _missing(rows: Mapping[str, DescribedCorpus]) -> dict[str, Facts]:
    """Return the facts of corpora of which nothing is known but the recipe."""
    why = "it has not been described yet"
    return {
        row: {"recipe": corpus.recipe, "missing": corpus.missing or why}
        for row, corpus in rows.items()
    }


def _current(facts: Mapping[str, Facts], rows: Mapping[str, DescribedCorpus]) -> dict[str, Facts]:
    """Return the facts that are of today's recipes."""
    return {
        row: facts[row]
        for row, corpus in rows.items()
        if row in facts and facts[row]["recipe"] == corpus.recipe
    }
