"""Write sealed files as the workflow does, and change them as a person would not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from workflow.runtime.integrity import checksums_of, read_verified, with_checksum


def put(path: Path, value: dict[str, Any]) -> Path:
    """Write a sealed file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(with_checksum(value, indent=1))
    return path


def change(path: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    """Change what a sealed file says, and seal it again; `edit` changes the value in place."""
    value = read_verified(path)
    edit(value)
    put(path, value)


def relist(file: Path) -> None:
    """Let a sealed file tell the files that it lists as they are now."""
    change(file, lambda value: value.update(files=checksums_of(file.parent, value["files"])))


def flip(path: Path, bit: int) -> None:
    """Flip one bit of a file, counted from its beginning."""
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
