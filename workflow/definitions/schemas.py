"""The kinds of files, and the JSON Schemas of them that editors use."""

from typing import Any

from workflow.definitions.claims import Claims
from workflow.definitions.configuration import Configuration
from workflow.definitions.corpora import Corpora
from workflow.definitions.experiments import Experiments
from workflow.definitions.explorer import Explorer
from workflow.definitions.figures import Figures
from workflow.definitions.references import Papers
from workflow.definitions.tables import Tables
from workflow.validation import Schema

FILES: dict[str, type] = {
    "claims": Claims,
    "config": Configuration,
    "corpora": Corpora,
    "experiments": Experiments,
    "explorer": Explorer,
    "figures": Figures,
    "paper": Papers,
    "tables": Tables,
}
"""The type of each kind of file."""
EACH = {
    "description": "an entry for each binding, whose values stand for {name} in it",
    "type": "object",
    "required": ["each"],
    "properties": {"each": {"type": ["array", "object"]}},
}
"""What a template of entries is to an editor; the checks see the entries that are made of it."""


def for_editors(schema: Schema) -> Schema:
    """Return a schema in which entries may be templates (`each`), as in a file before any check."""
    completed: Schema = _with_templates(schema)
    return {**completed, "$defs": {**completed["$defs"], "each": EACH}}


def _with_templates(value: Any, key: str = "") -> Any:
    if isinstance(value, list):
        return [_with_templates(one) for one in value]
    if not isinstance(value, dict):
        return value
    completed = {name: _with_templates(one, name) for name, one in value.items()}
    if "$ref" in completed and (key in ("items", "additionalProperties") or key.startswith("^")):
        return {"anyOf": [{"$ref": "#/$defs/each"}, completed]}
    return completed
