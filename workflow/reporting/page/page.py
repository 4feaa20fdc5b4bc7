"""The report page of one scale: the results that it is given, on one self-contained page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from workflow import PUBLISHED
from workflow.definitions.paper import NOTHING, Paper
from workflow.definitions.references import key_of
from workflow.definitions.tables import Table
from workflow.files import read_history, write_sidecar, write_text
from workflow.reporting.cells import read_table
from workflow.reporting.claims import history
from workflow.reporting.claims.caveats import Caveats
from workflow.reporting.claims.judged import claims_in
from workflow.reporting.claims.markdown import total
from workflow.reporting.command_lines import command
from workflow.reporting.page import claims as page_claims
from workflow.reporting.page import cost, figures, overview, tables
from workflow.reporting.page import runs as page_runs
from workflow.reporting.page.headline import Headline
from workflow.reporting.page.marks import SIGNS, Mark
from workflow.reporting.page.runs import Recorded
from workflow.reporting.page.templates import STYLES, TEMPLATES, Link, environment, inlined
from workflow.reporting.prose import symbols
from workflow.reporting.statistics import tolerances
from workflow.reporting.statistics.comparability import base_scale
from workflow.reporting.statistics.verdict import NEAR
from workflow.reporting.tables import corpus_tables
from workflow.reporting.tables.names import papers_order

SCRIPTS = ("tabs.js", "search.js", "sorting.js", "panel.js")


def render(
    scale: str,
    runs: Sequence[Recorded] = (),
    tables: Iterable[Path] = (),
    figures: Iterable[Path] = (),
    claims: Iterable[Path] = (),
    mechanisms: Sequence[str] = (),
    own: Mapping[str, Mapping[str, Table]] = NOTHING,
    plan: Path | None = None,
    so_far: str = "",
    headline: Headline | None = None,
    links: Sequence[Link] = (),
    guides: Sequence[Link] = (),
) -> str:
    """Return the page as HTML; ReportingError names a file that is missing or broken.

    Args:
        scale: name of the scale.
        runs: the record of each run, with the folder of its history where that is here.
        tables: the `.csv` of each table, in a folder named after its paper.
        figures: the `.svg` of each figure, likewise.
        claims: `<paper>.json` of each paper.
        mechanisms: names of the user's own, which have rows in the tables.
        own: tables of the user's own, by the folder of the paper that they are with.
        plan: what the runs were planned to take, where they were planned.
        so_far: how many runs of how many, where not all were waited for.
        headline: what came out, in words and counted.
        links: name and address of the pages beside it.
        guides: likewise of what a search of the page cannot find.
    """
    templates = environment(TEMPLATES)
    templates.filters |= {"prose": prose, "symbols": symbols}
    templates.globals["command"] = partial(command, scale)
    templates.globals |= {"word": Mark, "total": total}
    given = Given(_by_name(tables), _by_name(figures), {path.stem: path for path in claims})
    entries = read_history(PUBLISHED / scale / history.NAME)
    caveats = Caveats(claims_in(given.claims.values()), entries)
    folders = [_folder(paper, given, caveats) for paper in Paper.all(mechanisms, own)]
    papers = [paper for folder in folders for paper in _papers(folder)]
    records = [one.run for one in runs]
    recipes = [run["spec"]["run"].get("data", {}) for run in records]
    recipes += [recipe for folder in folders for recipe in folder["recipes"]]
    comparable = base_scale(scale) != "demo"
    by_identity = {run["identity"]: run for run in records}
    cards = overview.cards(papers, headline, by_identity, comparable)
    page = templates.get_template("report.html.j2").render(
        scale=scale,
        base=base_scale(scale),
        comparable=comparable,
        good_for=overview.GOOD_FOR.get(base_scale(scale), ""),
        so_far=so_far,
        links=links,
        guides=guides,
        cards=cards,
        failed=overview.failed(cards),
        headline=headline,
        caveats=caveats.sentence,
        style=inlined([*STYLES, TEMPLATES / "style.css"]),
        scripts=inlined(TEMPLATES / name for name in SCRIPTS),
        papers=papers,
        example=next((it.example for paper in papers for it in paper["tables"] if it.example), ""),
        missing=[lacking for folder in folders for lacking in folder["missing"]],
        words=[Mark(word) for word in SIGNS],
        variants=page_runs.variants(runs, scale),
        hardware=cost.hardware(records),
        spent=cost.spent(records, plan),
        licences=cost.licences(recipes),
        tolerances=_tolerances(folders),
        near=NEAR,
        changes=tolerances.changes(
            read_history(PUBLISHED / scale / tolerances.NAME), tolerances.current()
        ),
        dirty=sorted({str(run.get("commit"))[:10] for run in records if run.get("dirty")}),
        commits=sorted({str(run["commit"])[:10] for run in records if run.get("commit")}),
    )
    return str(page)


def write_page(path: Path, page: str) -> None:
    """Write a page, and beside it its checksum."""
    write_text(path, page)
    write_sidecar(path.with_suffix(""), {"schema": 1}, ["html"])


def prose(text: str) -> Markup:
    """Return escaped text with symbols, in which `words` between backticks are set as code."""
    parts = [
        Markup("<code>{}</code>").format(part) if index % 2 else escape(symbols(part))
        for index, part in enumerate(text.split("`"))
    ]
    return Markup("").join(parts)


@dataclass(frozen=True)
class Given:
    """The files of tables and figures by (paper, name), and of claims by paper."""

    tables: Mapping[tuple[str, str], Path]
    figures: Mapping[tuple[str, str], Path]
    claims: Mapping[str, Path]


def _by_name(files: Iterable[Path]) -> dict[tuple[str, str], Path]:
    return {(path.parent.name, path.stem): path for path in files}


def _folder(paper: Paper, given: Given, caveats: Caveats) -> dict[str, Any]:
    """Return what was given of a folder of papers, in the papers' own order."""
    shown, recipes = [], []
    missing: list[tuple[str, Sequence[str]]] = []
    rules: dict[str, Any] = {}
    for kind in ("tables", "corpora"):
        for name in paper.items(kind):
            if (file := given.tables.get((paper.name, name))) is None:
                continue
            table = read_table(file)
            told = table.about.get("corpora", {})
            definitions = corpus_tables.definitions_of(paper, table)
            shown.append(tables.shown(paper.name, definitions, name, table))
            rules |= table.about["tolerances"]
            recipes += [one["recipe"] for one in told.values() if "digest" in one]
            if lacking := tables.not_run(table.cells):
                missing.append((shown[-1].title, lacking))
    drawn = [
        figures.shown(paper.name, name, given.figures[paper.name, name])
        for name in paper.items("figures")
        if (paper.name, name) in given.figures
    ]
    missing += [(figure.title, figure.not_run) for figure in drawn if figure.not_run]
    for items in (shown, drawn):
        items.sort(key=lambda one: papers_order(one.title))
    decided = given.claims.get(paper.name)
    return {
        "name": paper.name,
        "title": paper.about.title,
        "references": paper.about.references,
        "legend": paper.about.legend,
        "claims": page_claims.shown(paper, decided, caveats) if decided else [],
        "tables": shown,
        "figures": drawn,
        "recipes": recipes,
        "rules": rules,
        "missing": missing,
    }


def _papers(folder: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what is shown of each paper of a folder, which is one itself where it has none.

    Tables and claims that name none of the papers, as one's own do, are with the first.
    """
    named = {one.key: one for one in folder["references"]}
    keys = [*named] or [folder["name"]]
    beside, _ = figures.placed(folder["figures"], folder["tables"])
    sources = {one.name: it.source for it in folder["tables"] for one in beside[it.name]}

    def key(source: str) -> str:
        return key_of(source) if key_of(source) in keys else keys[0]

    for at in keys:
        shown = {
            "tables": [one for one in folder["tables"] if key(one.source) == at],
            "figures": [
                one
                for one in folder["figures"]
                if key(sources.get(one.name) or figures.named(one.title, keys)) == at
            ],
            "claims": [one for one in folder["claims"] if key(one.source) == at],
        }
        if any(shown.values()):
            about = {"key": at, "reference": named.get(at)}
            yield {**folder, **about, **shown}


def _tolerances(papers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rule of each metric that some table on the page judged by."""
    return [
        {"paper": paper["name"], "metric": metric, **rule}
        for paper in papers
        for metric, rule in paper["rules"].items()
    ]
