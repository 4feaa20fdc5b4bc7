"""The report page of one scale: the results that it is given, on one self-contained page."""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from workflow.datasets import sources
from workflow.datasets.errors import RecipeError
from workflow.datasets.recipe import files
from workflow.reporting import corpora, layout, tolerances
from workflow.reporting.charts import Curve, chart, whisker
from workflow.reporting.claims_table import counted, difference, sides
from workflow.reporting.comparability import base_scale
from workflow.reporting.files import read_csv, read_json
from workflow.reporting.paper import Paper
from workflow.reporting.verdict import CLOSE, Tolerance

TEMPLATES = Path(__file__).resolve().parent.parent / "report"
PUBLISHED = Path("docs/reproduction")


def render(
    scale: str,
    runs: Sequence[Path] = (),
    tables: Iterable[Path] = (),
    figures: Iterable[Path] = (),
    claims: Iterable[Path] = (),
    mechanisms: Sequence[str] = (),
    plan: Path | None = None,
    so_far: str = "",
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
    described = [it for paper in papers for table in paper["tables"] for it in table["recipes"]]
    page = environment.get_template("report.html.j2").render(
        scale=scale,
        base=base_scale(scale),
        so_far=so_far,
        style=Markup((TEMPLATES / "style.css").read_text(encoding="utf-8")),
        papers=[
            paper for paper in papers if paper["tables"] or paper["figures"] or paper["claims"]
        ],
        variants=_variants(records),
        hardware=_hardware(list(records.values())),
        spent=_spent(list(records.values()), _planned(plan)),
        licences=_licences([*_recipes(records.values()), *described]),
        tolerances=_tolerances(papers),
        close=CLOSE,
        changes=tolerances.changes(
            tolerances.read_history(PUBLISHED / scale), tolerances.current()
        ),
        dirty=sorted({str(run.get("commit"))[:10] for run in records.values() if run.get("dirty")}),
        commits=sorted({str(run["commit"])[:10] for run in records.values() if run.get("commit")}),
    )
    return str(page)


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
        "title": paper.name.replace("_", " ").title(),
        "claims": [_claim(claim) for claim in read_json(decided)["claims"]] if decided else [],
        "tables": [
            _table(paper, name, given.tables[paper.name, name])
            for name in paper.tables["tables"]
            if (paper.name, name) in given.tables
        ]
        + [
            _corpora(paper, name, given.tables[paper.name, name])
            for name in paper.corpora["tables"]
            if (paper.name, name) in given.tables
        ],
        "figures": [
            _figure(name, given.figures[paper.name, name])
            for name in paper.figures["figures"]
            if (paper.name, name) in given.figures
        ],
    }


def _claim(claim: Mapping[str, Any]) -> dict[str, Any]:
    """Return a claim with its numbers as text and its interval as a small picture."""
    picture = ""
    if claim["ci_low"] is not None:
        picture = whisker(
            claim["ci_low"],
            claim["ci_high"],
            claim["estimate"],
            claim["margin"],
            f"95 % interval {difference(claim)}, to compare with {claim['margin']:g}",
        )
    return {
        **claim,
        "sides": sides(claim),
        "difference": difference(claim),
        "counted": counted(claim),
        "picture": Markup(picture),
    }


def _table(paper: Paper, name: str, file: Path) -> dict[str, Any]:
    return _shown(paper.tables, name, read_csv(file), read_json(file.with_suffix(".json")))


def _corpora(paper: Paper, name: str, file: Path) -> dict[str, Any]:
    """Return a table that is made from the data alone, in the form of the others."""
    sidecar = read_json(file.with_suffix(".json"))
    definitions = corpora.as_tables(paper, name, sidecar["corpora"])
    return _shown(definitions, name, read_csv(file), sidecar)


def _shown(
    definitions: Mapping[str, Any],
    name: str,
    records: list[dict[str, str]],
    sidecar: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what the page shows of a table."""
    grid = layout.grid(definitions, name, records, sidecar)
    return {
        **definitions["tables"][name],
        "name": name,
        "grid": grid,
        "notes": layout.notes(definitions, name, grid),
        "tolerances": sidecar["tolerances"],
        "remarks": _remarks(records),
        "not_run": _not_run(records),
        "recipes": [it["recipe"] for it in sidecar.get("corpora", {}).values() if "digest" in it],
    }


def _remarks(records: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the reason of each verdict; texts that print the same number share one."""
    found: dict[tuple[str, ...], str] = {}
    for record in records:
        if record["expected"]:
            place = (record["row"], record["column"], record["metric"])
            flag = f" ({record['flag']})" if record["flag"] else ""
            where = f"{record['row']}, {record['column']}, {record['metric']}{flag}"
            found.setdefault((*place, record["expected"]), f"{where}: {record['note']}")
    return list(found.values())


def _not_run(records: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the cells without a run: a row's name where it has none at all, else each cell."""
    rows: dict[str, dict[str, bool]] = {}
    for record in records:
        columns = rows.setdefault(record["row"], {})
        absent = record["verdict"] == "not run"
        columns[record["column"]] = columns.get(record["column"], True) and absent
    named = []
    for row, columns in rows.items():
        missing = [column for column, is_missing in columns.items() if is_missing]
        whole = len(missing) == len(columns)
        named += [row] if whole else [f"{row}, {column}" for column in missing]
    return named


def _figure(name: str, file: Path) -> dict[str, Any]:
    sidecar = read_json(file.with_suffix(".json"))
    image = base64.b64encode(file.read_bytes()).decode()
    return {**sidecar, "name": name, "image": Markup(f"data:image/png;base64,{image}")}


def _variants(runs: Mapping[Path, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what the page shows of each variant: settings, one line a seed, curves.

    `runs` is the record of each run by the folder that it lies in.
    """
    grouped: dict[tuple[str, str], dict[Path, Mapping[str, Any]]] = {}
    for folder, run in sorted(runs.items(), key=lambda item: int(item[1]["spec"]["seed"])):
        labels = run["spec"]["run"]
        grouped.setdefault((labels["experiment"], labels["variant"]), {})[folder] = run
    found = []
    for (experiment, variant), group in sorted(grouped.items()):
        spec = next(iter(group.values()))["spec"]
        options = spec["run"].get("data", {})
        shown = {"data": {**spec["data"], **options}}
        shown |= {key: spec[key] for key in ("model", "objective", "training")}
        found.append(
            {
                "experiment": experiment,
                "variant": variant,
                "label": spec["run"].get("label") or variant,
                "settings": yaml.safe_dump(shown, sort_keys=False, allow_unicode=True).rstrip(),
                "runs": list(group.values()),
                "curves": Markup(_curves(group, variant)),
            }
        )
    return found


def _curves(folders: Iterable[Path], variant: str) -> str:
    """Return a chart of the loss on training and development split, one line a seed each."""
    curves = []
    for folder in folders:
        rows = _history(folder / "history.jsonl")
        for split in ("train", "dev"):
            points = [
                (float(row["step"]), float(row["loss"]))
                for row in rows
                if row.get("split") == split and row.get("loss") is not None
            ]
            curves.append(Curve(split, _thinned(points)))
    return chart(curves, f"Loss of {variant} by step, on the training and the dev split", "step")


def _history(path: Path) -> list[dict[str, Any]]:
    """Return a run's history; a missing one, or a line cut short, is left out."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def _thinned(
    points: Sequence[tuple[float, float]], most: int = 150
) -> Sequence[tuple[float, float]]:
    """Return at most about `most` points: the means of equal stretches."""
    size = -(-len(points) // most) or 1
    if size == 1:
        return points
    stretches = [points[start : start + size] for start in range(0, len(points), size)]
    return [(part[-1][0], sum(y for _, y in part) / len(part)) for part in stretches]


def _hardware(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the cost of the runs by the hardware that they ran on.

    A run that two experiments share was trained once, so it counts once.
    """
    grouped: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for run in {run["identity"]: run for run in runs}.values():
        kind = (str(run.get("device")), str(run.get("cpu")), str(run.get("torch")))
        grouped.setdefault(kind, []).append(run)
    return [
        {
            "device": device,
            "cpu": cpu,
            "torch": torch,
            "runs": len(group),
            "hours": sum(float(run.get("device_seconds") or 0) for run in group) / 3600,
            "memory": max(float(run.get("peak_memory_mb") or 0) for run in group),
            "continued": sum(len(run.get("continuations") or []) for run in group),
        }
        for (device, cpu, torch), group in sorted(grouped.items())
    ]


def _planned(plan: Path | None) -> Mapping[str, Mapping[str, Any]]:
    """Return what was planned for each run by its key, nothing where there was no plan."""
    found: Mapping[str, Any] = read_json(plan)["runs"] if plan and plan.is_file() else {}
    return found


def _spent(
    runs: Sequence[Mapping[str, Any]], planned: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return hours of training by experiment: planned and spent on runs with a plan, and all.

    A run that two experiments share was trained once, so it counts once.
    """
    grouped: dict[str, list[tuple[float, float | None]]] = {}
    for run in {run["identity"]: run for run in reversed(runs)}.values():
        labels = run["spec"]["run"]
        key = f"{labels['experiment']}/{labels['variant']}/seed-{run['spec']['seed']}"
        hours = float(run.get("device_seconds") or 0) / 3600
        expected = planned[key]["seconds"] / 3600 if key in planned else None
        grouped.setdefault(labels["experiment"], []).append((hours, expected))
    return [
        {
            "experiment": experiment,
            "runs": len(group),
            "planned_runs": sum(expected is not None for _, expected in group),
            "planned": sum(expected or 0 for _, expected in group),
            "of_planned": sum(hours for hours, expected in group if expected is not None),
            "spent": sum(hours for hours, _ in group),
        }
        for experiment, group in sorted(grouped.items())
    ]


def _recipes(runs: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the data recipe of each run."""
    return [run["spec"]["run"].get("data", {}) for run in runs]


def _licences(recipes: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the terms of the files that the data of these recipes are made from, by dataset.

    A dataset that was generated has no files; one of an option that is gone is left out.
    """
    listed = sources.load()
    found: dict[tuple[str, str], list[str]] = {}
    for recipe in recipes:
        try:
            names = files(recipe)["sources"]
        except RecipeError:
            continue
        terms = {name: listed[recipe["dataset"], name].licence for name in names}
        if not terms:
            found[recipe["dataset"], "generated by this workflow"] = []
        for name, licence in terms.items():
            behind = found.setdefault((recipe["dataset"], licence), [])
            behind += [name] if name not in behind else []
    return [
        {"dataset": dataset, "licence": licence, "files": names}
        for (dataset, licence), names in sorted(found.items())
    ]


def _tolerances(papers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rule of each metric that some table on the page judged by."""
    found = {}
    for paper in papers:
        for table in paper["tables"]:
            for metric, rule in table["tolerances"].items():
                found[paper["name"], metric] = {
                    "paper": paper["name"],
                    "metric": metric,
                    "tolerance": Tolerance.of(rule),
                    "because": rule["because"],
                }
    return list(found.values())
