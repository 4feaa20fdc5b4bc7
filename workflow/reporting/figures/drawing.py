"""A figure's files, drawn by the function that its definition names."""

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

from workflow.definitions.figures import Figure, Finding
from workflow.definitions.paper import NOTHING, Paper
from workflow.files import write_sidecar
from workflow.reporting.figures.drawn import drawn
from workflow.reporting.figures.panels import Panel, missing, other_devices, panels
from workflow.reporting.figures.style import rendered, styled
from workflow.reporting.measures import EvaluatedRun, Measures, provenance
from workflow.reporting.overlaid import Overlaid, caption_of_figure
from workflow.runtime.atomic import write_atomically
from workflow.runtime.errors import ReportingError

KINDS = ("pdf", "png", "svg")


def plot(
    paper: Paper,
    name: str,
    scale: str,
    measures: Measures,
    prefix: Path,
    changed: Overlaid = NOTHING,
) -> None:
    """Write a figure as `<prefix>.pdf`, `.png`, `.svg` and its sidecar `.json`.

    `changed` is what an overlay changes of runs.

    Raises ReportingError when the definition names a function or an argument that does not exist,
    or asks for what can't be drawn.
    """
    definition = paper.definition("figures", name)
    given = panels(definition, paper.expected, measures)
    with styled():
        try:
            figure = _called(paper, name, definition, given)
            finding = definition.get("finding")
            title = _called(paper, name, finding, given) if finding else ""
        except ReportingError as error:
            raise ReportingError(f"{_where(paper, name)}: {error}") from None
        for kind in KINDS:
            write_atomically(prefix.with_suffix(f".{kind}"), rendered(figure, kind))
        sidecar = {**_sidecar(paper, name, scale, given, changed), "data": drawn(figure)}
        sidecar["title"] = title or definition["title"]
    write_sidecar(prefix, sidecar, KINDS)


def _called(paper: Paper, name: str, told: Figure | Finding, given: list[Panel]) -> Any:
    """Return what the function behind `path` makes of the panels, once its arguments fit."""
    where, options = _where(paper, name), told.get("options", {})
    module, _, function = str(told["path"]).partition(":")
    try:
        call = getattr(import_module(module), function)
    except (ImportError, AttributeError):
        raise ReportingError(f"{where}: {told['path']} does not exist; correct the path.") from None
    try:
        inspect.signature(call).bind([], **options)
    except TypeError as error:
        raise ReportingError(f"{where}: the options do not fit {function}: {error}.") from None
    return call(given, **options)


def _where(paper: Paper, name: str) -> str:
    return f"{paper.folder / 'figures.yaml'}: figures.{name}"


def _sidecar(
    paper: Paper, name: str, scale: str, given: list[Panel], changed: Overlaid
) -> dict[str, Any]:
    definition = paper.figures["figures"][name]
    series = [one for panel in given for one in panel.series]
    behind = {measure.identity: measure for one in series for measure in one.behind}
    caption = caption_of_figure(definition["caption"], _labelled(given), changed)
    return {
        "schema": 1,
        "paper": paper.name,
        "figure": name,
        "scale": scale,
        "title": definition["title"],
        "caption": f"{caption} {other_devices(given)}".strip(),
        "not_run": missing(given),
        "runs": {identity: provenance(measure) for identity, measure in behind.items()},
        "panels": [
            {
                "label": panel.label,
                "series": [
                    {
                        "label": one.label,
                        "variant": one.variant,
                        "seeds": [measure.seed for measure in one.behind],
                        "runs": [measure.identity for measure in one.behind],
                        "measures": [measure.path.as_posix() for measure in one.behind],
                    }
                    for one in panel.series
                ],
            }
            for panel in given
        ],
    }


def _labelled(given: list[Panel]) -> dict[str, list[EvaluatedRun]]:
    """Return the measures behind each series, by its label, behind its panel's if not alone."""
    found: dict[str, list[EvaluatedRun]] = {}
    for panel in given:
        for one in panel.series:
            label = ": ".join(filter(None, (panel.label * (len(given) > 1), one.label)))
            found.setdefault(label, []).extend(one.behind)
    return found
