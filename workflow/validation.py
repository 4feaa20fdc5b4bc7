"""Check a value by its type: pydantic finds the mistakes, and one sentence says the first.

The sentence names the key, what is allowed there and, for a misspelt name, the nearest valid one.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, cast

import yaml
from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import ErrorDetails

from workflow.runtime.errors import InputError, nearest, unknown

Kind = TypeVar("Kind")
Schema = dict[str, Any]
Keys = Sequence[str | int]
"""The keys and places in lists that lead to a value."""
WORDS = {
    "object": "a mapping",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
LIMITS = {
    "ge": "must be at least {:.0f}",
    "gt": "must be more than {:.0f}",
    "le": "must be at most {:.0f}",
    "lt": "must be less than {:.0f}",
    "min_length": "has fewer than {} {of}",
    "max_length": "has more than {} {of}",
}
NAMED = ("missing", "extra_forbidden")
"""Errors whose last key is one that should, or should not, be there."""
IS_KEY = "[key]"
"""Follows a key of a mapping that is itself wrong."""


class _Generator(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@cache
def schema_of(kind: Any) -> Schema:
    """Return the JSON Schema of a type."""
    schema: Schema = _adapter(kind).json_schema(schema_generator=_Generator)
    return schema


def check(
    value: Any, kind: type[Kind], where: str, line: Callable[[Keys], str] = lambda keys: ""
) -> Kind:
    """Return `value` as one of a kind, its numbers and defaults filled in.

    Raises InputError for the first mistake; it begins with `where`, and what `line` makes of the
    keys that lead to the mistake.
    """
    try:
        return cast(Kind, _adapter(cast(Any, kind)).validate_python(value))
    except ValidationError as error:
        faults = [_fault(detail, value) for detail in error.errors(include_url=False)]
    errors = Counter(fault.alternative for fault in faults)
    first = min(faults, key=lambda fault: fault.order(errors[fault.alternative]))
    sentence = _sentence(first, schema_of(cast(Any, kind)))
    raise InputError(f"{where}{line([*first.keys, first.name])}: {sentence}") from None


@dataclass
class _Fault:
    """An error of pydantic, and the value that it is about."""

    detail: ErrorDetails
    value: Any
    keys: list[str | int]
    """what leads to the value"""
    name: str
    """the key of the value that is missing or unknown"""
    union: list[str | int]
    """what leads to the first value of which there are alternatives"""
    is_key: bool = False
    """whether it is itself a key of what they lead to"""
    alternative: tuple[str | int, ...] = ()
    """which of them this is an error of"""
    mismatch: bool = False
    """whether an alternative is of another type than the value"""

    def order(self, errors: int) -> Any:
        """Sort by place; of alternatives the one that fits best, by its number of errors, is first.

        Of a misspelt key and a missing one, the misspelt one is first.
        """
        best = (self.mismatch, -len(self.keys) * self.mismatch, errors * bool(self.alternative))
        last = self.detail["type"] == "missing"
        return [*map(str, self.union)], best, [*map(str, self.keys)], last


def _fault(detail: ErrorDetails, value: Any) -> _Fault:
    """Follow an error into the value; names of alternatives stand between the keys."""
    steps, name = list(detail["loc"]), ""
    if detail["type"] in NAMED:
        name = str(steps.pop())
    fault = _Fault(detail, value, [], name, [])
    for at, step in enumerate(steps, start=1):
        there = fault.value
        if step == IS_KEY:
            fault.value, fault.is_key = fault.keys.pop(), True
        elif step in there if isinstance(there, dict) else isinstance(step, int):
            fault.keys.append(step)
            fault.value = there[step]
        else:
            fault.alternative = fault.alternative or tuple(steps[:at])
            fault.mismatch = at == len(steps) and bool(re.search("_type$|^none", detail["type"]))
            continue
        fault.union = fault.union if fault.alternative else [*fault.keys]
    return fault


def _sentence(fault: _Fault, schema: Schema) -> str:
    """Say an error as one sentence: the key, what was expected, the nearest valid name."""
    kind, context = fault.detail["type"], fault.detail.get("ctx", {})
    rules = [*_rules(schema, fault.keys, schema)]
    if fault.is_key:
        rules = [one.get("propertyNames", {}) for one in rules]
    key = ".".join(map(str, fault.keys))
    at, value = f"{key}: " if key else "", written(fault.value)
    if kind == "missing":
        return f'{at}the key "{fault.name}" is missing'
    if kind in NAMED:
        allowed = dict.fromkeys(name for one in rules for name in one.get("properties", ()))
        return str(unknown(key, "key", fault.name, allowed))
    if kind == "literal_error":
        names = [name for one in rules for name in one.get("enum", [one.get("const", "")])]
        listed = ", ".join(map(written, names))
        return f"{at}{value} is not allowed (allowed: {listed}){nearest(fault.value, names)}"
    if pattern := context.get("pattern"):
        wanted = [one["description"] for one in rules if one.get("description")]
        colon = ":".join(fault.value.rsplit(".", 1))
        near = nearest(fault.value, [colon]) if re.fullmatch(pattern, colon) else ""
        return f"{at}{value} is not {(*wanted, f'a text like {pattern}')[0]}{near}"
    if kind == "repeated":
        return f"{at}{value} names one twice"
    if "min_length" in context and not fault.value:
        return f"{at}must not be empty"
    for name, words in LIMITS.items():
        if name in context:
            of = "letters" if isinstance(fault.value, str) else "entries"
            return f"{at}{value} {words.format(context[name], of=of)}"
    return f"{at}expected {_expected(rules)}, found {value}"


def _expected(rules: Sequence[Schema]) -> str:
    types, meanings = dict[str, None](), dict[str, None]()
    for one in rules:
        keys = ", ".join(one.get("required", ()))
        types[f"{WORDS[one['type']]}{keys and f' with {keys}'}"] = None
        meanings[one.get("description", "")] = None
    text, meaning = " or ".join(types), "; ".join(filter(None, meanings))
    return f"{text} ({meaning})" if meaning else text


def _rules(rules: Any, keys: Keys, root: Schema) -> Iterator[Schema]:
    """Yield what a schema says of the value that keys lead to, by alternative."""
    if not isinstance(rules, dict):
        return
    meaning = {"description": rules.get("description", "")}
    if "$ref" in rules:
        name = rules["$ref"].rpartition("/")[2]
        yield from _rules(root["$defs"][name] | meaning, keys, root)
    elif "anyOf" in rules:
        for one in rules["anyOf"]:
            yield from _rules(meaning | one, keys, root)
    elif not keys:
        yield rules
    elif isinstance(keys[0], int):
        yield from _rules(rules.get("items"), keys[1:], root)
    else:
        inner = rules.get("properties", {}).get(keys[0], values_of(rules))
        yield from _rules(inner, keys[1:], root)


def values_of(rules: Schema) -> Any:
    """Return what a schema says of the values of a mapping whose keys it does not list."""
    named = rules.get("patternProperties", {}).values()
    return next(iter(named), rules.get("additionalProperties"))


def written(value: Any) -> str:
    """Write a value as in YAML, in one line, cut short."""
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
    else:
        text = yaml.safe_dump(value, default_flow_style=True, width=1000)
        text = " ".join(text.removesuffix("\n...\n").split())
    return text if len(text) <= 60 else text[:57] + "..."
