"""Read YAML as its type says: one loader for the configuration and for every file of a paper.

A mistake is reported as one sentence that names the file, the key, what was expected and, for a
misspelt name, the nearest valid one.
"""

import hashlib
import re
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import yaml

from workflow.datasets.io.left_out import check_beginning
from workflow.definitions.each import expanded
from workflow.definitions.values import Yaml
from workflow.runtime.errors import DataError, InputError
from workflow.validation import Keys, check, written

FileT = TypeVar("FileT")
LARGEST, DEEPEST, MOST = 4_000_000, 100, 200_000
"""Bytes of a YAML file, its nesting, and its values with each alias as what it repeats."""
_NUMBERS = {
    "tag:yaml.org,2002:int": re.compile(r"[-+]?(0|[1-9][0-9_]*)"),
    "tag:yaml.org,2002:float": re.compile(r"[-+.0-9_a-zA-Z]+"),
}
"""Decimal numbers: YAML reads 010 as 8, 0x10 as 16 and 1:30 as 90."""


def load_yaml(path: Path, kind: type[FileT]) -> FileT:
    """Read a YAML file and return it checked and coerced as a definition of that kind.

    A file that is as it was is not judged again in the same process.

    Raises InputError when it can't be read by `read_yaml`, an `each` can't be carried out, or it is
    no such definition.
    """
    try:
        digest = hashlib.sha256(path.read_bytes()).digest()
    except OSError:
        digest = b""
    return cast(FileT, deepcopy(_judged(path, cast(Any, kind), digest)))


@cache
def _judged(path: Path, kind: type, digest: bytes) -> object:
    """What `load_yaml` found; whoever asks gets a copy."""
    value = expanded(read_yaml(path), str(path))
    return check(value, kind, str(path), lambda keys: lines(path, keys)[-1])


def read_yaml(path: Path) -> dict[str, Yaml]:
    """Read a YAML file that holds one mapping.

    Raises InputError, with the line where there is one, when the file is missing, is not YAML in
    UTF-8, repeats a key, has a key that is no text, is beyond a limit, or holds no mapping.
    """
    line, reason = 0, ""
    try:
        if (size := path.stat().st_size) > LARGEST:
            raise InputError(f"{path}: {size} bytes, more than the {LARGEST} of a YAML file")
        content = path.read_bytes()
        check_beginning(path, content)
        text = content.decode()
        _check_limits(text)
        value = yaml.load(text, Loader=_Loader)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except DataError as error:
        raise InputError(str(error).rstrip(".")) from None
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
        found = "nothing" if value is None else written(value)
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


def lines(path: Path, keys: Keys) -> list[str]:
    """Return an empty text and, as `, line 3`, where a file has each of some keys in one another.

    There are no lines of keys that `each` and `<<` make, nor of those inside.
    """
    node: yaml.Node | None = yaml.compose(path.read_text("utf-8"), Loader=_Fastest)
    found = [""]
    for key in keys:
        pairs: dict[str | int, tuple[yaml.Node, yaml.Node]] = {}
        if isinstance(node, yaml.MappingNode):
            pairs = {name.value: (name, value) for name, value in node.value}
        elif isinstance(node, yaml.SequenceNode) and not any(map(_has_each, node.value)):
            pairs = {at: (item, item) for at, item in enumerate(node.value)}
        if key not in pairs:
            break
        name, node = pairs[key]
        found.append(f", line {name.start_mark.line + 1}")
    return found


def _has_each(node: yaml.Node) -> bool:
    """Whether an item of a list stands for several."""
    return isinstance(node, yaml.MappingNode) and any(key.value == "each" for key, _ in node.value)


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
                raise _fault(key_node, f"the key {written(key)} is no text; put it in quotes")
            if key in seen:
                raise _fault(key_node, f'the key "{key}" stands twice')
            seen.add(key)
        return super().construct_mapping(node, deep)

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Put in what `<<` names; a key's own value wins, then that of the first in a list.

        PyYAML 6.0.4 lets the last win.
        """
        named = [value for key, value in node.value if key.tag.endswith(":merge")]
        own = [pair for pair in node.value if not pair[0].tag.endswith(":merge")]
        node.value = own
        merged: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for value in named:
            for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(source, yaml.MappingNode):
                    raise _fault(source, "<< takes a mapping, or a list of them")
                self.flatten_mapping(source)
                merged = {pair[0].value: pair for pair in source.value} | merged
        node.value = [*merged.values(), *own]
        super().flatten_mapping(node)


def _fault(node: yaml.Node, problem: str) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
