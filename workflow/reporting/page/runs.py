"""What the report page tells of the runs: settings, curves, cost, and the terms of their data."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from markupsafe import Markup

from model.store.checksums import check_files
from workflow.datasets.fetched import sources
from workflow.datasets.kinds.recipe import files
from workflow.errors import RecipeError
from workflow.files import read_json
from workflow.reporting.measures import Run
from workflow.reporting.page.charts import Line, chart

HISTORY = "history.jsonl"


class ShownVariant(NamedTuple):
    """What the page shows of a variant: its settings as YAML, its runs, and their losses."""

    experiment: str
    variant: str
    label: str
    settings: str
    runs: list[Run]
    curves: Markup


class Hardware(NamedTuple):
    """What runs took on one kind of hardware: hours of training, and megabytes."""

    device: str
    cpu: str
    torch: str
    runs: int
    hours: float
    memory: float
    continued: int


class Spent(NamedTuple):
    """Hours of training of an experiment: of runs with a plan what was planned and taken."""

    experiment: str
    runs: int
    planned_runs: int
    planned: float
    of_planned: float
    spent: float


class Terms(NamedTuple):
    """The files of a dataset under one licence."""

    dataset: str
    licence: str
    files: list[str]


def variants(runs: Mapping[Path, Run]) -> list[ShownVariant]:
    """Return what the page shows of each variant: settings, one line a seed, curves.

    `runs` is the record of each run by the folder that it lies in.
    """
    grouped: dict[tuple[str, str], dict[Path, Run]] = {}
    for folder, run in sorted(runs.items(), key=lambda item: int(item[1]["spec"]["seed"])):
        labels = run["spec"]["run"]
        grouped.setdefault((labels["experiment"], labels["variant"]), {})[folder] = run
    shown = []
    for (experiment, variant), group in sorted(grouped.items()):
        spec = next(iter(group.values()))["spec"]
        options = spec["run"].get("data", {})
        settings = {"data": {**spec["data"], **options}}
        settings |= {key: spec[key] for key in ("model", "objective", "training")}
        written = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True).rstrip()
        label = spec["run"].get("label") or variant
        curves = Markup(_curves(group, variant))
        shown.append(
            ShownVariant(experiment, variant, label, written, list(group.values()), curves)
        )
    return shown


def _curves(folders: Mapping[Path, Run], variant: str) -> str:
    """Return a chart of the loss on training and development split, one line a seed each."""
    curves = []
    for folder, run in folders.items():
        check_files(folder, {HISTORY: run["files"][HISTORY]})
        rows = _history(folder)
        for split in ("train", "dev"):
            points = [
                (float(row["step"]), float(row["loss"]))
                for row in rows
                if row.get("split") == split and row.get("loss") is not None
            ]
            curves.append(Line(split, _thinned(points)))
    return chart(curves, f"Loss of {variant} by step, on the training and the dev split", "step")


def _history(folder: Path) -> list[dict[str, Any]]:
    """Return a run's history."""
    text = (folder / HISTORY).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _thinned(
    points: Sequence[tuple[float, float]], most: int = 150
) -> Sequence[tuple[float, float]]:
    """Return at most about `most` points: the means of equal stretches."""
    size = -(-len(points) // most) or 1
    if size == 1:
        return points
    stretches = [points[start : start + size] for start in range(0, len(points), size)]
    return [(part[-1][0], sum(y for _, y in part) / len(part)) for part in stretches]


def hardware(runs: Sequence[Run]) -> list[Hardware]:
    """Return the cost of the runs by the hardware that they ran on.

    A run that two experiments share was trained once, so it counts once.
    """
    grouped: dict[tuple[str, str, str], list[Run]] = {}
    for run in {run["identity"]: run for run in runs}.values():
        kind = (str(run.get("device")), str(run.get("cpu")), str(run.get("torch")))
        grouped.setdefault(kind, []).append(run)
    return [
        Hardware(
            *kind,
            len(group),
            sum(float(run.get("device_seconds") or 0) for run in group) / 3600,
            max(float(run.get("peak_memory_mb") or 0) for run in group),
            sum(len(run.get("continuations") or []) for run in group),
        )
        for kind, group in sorted(grouped.items())
    ]


def spent(runs: Sequence[Run], plan: Path | None) -> list[Spent]:
    """Return hours of training by experiment: planned and spent on runs with a plan, and all.

    A run that two experiments share was trained once, so it counts once.  `plan` is the file of
    what was planned, where anything was.
    """
    planned = read_json(plan)["runs"] if plan and plan.is_file() else {}
    grouped: dict[str, list[tuple[float, float | None]]] = {}
    for run in {run["identity"]: run for run in reversed(runs)}.values():
        labels = run["spec"]["run"]
        key = f"{labels['experiment']}/{labels['variant']}/seed-{run['spec']['seed']}"
        hours = float(run.get("device_seconds") or 0) / 3600
        expected = planned[key]["seconds"] / 3600 if key in planned else None
        grouped.setdefault(labels["experiment"], []).append((hours, expected))
    return [
        Spent(
            experiment,
            len(group),
            sum(expected is not None for _, expected in group),
            sum(expected or 0 for _, expected in group),
            sum(hours for hours, expected in group if expected is not None),
            sum(hours for hours, _ in group),
        )
        for experiment, group in sorted(grouped.items())
    ]


def licences(recipes: Iterable[Mapping[str, Any]]) -> list[Terms]:
    """Return the terms of the files that the data of these recipes are made from, by dataset.

    A dataset that was generated has no files; one of an option that is gone is left out.
    """
    listed = sources.load()
    covered: dict[tuple[str, str], list[str]] = {}
    for recipe in recipes:
        try:
            names = files(recipe)["sources"]
        except RecipeError:
            continue
        terms = {name: listed[recipe["dataset"], name].licence for name in names}
        if not terms:
            covered[recipe["dataset"], "generated by this workflow"] = []
        for name, licence in terms.items():
            behind = covered.setdefault((recipe["dataset"], licence), [])
            behind += [name] if name not in behind else []
    return [Terms(*key, names) for key, names in sorted(covered.items())]
