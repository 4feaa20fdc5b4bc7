"""The JSON Schemas of definitions, made from their types: one for the checks and for editors."""

import json
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from workflow.definitions.claims import Claims
from workflow.definitions.configuration import Configuration
from workflow.definitions.corpora import Corpora
from workflow.definitions.experiments import Experiments
from workflow.definitions.explorer import Explorer
from workflow.definitions.figures import Figures
from workflow.definitions.references import Papers
from workflow.definitions.tables import Tables
from workflow.definitions.values import PART, Known

Schema = dict[str, Any]
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
ANY = ["number", "string", "boolean", "array", "object", "null"]


def schema_of(kind: type) -> Schema:
    """Return the JSON Schema of a type, made once."""
    return _made(kind)


@cache
def _made(kind: Any) -> Schema:
    made = TypeAdapter(kind).json_schema(schema_generator=_Generator)
    parts = _parts()
    schema: Schema = json.loads(json.dumps(made).replace(f'"{PART}":', '"$ref":'))
    return {**schema, "$defs": {**schema.get("$defs", {}), **parts}}


EACH = {
    "description": "an entry for each binding, whose values stand for {name} in it",
    "type": "object",
    "required": ["each"],
    "properties": {"each": {"type": ["array", "object"]}},
}
"""What a template of entries is to an editor; the checks see the entries that are made of it."""


def for_editors(schema: Schema) -> Schema:
    """Return a schema in which entries may be templates (`each`), as in a file before any check."""
    made = _with_templates(schema)
    return {**made, "$defs": {**made["$defs"], "each": EACH}}


def _with_templates(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_templates(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {key: _with_templates(one) for key, one in value.items()}
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), dict) and "$ref" in made[key]:
            made[key] = {"anyOf": [{"$ref": "#/$defs/each"}, made[key]]}
            if "propertyNames" in made:
                made["propertyNames"] = {"anyOf": [{"pattern": "[{]"}, made["propertyNames"]]}
    return made


class _Generator(GenerateJsonSchema):
    """Writes what people and editors read: no titles, `type: [number, null]`, names by a rule."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def typed_dict_schema(self, schema: Any) -> JsonSchemaValue:
        made = super().typed_dict_schema(schema)
        made.pop("title", None)
        if "required" in made:
            of = made["properties"]
            made["required"] = [key for key in made["required"] if "default" not in of[key]]
        return made

    def literal_schema(self, schema: Any) -> JsonSchemaValue:
        made = super().literal_schema(schema)
        made.pop("type", None)  # a wrong value is said to be none of these, whatever its type
        return made

    def dict_schema(self, schema: Any) -> JsonSchemaValue:
        made = {
            "type": "object",
            "additionalProperties": self.generate_inner(schema["values_schema"]),
        }
        names = self.generate_inner(schema["keys_schema"])
        if len(names) > 1:
            made["propertyNames"] = names
        if "min_length" in schema:
            made["minProperties"] = schema["min_length"]
        return made

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:
        inner = self.generate_inner(schema["schema"])
        if "enum" in inner:
            return {"enum": [*inner["enum"], None]}
        if isinstance(inner.get("type"), str):
            return {**inner, "type": [inner["type"], "null"]}
        return {"anyOf": [{"type": "null"}, *inner.get("anyOf", [inner])]}


@cache
def _parts() -> Schema:
    """Return what arguments, parts, data and a user's mechanisms may be: their keys are open."""
    known = TypeAdapter(Known).json_schema(schema_generator=_Generator)["properties"]
    path = known["path"] | {"description": 'a dotted path "my_module:function"'}
    further = {"$ref": "#/$defs/argument"}
    return {
        "argument": {
            "description": "an argument of any kind, or a part with its own",
            "type": ANY,
            "properties": known,
            "items": further,
            "additionalProperties": further,
        },
        "node": {
            "description": "a part of the model, named by path, with its arguments",
            "type": "object",
            "properties": known,
            "additionalProperties": further,
        },
        "data": {
            "description": "a dataset and its options (checked by the dataset itself)",
            "type": "object",
            "properties": {"dataset": {"type": "string"}},
            "additionalProperties": further,
        },
        "mechanism": {
            "description": '"my_module:function", or a mapping with path and arguments',
            "anyOf": [
                path,
                {
                    "type": "object",
                    "required": ["path"],
                    "properties": {"path": path},
                    "additionalProperties": further,
                },
            ],
        },
    }
