"""What is made of measures, whichever there are: tables, figures and claims of a paper."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workflow.definitions.paper import Paper
from workflow.files import write_json
from workflow.planning.corpora import Corpus, corpora
from workflow.planning.plan import Plan
from workflow.reporting.claims.judging import judge
from workflow.reporting.measures import Measures
from workflow.reporting.tables.corpora import describe
from workflow.reporting.tables.tabulating import tabulate

Known = Callable[[str, Mapping[str, Corpus]], dict[str, Any]]
"""From a table of corpora and its rows to the facts that are known, by row."""


def write_outputs(
    paper: Paper, scale: str, measures: Measures, to: Path, base: Path | None = None
) -> None:
    """Make a paper's tables, figures and claims below `to`; what has no measures is "not run".

    `base` is where the tables of the scale are that an overlay stands on; none need be there.
    """
    # Matplotlib is slow to import; only what draws figures waits for it.
    from workflow.reporting.figures.drawing import plot

    for name in paper.items("tables"):
        before = base / "tables" / paper.name / f"{name}.csv" if base else None
        tabulate(paper, name, scale, measures, to / "tables" / paper.name / name, before)
    for name in paper.items("figures"):
        plot(paper, name, scale, measures, to / "figures" / paper.name / name)
    if paper.claims["claims"]:
        write_json(to / "claims" / f"{paper.name}.json", judge(paper, scale, measures))


def write_corpora(paper: Paper, plan: Plan, known: Known, to: Path) -> None:
    """Make a paper's tables of corpora below `to`, with facts of today's recipes."""
    for name, definition in paper.items("corpora").items():
        rows = corpora(plan, definition, f"{paper.name}, {name}")
        facts = known(name, rows)
        for row, corpus in rows.items():
            if row not in facts or facts[row]["recipe"] != corpus.recipe:
                missing = corpus.missing or "it has not been described yet"
                facts[row] = {"recipe": corpus.recipe, "missing": missing}
        facts = {row["id"]: facts[row["id"]] for row in definition["rows"]}
        describe(paper, name, plan.scale, facts, to / "tables" / paper.name / name)
