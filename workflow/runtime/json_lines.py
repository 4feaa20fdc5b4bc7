"""JSON lines: many sealed values in one file, a line each, so that a diff shows what changed.

    {"sha256": "<of all behind this comma>","key":"sst_soft/seed-0",...}

Lines stand in the order of their keys, numbers in them by size.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from workflow.runtime.atomic import write_atomically
from workflow.runtime.integrity import LENGTH, Damaged, verified, with_checksum

KEY = "key"
JsonObject = dict[str, Any]
"""What a line holds: JSON, as whatever wrote it defines."""


def write_lines(path: Path, values: Mapping[str, JsonObject]) -> None:
    """Write a line for each value; NaN is refused."""
    lines = (
        with_checksum({KEY: key, **values[key]}, separators=(",", ":"))
        for key in sorted(values, key=_order)
    )
    write_atomically(path, b"".join(lines))


def _order(key: str) -> list[tuple[int, str]]:
    """Return what sorts `seed-10` behind `seed-9`."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", key)]


def read_lines(path: Path, keys: Collection[str] | None = None) -> dict[str, JsonObject]:
    """Read the values of all lines by their keys.

    Args:
        path: the file.
        keys: that it has to have, no more and no fewer; any where this is None.

    Raises:
        Damaged: a line is another one, stands there twice, is missing or not expected; or the file
            is missing.
    """
    found: dict[str, JsonObject] = {}
    for number, line in enumerate(_split(path), start=1):
        value = verified(line)
        if value is None:
            raise Damaged(path, f"{path}, line {number} is damaged, or was changed by hand")
        key = value.pop(KEY)
        if key in found:
            raise Damaged(path, f"{path}, line {number}: {key} stands there twice")
        if keys is not None and key not in keys:
            raise Damaged(path, f"{path}, line {number}: {key} does not belong there")
        found[key] = value
    for key in keys or ():
        if key not in found:
            raise _missing(path, key)
    return found


def read_line(path: Path, key: str) -> JsonObject:
    """Read the value of one line; raises Damaged as `read_lines` does."""
    begin = f'"{KEY}":{json.dumps(key, ensure_ascii=False)}'.encode()
    mine = [line for line in _split(path) if line[LENGTH:].lstrip().startswith(begin)]
    value = verified(mine[0]) if len(mine) == 1 else None
    if value is None:
        if key in read_lines(path):
            raise Damaged(path, f"{path}: the line of {key} is damaged")
        raise _missing(path, key)
    del value[KEY]
    return value


def whole_lines(path: Path) -> Iterator[JsonObject]:
    """Yield the values of the lines that are not damaged."""
    return (value for line in _split(path) if (value := verified(line)) is not None)


def _split(path: Path) -> list[bytes]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise Damaged(path, f"{path} is missing") from None
    return [line + b"\n" for line in content.removesuffix(b"\n").split(b"\n")]


def _missing(path: Path, key: str) -> Damaged:
    return Damaged(path, f"{path}: the line of {key} is missing")
