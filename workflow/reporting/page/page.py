"""The report page of one scale: the results that it is given, on one self-contained page."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from workflow.definitions.paper import Paper
from workflow.files import read_history, read_json, read_sidecar, write_sidecar, write_text
from workflow.paths import PUBLISHED
from workflow.reporting.claims.judged import JudgedClaim, read_claims
from workflow.reporting.claims.markdown import counted, difference, sides
from workflow.reporting.page import runs as page_runs
from workflow.reporting.page.charts import whisker
from workflow.reporting.page.headline import Headline
from workflow.reporting.statistics import tolerances
from workflow.reporting.statistics.cells import Cell, read_cells
from workflow.reporting.statistics.comparability import base_scale
from workflow.reporting.statistics.verdict import NEAR
from workflow.reporting.tables import corpora, layout

TEMPLATES = Path(__file__).resolve().parents[2] / "report"


def render(
    scale: str,
    runs: Sequence[Path] = (),
    tables: Iterable[Path] = (),
    figures: Iterable[Path] = (),
    claims: Iterable[Path] = (),
    mechanisms: Sequence[str] = (),
    plan: Path | None = None,
    so_far: str = "",
    headline: Headline | None = None,
) -> str:
    """Return the page as HTML; ReportingError names a file that is missing or broken.

    Args:
        scale: name of the scale.
        runs: the `run.json` of each run, beside its history.
        tables: the `.csv` of each table, in a folder named after its paper.
        figures: the `.png` of each figure, likewise.
        claims: `<paper>.json` of each paper.
        mechanisms: names of the user's own, which have rows in the tables.
        plan: what the runs were planned to take, where they were planned.
        so_far: how many runs of how many, where not all were waited for.
        headline: what came out, in words and counted.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = prose
    given = Given(_by_name(tables), _by_name(figures), {path.stem: path for path in claims})
    papers = [_paper(paper, given) for paper in Paper.all(mechanisms)]
    records = {path.parent: read_json(path) for path in runs}
    recipes = [run["spec"]["run"].get("data", {}) for run in records.values()]
    recipes += [it for paper in papers for table in paper["tables"] for it in table["recipes"]]
    page = environment.get_template("report.html.j2").render(
        scale=scale,
        base=base_scale(scale),
        so_far=so_far,
        headline=headline,
        style=Markup((TEMPLATES / "style.css").read_text(encoding="utf-8")),
        papers=[
            paper for paper in papers if paper["tables"] or paper["figures"] or paper["claims"]
        ],
        variants=page_runs.variants(records),
        hardware=page_runs.hardware(list(records.values())),
        spent=page_runs.spent(list(records.values()), plan),
        licences=page_runs.licences(recipes),
        tolerances=_tolerances(papers),
        near=NEAR,
        changes=tolerances.changes(
            read_history(PUBLISHED / scale / tolerances.NAME), tolerances.current()
        ),
        dirty=sorted({str(run.get("commit"))[:10] for run in records.values() if run.get("dirty")}),
        commits=sorted({str(run["commit"])[:10] for run in records.values() if run.get("commit")}),
    )
    return str(page)


def write_page(path: Path, page: str) -> None:
    """Write a page, and beside it its checksum."""
    write_text(path, page)
    write_sidecar(path.with_suffix(""), {"schema": 1}, ["html"])


def prose(text: str) -> Markup:
    """Return escaped text in which `words` between backticks are set as code."""
    parts = [
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
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


def _paper(paper: Paper, given: Given) -> dict[str, Any]:
    """Return what was given of a paper, in the order of its definitions."""
    decided = given.claims.get(paper.name)
    return {
        "name": paper.name,
        "title": paper.about.title,
        "references": paper.about.references,
        "legend": paper.about.legend,
        "claims": [_claim(claim) for claim in read_claims(decided)] if decided else [],
        "tables": [
            _table(paper, name, given.tables[paper.name, name])
            for name in paper.items("tables")
            if (paper.name, name) in given.tables
        ]
        + [
            _corpora(paper, name, given.tables[paper.name, name])
            for name in paper.items("corpora")
            if (paper.name, name) in given.tables
        ],
        "figures": [
            _figure(name, given.figures[paper.name, name])
            for name in paper.items("figures")
            if (paper.name, name) in given.figures
        ],
    }


def _claim(claim: JudgedClaim) -> dict[str, Any]:
    """Return a claim with its numbers as text and its interval as a small picture."""
    picture = ""
    if claim.interval and claim.estimate is not None:
        said = f"95 % interval {difference(claim)}, to compare with {claim.margin:g}"
        picture = whisker(*claim.interval, claim.estimate, claim.margin, said)
    return {
        **vars(claim),
        "sides": " vs ".join(sides(claim)),
        "difference": difference(claim),
        "counted": counted(claim),
        "picture": Markup(picture),
    }


def _table(paper: Paper, name: str, file: Path) -> dict[str, Any]:
    sidecar = read_sidecar(file)
    return _shown(paper.tables, name, read_cells(file), sidecar)


def _corpora(paper: Paper, name: str, file: Path) -> dict[str, Any]:
    """Return a table that is made from the data alone, in the form of the others."""
    sidecar = read_sidecar(file)
    definitions = corpora.as_tables(paper, name, sidecar["corpora"])
    return _shown(definitions, name, read_cells(file), sidecar)


def _shown(
    definitions: Mapping[str, Any],
    name: str,
    cells: Sequence[Cell],
    sidecar: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what the page shows of a table."""
    grid = layout.grid(definitions, name, cells, sidecar)
    return {
        **definitions["tables"][name],
        "name": name,
        "grid": grid,
        "notes": layout.notes(definitions, name, grid),
        "tolerances": sidecar["tolerances"],
        "remarks": _remarks(cells),
        "not_run": _not_run(cells),
        "recipes": [it["recipe"] for it in sidecar.get("corpora", {}).values() if "digest" in it],
    }


def _remarks(cells: Sequence[Cell]) -> list[str]:
    """Return the reason of each verdict; texts that print the same number share one."""
    remarks: dict[tuple[str, ...], str] = {}
    for cell in cells:
        if cell.expected:
            flag = f" ({cell.flag})" if cell.flag else ""
            remark = f"{', '.join(cell.place)}{flag}: {cell.note}"
            remarks.setdefault((*cell.place, cell.expected), remark)
    return list(remarks.values())


def _not_run(cells: Sequence[Cell]) -> list[str]:
    """Return the cells without a run: a row's name where it has none at all, else each cell."""
    rows: dict[str, dict[str, bool]] = {}
    for cell in cells:
        columns = rows.setdefault(cell.row, {})
        columns[cell.column] = columns.get(cell.column, True) and cell.verdict == "not run"
    named = []
    for row, columns in rows.items():
        missing = [column for column, is_missing in columns.items() if is_missing]
        whole = len(missing) == len(columns)
        named += [row] if whole else [f"{row}, {column}" for column in missing]
    return named


def _figure(name: str, file: Path) -> dict[str, Any]:
    sidecar = read_sidecar(file)
    image = base64.b64encode(file.read_bytes()).decode()
    return {**sidecar, "name": name, "image": Markup(f"data:image/png;base64,{image}")}


def _tolerances(papers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rule of each metric that some table on the page judged by."""
    rules = {}
    for paper in papers:
        for table in paper["tables"]:
            for metric, rule in table["tolerances"].items():
                rules[paper["name"], metric] = {"paper": paper["name"], "metric": metric, **rule}
    return list(rules.values())
