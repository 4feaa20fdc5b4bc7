"""The page as one file: template, style and scripts of `workflow/explorer`, and the data."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from workflow.reporting.page.templates import COLOURS, environment, inlined

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
    "state.js",
    "sentences.js",
    "sentence.js",
    "prediction.js",
    "verdict.js",
    "heat.js",
    "graph.js",
    "recorded.js",
    "panel.js",
    "save.js",
    "main.js",
)
"""What shows it, in `page/`, likewise."""


def render(data: Mapping[str, Any], templates: Path = TEMPLATES) -> str:
    """Return the page of what `page_data` made, as HTML."""
    return (
        environment(templates)
        .get_template(TEMPLATE)
        .render(
            scale=data["scale"],
            data=embedded(data),
            style=inlined([COLOURS, templates / "style.css"]),
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
