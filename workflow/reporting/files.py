"""Reading and writing of the small files from measures to report; errors name the file."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from model.files import write_atomically
from workflow.planning.errors import InputError


class ReportingError(InputError):
    """A file or a definition that can't be used; the message is one sentence with the way out."""


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, ended by exactly one newline."""
    write_atomically(path, (text.rstrip("\n") + "\n").encode())


def write_json(path: Path, value: Any, *, compact: bool = False) -> None:
    """Write JSON: indented for a reader, or `compact` for large arrays; NaN is refused."""
    layout: dict[str, Any] = {"separators": (",", ":")} if compact else {"indent": 1}
    write_text(path, json.dumps(value, ensure_ascii=False, allow_nan=False, **layout))


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object, NaN and infinities (which JSON does not have) as null.

    Raises ReportingError when the file is missing, broken or not an object.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda _: None)
    except FileNotFoundError:
        raise ReportingError(
            f"{path}: this file does not exist; run the job that writes it."
        ) from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ReportingError(
            f"{path}: not valid JSON ({error}); delete it and run the job that writes it again."
        ) from None
    if not isinstance(value, dict):
        raise ReportingError(f"{path}: expected a JSON object; delete it and write it again.")
    return value


def read_csv(path: Path) -> list[dict[str, str]]:
    """Read a CSV file with a header as one dict a line; ReportingError when it is missing."""
    if not path.is_file():
        raise ReportingError(f"{path}: this file does not exist; run the job that writes it.")
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def csv_text(columns: Sequence[str], records: Iterable[Mapping[str, Any]]) -> str:
    """Return records as CSV text with the given columns, in that order."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, fieldnames=columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return buffer.getvalue()
