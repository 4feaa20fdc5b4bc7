"""Read YAML as its type says: one loader for the configuration and for every file of a paper.

A mistake is reported as one sentence that names the file, the key, what was expected and, for a
misspelt name, the nearest valid one.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import jsonschema
import yaml

from workflow.definitions.each import expanded
from workflow.definitions.schemas import Schema, schema_of
from workflow.errors import InputError, nearest, unknown

Kind = TypeVar("Kind")
LARGEST, DEEPEST, MOST = 4_000_000, 100, 200_000
"""Bytes of a YAML file, its nesting, and its values with each alias as what it repeats."""
_FLOAT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_EXPONENT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+", re.ASCII)
_INTEGER = re.compile(r"[-+]?\d+", re.ASCII)
_NUMBERS = {
    "tag:yaml.org,2002:int": re.compile(r"[-+]?(0|[1-9][0-9_]*)"),
    "tag:yaml.org,2002:float": re.compile(r"[-+.0-9_a-zA-Z]+"),
}
"""Decimal numbers: YAML reads 010 as 8, 0x10 as 16 and 1:30 as 90."""
_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
}


def load_yaml(path: Path, kind: type[Kind]) -> Kind:
    """Read a YAML file and return it checked and coerced as a definition of that kind.

    A file that is as it was is not judged again in the same process.

    Raises InputError when it can't be read by `read_yaml`, an `each` can't be carried out, or it is
    no such definition.
    """
    try:
        digest = hashlib.sha256(path.read_bytes()).digest()
    except OSError:
        digest = b""
    return cast(Kind, deepcopy(_judged(path, cast(Any, kind), digest)))


@cache
def _judged(path: Path, kind: type, digest: bytes) -> object:
    """What `load_yaml` found; whoever asks gets a copy."""
    return check(expanded(read_yaml(path), str(path)), kind, str(path))


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML file that holds one mapping.

    Raises InputError, with the line where there is one, when the file is missing, is not YAML in
    UTF-8, repeats a key, has a key that is no text, is beyond a limit, or holds no mapping.
    """
    line, reason = 0, ""
    try:
        if (size := path.stat().st_size) > LARGEST:
            raise InputError(f"{path}: {size} bytes, more than the {LARGEST} of a YAML file")
        content = path.read_bytes()
        text = content.decode()
        _check_limits(text)
        value = yaml.load(text, Loader=_Loader)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        line, reason = _line(content, error.start), "a byte that is not UTF-8"
    except yaml.reader.ReaderError as error:
        line, reason = _line(content, error.position), "a control character"
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        reason = error.problem or str(error)
    if reason:
        where = f"{path}, line {line}" if line else str(path)
        raise InputError(f"{where}: not valid YAML: {reason}")
    if not isinstance(value, dict):
        found = "nothing" if value is None else _written(value)
        raise InputError(f"{path}: expected a mapping, found {found}")
    return value


def _check_limits(text: str) -> None:
    """Raise MarkedYAMLError for a text that nests too deeply, or whose aliases repeat too much.

    libyaml parses in a loop, but builds values by recursion, which a deep text crashes.
    """
    repeated: dict[Any, int] = {}  # values behind each anchor
    open_: list[tuple[Any, int]] = []  # anchors, and values before what is open
    count = 0
    for event in yaml.parse(text, Loader=_Fastest):
        if isinstance(event, yaml.AliasEvent):
            count += repeated.get(event.anchor, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            open_.append((event.anchor, count))
            count += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_.pop()
            if anchor is not None:
                repeated[anchor] = count - before
        elif isinstance(event, yaml.ScalarEvent):
            count += 1
        mark: Any = event.start_mark
        if len(open_) > DEEPEST:
            raise yaml.MarkedYAMLError(None, None, "nested too deeply", mark)
        if count > MOST:
            fault = f"more than {MOST} values, as aliases repeat them; take aliases away"
            raise yaml.MarkedYAMLError(None, None, fault, mark)


def _line(content: bytes, at: int) -> int:
    return content.count(b"\n", 0, at) + 1


def check(value: Any, kind: type[Kind], where: str) -> Kind:
    """Return `value`, its numbers coerced, as one of a kind; InputError names the wrong key."""
    rules = schema_of(kind)
    value = coerce(value, rules, rules)
    errors = _Validator(rules).iter_errors(value)
    first = min(errors, key=_order, default=None)
    if first is not None:
        raise InputError(f"{where}: {_sentence(first)}")
    return cast(Kind, value)


def coerce(value: Any, rules: Any, root: Schema) -> Any:
    """Return `value` with texts turned into what they write where its schema asks for no text.

    Keys that are left out and have a default get it.
    Where it asks for a whole number, 100.0 and 1e2 become 100. PyYAML reads `1e-3` as a text; so
    does Snakemake on the command line and in `--configfile`. On the command line it reads `True`,
    and `true` as a text.
    """
    rules = _resolved(rules, root)
    if isinstance(value, dict):
        properties = rules.get("properties", {})
        others = rules.get("additionalProperties", {})
        made = {k: coerce(v, properties.get(k, others), root) for k, v in value.items()}
        return {k: v["default"] for k, v in properties.items() if "default" in v} | made
    if isinstance(value, list):
        return [coerce(item, rules.get("items", {}), root) for item in value]
    types = _types(rules, root)
    if types == {"boolean"} and value in ("true", "false"):
        return value == "true"
    if isinstance(value, str) and types & {"number", "integer"}:
        if "string" in types:  # an argument of any kind: "1e-3" is a number, "000" is a text
            return float(value) if _EXPONENT.fullmatch(value) else value
        if _INTEGER.fullmatch(value):
            return int(value)
        if _FLOAT.fullmatch(value):
            value = float(value)
    if isinstance(value, float) and value.is_integer() and "number" not in types:
        return int(value) if "integer" in types else value
    return value


def _resolved(rules: Any, root: Schema) -> Schema:
    while isinstance(rules, dict) and "$ref" in rules:
        target: Any = root
        for step in rules["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        rules = target
    if not isinstance(rules, dict):
        return {}
    for option in rules.get("anyOf", []):
        option = _resolved(option, root)
        if option.get("type") in ("object", "array"):
            return {**rules, **option}
    return rules


def _types(rules: Schema, root: Schema) -> set[str]:
    stated = rules.get("type", [])
    types = {stated} if isinstance(stated, str) else set(stated)
    for option in rules.get("anyOf", []):
        types |= _types(_resolved(option, root), root)
        types |= {"string"} if "const" in option or "enum" in option else set()
    return types


def _order(error: jsonschema.ValidationError) -> tuple[list[str], bool, str]:
    """Sort errors by place; at one place a misspelt key comes before the missing one."""
    return list(map(str, error.absolute_path)), error.validator == "required", error.message


def _sentence(error: jsonschema.ValidationError) -> str:
    """Say a schema error as one sentence: the key, what was expected, the nearest valid name."""
    if error.validator == "anyOf":
        return _choice(error)
    key = ".".join(map(str, error.absolute_path))
    at = f"{key}: " if key else ""
    expected: Any = error.validator_value
    value: Any = error.instance
    rules: Any = error.schema
    match error.validator:
        case "additionalProperties":
            allowed = rules.get("properties", {})
            wrong = next(name for name in value if name not in allowed)
            return str(unknown(key or "top level", "key", wrong, allowed))
        case "enum":
            names = ", ".join(_written(item) for item in expected)
            return (
                f"{at}{_written(value)} is not allowed (allowed: {names}){nearest(value, expected)}"
            )
        case "type":
            types = [expected] if isinstance(expected, str) else expected
            return f"{at}expected {' or '.join(_TYPES[t] for t in types)}, found {_written(value)}"
        case "required":
            missing = next(name for name in expected if name not in value)
            return f'{at}the key "{missing}" is missing'
        case "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum":
            return f"{at}{_written(value)} must be {_BOUNDS[error.validator]} {expected}"
        case "minItems" | "minProperties" | "minLength":
            return f"{at}must not be empty"
        case "maxItems" | "maxLength":
            of = "entries" if error.validator == "maxItems" else "letters"
            return f"{at}{_written(value)} has more than {expected} {of}"
        case "uniqueItems":
            return f"{at}{_written(value)} names one twice"
        case "pattern":
            wanted = rules.get("description", f"a text like {expected}")
            colon = ":".join(value.rsplit(".", 1))
            near = nearest(value, [colon]) if re.fullmatch(expected, colon) else ""
            return f"{at}{_written(value)} is not {wanted}{near}"
    return f"{at}{error.message}"


def _choice(error: jsonschema.ValidationError) -> str:
    """Report the alternative of an `anyOf` whose type is right, else what all of them are."""
    inside = [e for e in error.context or [] if e.validator != "type" or e.path]
    if inside:
        return _sentence(inside[0])
    at = "".join(f"{step}." for step in error.absolute_path)[:-1]
    rules: Any = error.schema
    wanted = rules.get("description", "another type")
    return f"{at}: expected {wanted}, found {_written(error.instance)}"


def _written(value: Any) -> str:
    """Write a value as in YAML, in one line, cut short."""
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
    else:
        text = yaml.safe_dump(value, default_flow_style=True, width=1000)
        text = " ".join(text.removesuffix("\n...\n").split())
    return text if len(text) <= 60 else text[:57] + "..."


def _finite(kind: str) -> Callable[[jsonschema.TypeChecker, Any], bool]:
    def fits(checker: jsonschema.TypeChecker, value: Any) -> bool:
        try:
            return _Standard.TYPE_CHECKER.is_type(value, kind) and math.isfinite(value)
        except OverflowError:  # a whole number that is larger than any float
            return False

    return fits


def _fits(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[Exception]:
    if isinstance(value, str) and not re.fullmatch(pattern, value):
        yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")


_Standard = jsonschema.Draft202012Validator
# NaN, infinities and what overflows a float are no numbers, and `$` in a pattern is the very end.
_Validator: Any = jsonschema.validators.extend(
    _Standard,
    {"pattern": _fits},
    type_checker=_Standard.TYPE_CHECKER.redefine_many(
        {kind: _finite(kind) for kind in ("number", "integer")}
    ),
)

# Ten times as fast where PyYAML was built with libyaml, as its wheels are.
_Fastest: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Fastest):
    """YAML whose keys are texts, each once in its mapping, and in which nothing holds itself."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if node in self.recursive_objects:
            raise _fault(node, "it holds itself; take the alias away")
        try:
            value = super().construct_object(node, deep=True)
        except (AttributeError, LookupError, TypeError, ValueError):
            if isinstance(node, yaml.ScalarNode):
                fault = f"{node.value} is no such value; put it in quotes, without a tag"
            else:
                fault = f"what has the tag !!{node.tag.rpartition(':')[2]} is none; take it away"
            raise _fault(node, fault) from None
        if node.tag in _NUMBERS and not _NUMBERS[node.tag].fullmatch(node.value):
            fault = f"{node.value} would be read as {value}"
            raise _fault(node, f"{fault}; write a decimal number, or a text in quotes")
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            if key_node.tag.endswith(":merge"):
                continue
            key = self.construct_object(key_node)
            if not isinstance(key, str):
                raise _fault(key_node, f"the key {_written(key)} is no text; put it in quotes")
            if key in seen:
                raise _fault(key_node, f'the key "{key}" stands twice')
            seen.add(key)
        return super().construct_mapping(node, deep)


def _fault(node: yaml.Node, problem: str) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
