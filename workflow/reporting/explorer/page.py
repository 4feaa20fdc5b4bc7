"""The page as one file: template, style and scripts of `workflow/explorer`, and the data."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from workflow import ROOT
from workflow.definitions.paper import Paper
from workflow.reporting.explorer.data import page_data, recorded_of, recordings, tasks_of
from workflow.reporting.explorer.shown import ExplorerRun
from workflow.reporting.measures import EvaluatedRun
from workflow.reporting.page.templates import STYLES, Link, environment, inlined, links_from

TEMPLATES = Path(__file__).resolve().parents[2] / "explorer"
TEMPLATE = "explorer.html.j2"
ENGINE = (
    "parameters.js",
    "layers.js",
    "normalizers.js",
    "attention.js",
    "encoders.js",
    "model.js",
    "field.js",
    "counterfactual.js",
    "worker.js",
)
"""What computes, in `engine/`, in the order in which one uses another."""
SCRIPTS = (
    "marks.js",
    "words.js",
    "state.js",
    "sentences.js",
    "answers.js",
    "sentence.js",
    "prediction.js",
    "verdict.js",
    "trial.js",
    "heat.js",
    "graph.js",
    "recorded.js",
    "panel.js",
    "save.js",
    "main.js",
    "replace.js",
)
"""What shows it, in `page/`, likewise."""


def explorer_page(
    scale: str,
    runs: Iterable[ExplorerRun],
    data: Path,
    measures: Iterable[EvaluatedRun],
    links: Iterable[Link] = (),
    missing: Iterable[ExplorerRun] = (),
) -> str:
    """Return the page of some runs, and of what was recorded of others.

    Args:
        scale: name of the scale.
        runs: those that compute in the page.
        data: the folder of encoded data.
        measures: of runs that may have recordings.
        links: to the pages beside it.
        missing: runs whose data could not be made.
    """
    papers = Paper.all()
    recorded = recordings(recorded_of(papers), measures)
    made = page_data(scale, tasks_of(papers), runs, data, recorded, missing)
    return render(made, [*links, *_cited(papers)])


def _cited(papers: Iterable[Paper]) -> Iterator[Link]:
    """Yield a link to each paper whose models are shown."""
    for paper in papers:
        if paper.items("explorer") or paper.explorer.get("recorded"):
            yield from ((one.name, one.link) for one in paper.about.references)


def beside(out: Path) -> list[Link]:
    """Return links from a page in the project's folder to what is there of its report and code."""
    reports = [out.parent / name for name in ("report.html", "so_far/report.html")]
    named = [("Report", path) for path in reports if path.is_file()][:1]
    named += [("Guide", ROOT / "docs/explorer.md"), ("Code", TEMPLATES / "engine")]
    return links_from(out, named)


def render(data: Mapping[str, Any], links: Sequence[Link] = (), templates: Path = TEMPLATES) -> str:
    """Return the page of what `page_data` made, with links by name, as HTML."""
    return (
        environment(templates)
        .get_template(TEMPLATE)
        .render(
            scale=data["scale"],
            links=links,
            lacking=data["lacking"],
            data=embedded(data),
            style=inlined([*STYLES, templates / "style.css"]),
            engine=inlined(templates / "engine" / name for name in ENGINE),
            # Fields of what was recorded are computed in the page itself.
            scripts=inlined(
                [
                    templates / "engine" / "field.js",
                    *(templates / "page" / name for name in SCRIPTS),
                ]
            ),
        )
    )


def embedded(data: Mapping[str, Any]) -> Markup:
    """Return data as JSON that no HTML in it can end the `<script>` element around."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))
