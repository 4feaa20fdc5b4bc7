"""Entries said once for many: `each:` in a paper's YAML.

An entry of a list or a mapping that has the key `each` stands for one entry a binding, in which
`{name}` is what the binding gives the name. A text that is `{name}` alone becomes the value itself,
and `{name!s}` is its text.

    "head_{head}": {each: {head: 0..31}, label: "head {head}"}
    - {each: [{id: sst, label: SST}, {id: imdb, label: IMDB}], id: "{id}", label: "{label}"}

`each` is a list of bindings, or a mapping from name to values, of which all combinations are made,
the last name's changing fastest. Values are a list or `first..last`; mappings in the list are
bindings of their own names.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from workflow.definitions.values import Yaml
from workflow.runtime.errors import InputError

_RANGE = re.compile(r"(\d+)\.\.(\d+)")


def expanded(value: Any, where: str) -> Any:
    """Return a value from YAML with every `each` carried out.

    Raises InputError for bindings that can't be read, or a key that is made twice.
    """
    if isinstance(value, list):
        return [entry for _, entry in _entries((("", item) for item in value), where)]
    if not isinstance(value, Mapping):
        return value
    mapping: dict[str, Yaml] = {}
    for key, entry in _entries(value.items(), where):
        if key in mapping:
            raise InputError(f'{where}: the key "{key}" stands twice; rename one')
        mapping[key] = entry
    return mapping


def _entries(entries: Iterable[tuple[str, Any]], where: str) -> Iterator[tuple[str, Any]]:
    for key, value in entries:
        if not (isinstance(value, Mapping) and "each" in value):
            yield key, expanded(value, where)
            continue
        template = {name: item for name, item in value.items() if name != "each"}
        for binding in _bindings(value["each"], where):
            name, entry = _filled([key, template], binding)
            yield name, expanded(entry, where)


def _bindings(each: Any, where: str) -> list[dict[str, Yaml]]:
    if isinstance(each, list) and each and all(isinstance(binding, Mapping) for binding in each):
        return [dict(binding) for binding in each]
    if not isinstance(each, Mapping) or not each:
        raise InputError(f"{where}: each: expected a list of mappings, or names with their values")
    choices = []
    for name, values in each.items():
        ends = _RANGE.fullmatch(values) if isinstance(values, str) else None
        listed = range(int(ends[1]), int(ends[2]) + 1) if ends else values
        if not isinstance(listed, list | range) or not listed:
            raise InputError(f"{where}: each: {name}: expected a list, or a range such as 0..31")
        choices.append([v if isinstance(v, Mapping) else {name: v} for v in listed])
    combinations = product(*choices)
    return [{n: v for part in parts for n, v in part.items()} for parts in combinations]


def _filled(value: Any, binding: Mapping[str, Yaml]) -> Any:
    if isinstance(value, str):
        for name, item in binding.items():
            if value == f"{{{name}}}":
                return item
            for written in (f"{{{name}}}", f"{{{name}!s}}"):
                value = value.replace(written, str(item))
        return value
    if isinstance(value, Mapping):
        return {_filled(key, binding): _filled(item, binding) for key, item in value.items()}
    return [_filled(item, binding) for item in value] if isinstance(value, list) else value
