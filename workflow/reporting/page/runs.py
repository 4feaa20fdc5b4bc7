"""What the report page tells of the runs: settings, curves, cost, and the terms of their data."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from markupsafe import Markup

from model.store.checksums import check_files
from workflow.datasets.fetched import sources
from workflow.datasets.kinds.recipe import files
from workflow.errors import RecipeError
from workflow.files import read_json
from workflow.reporting.page.charts import Line, chart

HISTORY = "history.jsonl"


def variants(runs: Mapping[Path, Mapping[str, Any]]) -> list[dict[str, Any]]:
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


def _curves(folders: Mapping[Path, Mapping[str, Any]], variant: str) -> str:
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


def hardware(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
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


def spent(runs: Sequence[Mapping[str, Any]], plan: Path | None) -> list[dict[str, Any]]:
    """Return hours of training by experiment: planned and spent on runs with a plan, and all.

    A run that two experiments share was trained once, so it counts once.  `plan` is the file of
    what was planned, where anything was.
    """
    planned = _planned(plan)
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


def licences(recipes: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
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
