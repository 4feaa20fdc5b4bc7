"""What is made of results, whichever there are: every paper's tables, figures and claims."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from workflow.definitions.paper import Paper
from workflow.files import write_json
from workflow.planning.corpora import DescribedCorpus, corpora
from workflow.planning.overlaid import overlaid
from workflow.planning.plan import Plan
from workflow.reporting.claims.judging import judge
from workflow.reporting.measures import Measures
from workflow.reporting.publication.results import Result
from workflow.reporting.statistics.comparability import base_scale
from workflow.reporting.tables.corpora import Facts, describe, with_stated
from workflow.reporting.tables.long_form import NOTHING
from workflow.reporting.tables.tabulating import tabulate

Known = Callable[[Paper, str, Mapping[str, DescribedCorpus]], dict[str, Facts]]
"""From a paper's table of corpora and its rows to the facts that are known, by row."""


def make(
    plan: Plan,
    results: Iterable[Result],
    known: Known,
    scales: Path,
    to: Path,
    say: Callable[[str], None] = lambda line: None,
    failed: Mapping[str, str] = NOTHING,
) -> None:
    """Make tables, figures and claims of all papers; what has no result is "not run".

    Args:
        plan: with the scale.
        results: of which those that are stale are left out.
        known: the facts of corpora; of recipes that are today's, they are taken.
        scales: where the tables of the scale are that an overlay stands on; none need be there.
        to: the folder to make them in.
        say: is told what is being made.
        failed: why runs failed, by `<experiment>/<variant>`.
    """
    # Matplotlib is slow to import; only what draws figures waits for it.
    from workflow.reporting.figures.drawing import plot

    measures = Measures(result.measure for result in results if not result.stale)
    scale, base = plan.scale, base_scale(plan.scale)
    changed = overlaid(plan, (run for one in plan.experiments for run in plan.runs(one)))
    for paper in Paper.all(plan.mechanisms):
        say(f"tables, figures and claims of {paper.name}")
        tables, figures = to / "tables" / paper.name, to / "figures" / paper.name
        for name in paper.items("tables"):
            before = scales / base / "tables" / paper.name / f"{name}.csv"
            below = before if base != scale else None
            tabulate(paper, name, scale, measures, tables / name, below, changed, failed)
        for name in paper.items("figures"):
            plot(paper, name, scale, measures, figures / name)
        if paper.claims["claims"]:
            write_json(to / "claims" / f"{paper.name}.json", judge(paper, scale, measures))
        for name, definition in paper.items("corpora").items():
            rows = corpora(plan, definition, f"{paper.name}, {name}")
            facts = {**_missing(rows), **_current(known(paper, name, rows), rows)}
            facts = {row: with_stated(one, rows[row].stated) for row, one in facts.items()}
            describe(paper, name, scale, facts, tables / name)


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
