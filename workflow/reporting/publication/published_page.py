"""The page of one published scale: its claims, tables, figures, and how to follow a number."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from workflow.definitions.paper import Paper
from workflow.files import read_history, read_sidecar
from workflow.reporting.cells import read_table
from workflow.reporting.claims import history
from workflow.reporting.claims.caveats import Caveats
from workflow.reporting.claims.judged import JudgedClaim, read_claims
from workflow.reporting.claims.markdown import claims_table, total
from workflow.reporting.measures import BY, EARLIER, RunRecord, earlier
from workflow.reporting.page.templates import markdown
from workflow.reporting.publication import differing, following
from workflow.reporting.publication.summary import ABOUT_CLAIMS, headline_of
from workflow.reporting.statistics.comparability import base_scale
from workflow.reporting.statistics.decisions import DECIDED, VERDICTS
from workflow.reporting.statistics.verdict import RULE

FIGURE = "svg"
"""The kind of file of a figure that is published."""


def scale_page(
    folder: Path,
    scale: str,
    titles: Mapping[str, str],
    stale: Mapping[str, str],
    again: Mapping[str, str],
    costs: Mapping[str, str],
    runs: Collection[RunRecord] = (),
) -> str:
    """Return the page of one published scale: claims, tables, figures, and what is stale.

    Args:
        folder: the scale's folder, with runs, tables, figures and claims in place.
        scale: its name.
        titles: by `<paper>` and `<paper>/<table or figure>`, the title.
        stale: by run, why its measures no longer count.
        again: by run, what it was trained on, and when, in the place of which other training.
        costs: by `<paper>/<table>`, what making it takes, and the command.
        runs: the `run.json` of each published run.
    """
    counts = Counter(map(earlier, runs))
    figures = sorted((folder / "figures").glob(f"*/*.{FIGURE}"))
    return markdown(
        "scale",
        scale=scale,
        base=base_scale(scale),
        titles=titles,
        headline=headline_of(folder).markdown,
        about_claims=ABOUT_CLAIMS,
        caveats=Caveats.read(folder),
        papers=list(_papers(folder, titles)),
        claims_table=claims_table,
        total=total,
        changed=history.after_results(read_history(folder / history.NAME)),
        differing=differing.section(folder, titles),
        following=following.section(folder, titles),
        earlier={word: n for word in EARLIER.values() if (n := counts[f"{BY}, {word}"])},
        runs=runs,
        rule=RULE,
        tables=list(_tables(folder, titles, costs)),
        figures=[(path.relative_to(folder).as_posix(), read_sidecar(path)) for path in figures],
        stale=stale,
        again=again,
    )


def _papers(folder: Path, titles: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the papers with claims: those that are decided, and others by verdict."""
    legends = {paper.name: paper.about.legend for paper in Paper.all()}
    for path in sorted((folder / "claims").glob("*.json")):
        name = path.stem
        claims: dict[str, list[JudgedClaim]] = {"decided": []}
        claims |= {word: [] for word in VERDICTS[len(DECIDED) :]}
        for claim in read_claims(path):
            claims["decided" if claim.verdict in DECIDED else claim.verdict].append(claim)
        legend = legends.get(name, "")
        yield {"name": name, "title": titles.get(name, name), "legend": legend, "claims": claims}


def _tables(
    folder: Path, titles: Mapping[str, str], costs: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield the tables: whether one has a value of ours, its links, and what making it takes."""
    for path in sorted((folder / "tables").glob("*/*.csv")):
        name, csv = f"{path.parent.name}/{path.stem}", path.relative_to(folder)
        yield {
            "paper": path.parent.name,
            "title": titles.get(name, path.stem),
            "run": has_values(path),
            "page": following.page_of(csv),
            "csv": csv.as_posix(),
            "cost": costs.get(name, ""),
        }


def has_values(table: Path) -> bool:
    """Return whether a table, by its CSV, has any value of ours."""
    return bool(read_table(table).cells["mean"].notna().any())
