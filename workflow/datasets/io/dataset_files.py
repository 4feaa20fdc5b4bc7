"""Files of a dataset: written aside, then renamed; read with errors that name the line."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from workflow.runtime.atomic import atomic_path
from workflow.runtime.errors import DataError

SPLITS = ("train", "dev", "test")
ExampleRecord = dict[str, Any]
"""An example as JSON: `text`, tokens joined by spaces, and what goes with it."""

Option = bool | int | float | str | list[str]
"""A value of a recipe."""
Statistics = Mapping[str, "int | float | str | Sequence[str] | Statistics"]
"""Numbers about a dataset by name, some of them by split or the like."""


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Yield a binary file that becomes `path` only when the block ends without an error."""
    with atomic_path(path) as hidden, hidden.open("wb") as stream:
        yield stream


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Write a whole file."""
    with replacing(path) as stream:
        stream.write(content)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write text lines, each ended by a newline, as UTF-8."""
    with replacing(path) as stream:
        stream.writelines(f"{line}\n".encode() for line in lines)


def existing(path: Path) -> Path:
    """Return the path of a file that an earlier step writes, or raise DataError."""
    if not path.is_file():
        raise DataError(f"{path}: this dataset file does not exist; run the step that writes it.")
    return path


def read_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (place, line) for every line of a UTF-8 file; place reads `file, line n`.

    Raises DataError when the file is missing, empty, not UTF-8 or ends in the middle of a line.
    """
    content = existing(path).read_bytes()
    if not content.endswith(b"\n"):
        fault = "is empty" if not content else "ends in the middle of its last line"
        raise DataError(f"{path}: this file {fault}; delete it and make it again.")
    for number, line in enumerate(content[:-1].split(b"\n"), start=1):
        place = f"{path}, line {number}"
        try:
            yield place, line.decode()
        except UnicodeDecodeError as error:
            raise DataError(
                f"{place}: byte {error.start + 1} is not UTF-8; delete the file and make it again."
            ) from None


def read_generated(path: Path, count: int, what: str) -> list[tuple[str, str]]:
    """Return (place, line) of a generated file; raise DataError unless it has `count` lines."""
    lines = list(read_lines(path))
    if len(lines) != count:
        raise DataError(
            f"{path}: expected {count} {what}, found {len(lines)}; "
            "delete the file and generate it again."
        )
    return lines


def write_records(path: Path, records: Iterable[ExampleRecord]) -> None:
    """Write one JSON object a line."""
    write_lines(path, (json.dumps(record, ensure_ascii=False) for record in records))


def parse_json(content: str | bytes) -> Any:
    """Return the value that a JSON text holds, None for what is no such text.

    An object that has a key twice is none: the first value would be lost.
    """
    try:
        return json.loads(content, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):  # a number too long, brackets too deep
        return None


def _each_once(pairs: list[tuple[str, Any]]) -> object:
    """Return an object of JSON; raise ValueError where a key stands twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def read_records(path: Path) -> Iterator[ExampleRecord]:
    """Yield the records that `write_records` wrote; raise DataError naming a broken line."""
    for place, line in read_lines(path):
        record = parse_json(line)
        if not isinstance(record, dict) or not isinstance(record.get("text"), str):
            raise DataError(
                f'{place}: expected a JSON object with a "text"; delete the file and prepare again.'
            )
        yield record


def read_splits(prepared: Path, splits: Sequence[str] = SPLITS) -> dict[str, list[ExampleRecord]]:
    """Return the records of every split of a folder of prepared data."""
    return {split: list(read_records(prepared / f"{split}.jsonl")) for split in splits}


def by_name(files: Iterable[Path], name: str) -> Path:
    """Return the one of `files` that is called `name`, or raise DataError."""
    paths = list(files)
    for path in paths:
        if path.name == name:
            return path
    given = ", ".join(map(str, paths)) or "none"
    raise DataError(f"The source file {name} is missing; the files given are: {given}.")


def duplicates(texts: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Count texts that repeat: within train, and those of dev and test that are also in train."""
    seen = set(texts["train"])
    repeated = {split: sum(text in seen for text in texts[split]) for split in ("dev", "test")}
    return {"train": len(texts["train"]) - len(seen), **repeated}
