"""A look at what is done so far: all that can be made of the runs that were measured."""

import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workflow import PUBLISHED
from workflow.definitions.paper import Paper
from workflow.planning.corpora import DescribedCorpus
from workflow.planning.plan import Plan
from workflow.reporting.page.guides import guides
from workflow.reporting.page.page import render, write_page
from workflow.reporting.page.runs import Recorded
from workflow.reporting.page.templates import Link
from workflow.reporting.publication.current import Now
from workflow.reporting.publication.headline import headline
from workflow.reporting.publication.outputs import FactsSource, facts_at, make_all
from workflow.reporting.publication.publishing import facts_told
from workflow.reporting.publication.results import (
    RunResult,
    measured,
    planned_runs,
    published,
    with_staleness,
)
from workflow.reporting.statistics.comparability import base_scale
from workflow.reporting.tables.corpus_tables import Facts
from workflow.runtime.errors import ReportingError
from workflow.runtime.failure import last_error
from workflow.runtime.integrity import Damaged

NAME = "so_far"
"""The folder below the scale's; no rule of the workflow reads or writes it."""


@dataclass(frozen=True)
class SoFar:
    """What there is of a scale."""

    page: Path
    runs: int
    """That were measured here, and count."""
    planned: int
    published: int
    """That stand beside them, and were published."""
    left_out: list[str]
    """Why measures don't count, one line a run, with the way out where a file is broken."""


def write_so_far(
    plan: Plan,
    now: Now,
    say: Callable[[str], None],
    beside_published: bool = False,
    links: Iterable[Link] = (),
    to_guides: Iterable[Link] = (),
) -> SoFar:
    """Make tables, figures, claims and report of every measure that counts today.

    They replace what was made before only once all are there.

    Args:
        plan: with the scale, and where its results are.
        now: what its runs are made of today.
        say: is told what is being made.
        beside_published: take what is published where nothing was measured here, and compare an
            overlay with the published tables.
        links: to other pages, beside that to the scale's explorer.
        to_guides: to the guides, where the page will be elsewhere.

    Raises:
        ReportingError: nothing was measured yet, or is published.
    """
    folder, keys = Path(plan.folder), planned_runs(plan)
    whole, broken = _measured(plan)
    own, left_out = _counting(whole, now)
    results, known = own, facts_at(Path(plan.results) / "data")
    failed = _failed(plan, whole)
    if beside_published:
        told = published(PUBLISHED / plan.scale)
        results, other = _counting(told | own, now)
        left_out += other
        known = _either(facts_told((PUBLISHED / base_scale(plan.scale),)), known)
    if not results and beside_published:
        raise ReportingError(f"{PUBLISHED / plan.scale}: nothing is published of this scale.")
    if not results:
        raise ReportingError(f"{folder / 'measures'}: nothing was measured yet; run this scale.")
    runs = [
        Recorded(result.run, folder / "runs" / key if key in own else None)
        for key, result in results.items()
    ]
    mine = sum(key in own for key in results)
    others = len(results) - mine
    shown = f"{mine} of {len(keys)} planned runs"
    if others:
        shown = f"{shown}, and {others} published ones" if mine else ""
    there = (folder / "explorer.html").is_file()
    explorer = [("Explorer", "../explorer.html")] if there else []
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=f".{NAME}-") as name:
        aside = Path(name) / "new"
        scales = PUBLISHED if beside_published else Path(plan.results)
        make_all(plan, results.values(), known, scales, aside, say, _by_variant(failed))
        tables, claims = (sorted(aside.glob(one)) for one in ("tables/*/*.csv", "claims/*.json"))
        page = render(
            plan.scale,
            runs=runs,
            tables=tables,
            figures=aside.glob("figures/*/*.svg"),
            claims=claims,
            mechanisms=list(plan.mechanisms),
            own=plan.own_tables,
            plan=folder / "plan.json",
            so_far=shown,
            headline=headline(plan.scale, tables, claims),
            links=[*links, *explorer],
            guides=[*to_guides] or guides(folder / NAME / "report.html"),
        )
        write_page(aside / "report.html", page)
        made = folder / NAME
        if made.exists():
            made.rename(Path(name) / "old")
        aside.rename(made)
    reasons = [f"{key}: failed: {reason}" for key, reason in failed.items()]
    return SoFar(made / "report.html", mine, len(keys), others, [*broken, *left_out, *reasons])


def _measured(plan: Plan) -> tuple[dict[str, RunResult], list[str]]:
    """Return the measured runs, and why files of others can't be used."""
    whole: dict[str, RunResult] = {}
    broken = []
    for key in planned_runs(plan):
        try:
            result = measured(plan, key)
        except (ReportingError, Damaged) as error:
            broken.append(str(error))
            continue
        if result:
            whole[key] = result
    return whole, broken


def _failed(plan: Plan, whole: Collection[str]) -> dict[str, str]:
    """Return why runs that were not measured failed, by what the logs of their jobs end with."""
    found = {}
    for key in planned_runs(plan):
        for rule in ("train", "record", "measure") if key not in whole else ():
            if reason := last_error(Path(plan.folder, "logs", rule, f"{key}.log")):
                found[key] = reason
    return found


def _by_variant(failed: Mapping[str, str]) -> dict[str, str]:
    return {key.rpartition("/")[0]: reason for key, reason in failed.items()}


def _counting(whole: Mapping[str, RunResult], now: Now) -> tuple[dict[str, RunResult], list[str]]:
    """Return the runs that count today, and which others don't and why."""
    results = with_staleness(whole, now)
    left_out = [f"{key}: {result.stale}" for key, result in results.items() if result.stale]
    return {key: result for key, result in results.items() if not result.stale}, left_out


def _either(one: FactsSource, other: FactsSource) -> FactsSource:
    """Return what knows the facts that one knows, or the other, whose count where both do."""

    def known(paper: Paper, name: str, rows: Mapping[str, DescribedCorpus]) -> dict[str, Facts]:
        return one(paper, name, rows) | other(paper, name, rows)

    return known
