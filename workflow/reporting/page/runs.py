"""What the page tells of the runs behind its cells: settings, curves, machines, commands."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

import yaml
from markupsafe import Markup

from workflow.datasets.kinds.recipe import Recipe
from workflow.definitions.paper import PAPERS
from workflow.files import read_json
from workflow.planning.experiments import Experiment, load_experiments
from workflow.planning.identity import ResolvedSpec
from workflow.planning.run_files import RunRecord
from workflow.planning.settings import Layer, recipe
from workflow.reporting.cells import RunOrigin
from workflow.reporting.command_lines import command, measures
from workflow.reporting.measures import earlier
from workflow.reporting.page.charts import ChartLine, chart
from workflow.reporting.statistics.comparability import base_scale
from workflow.runtime.errors import InputError
from workflow.runtime.integrity import check_files

HISTORY = "history.jsonl"
MOST = 60
"""Points of a curve."""


class Recorded(NamedTuple):
    """The record of a run, and the folder of its history; what is published has none."""

    run: RunRecord
    folder: Path | None = None


class ChangedSetting(NamedTuple):
    """A setting that a variant changes; – where one of both lacks it."""

    key: str
    ours: str
    default: str


class ShownRun(RunRecord):
    """A run, with what is to be said of the code that trained it."""

    earlier: str


class ShownVariant(NamedTuple):
    """What the page shows of a variant and its runs."""

    address: str
    experiment: str
    variant: str
    label: str
    settings: str
    """As YAML."""
    differences: Sequence[ChangedSetting] | None
    """To what the experiment's variants share at this scale; None of one that no longer exists."""
    runs: Sequence[ShownRun]
    curves: Markup
    """Nothing where the histories are not here."""
    command: str
    """That makes the runs."""


def variant_address(experiment: str, variant: str) -> str:
    """Return where the page tells of a variant."""
    return f"run/{experiment}/{variant}"


def addresses(identities: Iterable[str], runs: Mapping[str, RunOrigin]) -> list[str]:
    """Return where the page tells of the variants of some runs, each once.

    `runs` has experiment and variant of each identity.
    """
    behind = (runs[identity] for identity in identities)
    found = (variant_address(run["experiment"], run["variant"]) for run in behind)
    return list(dict.fromkeys(found))


def recorded(files: Iterable[Path]) -> list[Recorded]:
    """Read the `run.json` of runs, beside which their histories lie."""
    return [Recorded(read_json(path), path.parent) for path in files]


def variants(records: Iterable[Recorded], scale: str) -> list[ShownVariant]:
    """Return what the page shows of each variant, by experiment and name."""
    grouped: dict[tuple[str, str], list[Recorded]] = {}
    for one in sorted(records, key=lambda one: int(one.run["spec"]["seed"])):
        labels = one.run["spec"]["run"]
        grouped.setdefault((labels["experiment"], labels["variant"]), []).append(one)
    return [_variant(*names, group, scale) for names, group in sorted(grouped.items())]


def _variant(experiment: str, variant: str, group: Sequence[Recorded], scale: str) -> ShownVariant:
    spec = group[0].run["spec"]
    settings = _settings({**spec["data"], **spec["run"].get("data", {})}, spec)
    seeds = [int(one.run["spec"]["seed"]) for one in group]
    file = measures(scale, ((experiment, variant, seed) for seed in seeds))
    return ShownVariant(
        address=variant_address(experiment, variant),
        experiment=experiment,
        variant=variant,
        label=spec["run"].get("label") or variant,
        settings=yaml.safe_dump(settings, sort_keys=False, allow_unicode=True).rstrip(),
        differences=_differences(experiment, spec, scale),
        runs=[{**one.run, "earlier": earlier(one.run)} for one in group],
        curves=Markup(_curves(group, variant)),
        command=command(scale, file),
    )


def _settings(data: Layer, spec: ResolvedSpec) -> Layer:
    """Return the settings that are shown and compared, by part."""
    model, objective, training = spec["model"], spec["objective"], spec["training"]
    return {"data": data, "model": model, "objective": objective, "training": training}


@cache
def _experiments() -> Mapping[str, Experiment]:
    return load_experiments(PAPERS)


def _differences(
    experiment: str, spec: ResolvedSpec, scale: str
) -> Sequence[ChangedSetting] | None:
    """Return in what the settings of a run differ from what its experiment's variants share."""
    known = _experiments().get(experiment)
    if known is None:
        return None
    shared: Layer = known.shared(base_scale(scale))
    with suppress(InputError, KeyError):  # where the variants say the rest of the data
        shared = {**shared, "data": recipe(cast(Recipe, shared["data"]), known.stated)}
    ours = _settings(spec["run"].get("data", {}), spec)
    mine, theirs = (
        dict(flat({part: settings.get(part, {}) for part in ours})) for settings in (ours, shared)
    )
    return [
        ChangedSetting(key, mine.get(key, "–"), theirs.get(key, "–"))
        for key in dict.fromkeys((*mine, *theirs))
        if mine.get(key) != theirs.get(key)
    ]


def flat(settings: Layer, prefix: str = "") -> Iterable[tuple[str, str]]:
    """Yield every setting as text with its dotted name."""
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{prefix}{name}.")
        elif value not in ({}, None):
            shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            yield f"{prefix}{name}", shown


def _curves(group: Sequence[Recorded], variant: str) -> str:
    curves = []
    for run, folder in group:
        if folder is None:
            continue
        check_files(folder, {HISTORY: run["files"][HISTORY]})
        rows = [json.loads(line) for line in (folder / HISTORY).read_text("utf-8").splitlines()]
        for split in ("train", "dev"):
            points = [
                (float(row["step"]), float(row["loss"]))
                for row in rows
                if row.get("split") == split and row.get("loss") is not None
            ]
            curves.append(ChartLine(split, _thinned(points)))
    return chart(curves, f"Loss of {variant} by step, on the training and the dev split", "step")


def _thinned(points: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """Return at most about `MOST` points: the means of equal stretches."""
    size = -(-len(points) // MOST) or 1
    if size == 1:
        return points
    stretches = [points[start : start + size] for start in range(0, len(points), size)]
    return [(part[-1][0], sum(y for _, y in part) / len(part)) for part in stretches]
