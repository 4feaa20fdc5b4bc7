"""Reading and writing of the small files from measures to report; errors name the file."""

import csv
import io
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from workflow.runtime.atomic import write_atomically
from workflow.runtime.errors import ReportingError
from workflow.runtime.integrity import check_files, checksums_of, read_verified, with_checksum
from workflow.runtime.json_lines import read_line, write_lines

SIDECARS = "provenance.jsonl"
"""What is told of all tables or figures in a published folder."""
_FORMULA = re.compile(r"[=@\t\r]|[+-].*[^\w +()-]", re.DOTALL)
"""What a spreadsheet would compute; `+RIL (dense)` names nothing that it could."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-](?:inf|nan)")


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, ended by exactly one newline."""
    write_atomically(path, (text.rstrip("\n") + "\n").encode())


def write_json(path: Path, value: Any) -> None:
    """Write sealed JSON, indented for a reader; NaN is refused."""
    write_atomically(path, with_checksum(value, indent=1))


def read_json(path: Path) -> Any:
    """Read sealed JSON; raise ReportingError when it is missing, Damaged when it was changed."""
    try:
        return read_verified(path)
    except FileNotFoundError:
        raise ReportingError(
            f"{path}: this file does not exist; run the job that writes it."
        ) from None


def read_history(path: Path) -> list[Any]:
    """Read the entries of a history, of which there are none before the first publication."""
    return list(read_json(path)["history"]) if path.is_file() else []


def write_sidecar(prefix: Path, value: Mapping[str, object], kinds: Iterable[str]) -> None:
    """Write `<prefix>.json` with what is told of a table or figure, and of its files, by kind."""
    names = [f"{prefix.name}.{kind}" for kind in kinds]
    write_json(prefix.with_suffix(".json"), {**value, "files": checksums_of(prefix.parent, names)})


def read_sidecar(file: Path) -> Any:
    """Read what is told of a table or figure; raise Damaged when one of its files was changed.

    It stands beside the file, or where it is published in a line of one file of all papers.
    """
    beside, folder = file.with_suffix(".json"), file.absolute().parent
    of_all = folder.parent / SIDECARS
    folded = of_all.is_file() and not beside.is_file()
    key = f"{folder.name}/{file.stem}"
    sidecar = read_line(of_all, key) if folded else read_json(beside)
    check_files(file.parent, sidecar["files"])
    return sidecar


def fold_sidecars(folder: Path, kinds: Collection[str]) -> None:
    """Put what is told of all papers' tables or figures into one file, a line each.

    Of their own files those of these `kinds` that are there stay, as they are now. Keys of lines
    are `<paper>/<table or figure>`.
    """
    told = {}
    for path in sorted(folder.glob("*/*.json")):
        sidecar = read_json(path)
        own = {f"{path.stem}.{kind}" for kind in kinds}
        for name in {path.name, *sidecar["files"]} - own:
            path.with_name(name).unlink()
        kept = [name for name in own if path.with_name(name).is_file()]
        told[f"{path.parent.name}/{path.stem}"] = {
            **sidecar,
            "files": checksums_of(path.parent, kept),
        }
    if told:
        write_lines(folder / SIDECARS, told)


def read_csv(path: Path) -> list[dict[str, str]]:
    """Read what `csv_text` wrote as one dict a line; ReportingError when it is missing."""
    if not path.is_file():
        raise ReportingError(f"{path}: this file does not exist; run the job that writes it.")
    with path.open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    return [{name: _unquoted(value) for name, value in line.items()} for line in lines]


def csv_text(columns: Sequence[str], records: Iterable[Mapping[str, object]]) -> str:
    """Return records as CSV text with the given columns, in that order.

    A text that a spreadsheet would take for a formula gets an apostrophe before it.
    """
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, fieldnames=columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _quoted(value) for name, value in it.items()} for it in records)
    return buffer.getvalue()


def _quoted(value: object) -> object:
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}" if _FORMULA.match(value.lstrip("'")) else value


def _unquoted(value: Any) -> Any:
    text = isinstance(value, str) and value.startswith("'")
    return value[1:] if text and _FORMULA.match(value.lstrip("'")) else value


def markdown_cell(text: str) -> str:
    """Return a text as it stands in a Markdown table: in one line, with no border of a cell."""
    return re.sub(r"\s*[\r\n]\s*", " ", text).replace("|", "\\|")
