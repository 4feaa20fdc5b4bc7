"""A look at what is done so far: all that can be made of the runs that were measured."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.store.checksums import Damaged
from workflow.definitions.paper import Paper
from workflow.errors import ReportingError
from workflow.planning.corpora import Corpus
from workflow.planning.plan import Plan
from workflow.reporting.measures import Measures, read_measure
from workflow.reporting.page.page import render, write_page
from workflow.reporting.publication.current import Now
from workflow.reporting.publication.outputs import write_corpora, write_outputs
from workflow.reporting.publication.publishing import (
    Entry,
    judged,
    measured,
    measures_of,
    planned_runs,
)
from workflow.reporting.statistics.comparability import base_scale
from workflow.reporting.tables.corpora import facts_of

NAME = "so_far"
"""The folder below the scale's; no rule of the workflow reads or writes it."""


@dataclass(frozen=True)
class SoFar:
    """What there is of a scale."""

    page: Path
    runs: int
    """That were measured, and count."""
    planned: int
    left_out: list[str]
    """Why measures don't count, one line a run, with the way out where a file is broken."""


def write_so_far(plan: Plan, now: Now, say: Callable[[str], None]) -> SoFar:
    """Make tables, figures, claims and report of every measure that counts today.

    They replace what was made before only once all are there.

    Args:
        plan: with the scale, and where its results are.
        now: what its runs are made of today.
        say: is told what is being made.

    Raises:
        ReportingError: nothing was measured yet.
    """
    results, scale = Path(plan.results), plan.scale
    folder, keys = Path(plan.folder), planned_runs(plan)
    entries, left_out = _counting(plan, now)
    if not entries:
        raise ReportingError(f"{folder / 'measures'}: nothing was measured yet; run this scale.")
    runs = {key: folder / "runs" / key / "run.json" for key in entries}
    measures = Measures(
        read_measure(measures_of(plan, key), {entry["run"]["identity"]: entry["run"]})
        for key, entry in entries.items()
    )
    base = results / base_scale(scale) if base_scale(scale) != scale else None
    with tempfile.TemporaryDirectory(dir=folder, prefix=f".{NAME}-") as name:
        aside = Path(name) / "new"
        for paper in Paper.all(plan.mechanisms):
            say(f"tables, figures and claims of {paper.name}")
            write_outputs(paper, scale, measures, aside, base)
            write_corpora(paper, plan, lambda _, rows: _facts(results / "data", rows), aside)
        page = render(
            scale,
            runs=list(runs.values()),
            tables=aside.glob("tables/*/*.csv"),
            figures=aside.glob("figures/*/*.png"),
            claims=aside.glob("claims/*.json"),
            mechanisms=list(plan.mechanisms),
            plan=folder / "plan.json",
            so_far=f"{len(runs)} of {len(keys)} planned runs",
        )
        write_page(aside / "report.html", page)
        made = folder / NAME
        if made.exists():
            made.rename(Path(name) / "old")
        aside.rename(made)
    return SoFar(made / "report.html", len(runs), len(keys), left_out)


def _counting(plan: Plan, now: Now) -> tuple[dict[str, Entry], list[str]]:
    """Return the measured runs that count, and which others don't and why."""
    found: dict[str, Entry] = {}
    left_out = []
    for key in planned_runs(plan):
        try:
            entry = measured(plan, key)
        except (ReportingError, Damaged) as error:
            left_out.append(str(error))
            continue
        if entry:
            found[key] = entry
    entries = judged(found, now)
    left_out += [f"{key}: {entry['stale']}" for key, entry in entries.items() if entry["stale"]]
    return {key: entry for key, entry in entries.items() if not entry["stale"]}, left_out


def _facts(data: Path, rows: Mapping[str, Corpus]) -> dict[str, Any]:
    """Return the facts of the corpora whose data are there, by row."""
    found = {}
    for row, one in rows.items():
        encoded = data / one.folder / "encoded"
        if one.recipe and (encoded / "manifest.json").is_file():
            found[row] = facts_of(one.recipe, encoded, data / "sources" / one.recipe["dataset"])
    return found
