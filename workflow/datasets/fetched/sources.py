"""The files that datasets are fetched from, as `workflow/sources.tsv` lists them.

A row with `sha256` and `bytes` is downloaded from `url`, else from one of `alternative_urls`
(separated by spaces), and verified. A row without them is a file that nobody publishes a checksum
of, or that lies behind a form. It is never downloaded: a person gets it from `url` and puts it at
`<results>/data/manual/<dataset>/<file>`, or into a mirror.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workflow.runtime.errors import DataError

SOURCES = Path(__file__).parents[2] / "sources.tsv"
COLUMNS = ("dataset", "file", "url", "alternative_urls", "sha256", "bytes", "licence")


@dataclass(frozen=True)
class Source:
    """One file: where it comes from and how to tell that it is whole."""

    dataset: str
    file: str
    url: str
    alternative_urls: tuple[str, ...]
    """Other places with the same bytes, tried in this order."""
    sha256: str
    """Empty for a file that a person gets by hand."""
    bytes: int
    licence: str

    @property
    def name(self) -> str:
        """Name of the file among all datasets' files."""
        return f"{self.dataset}/{self.file}"

    @property
    def urls(self) -> tuple[str, ...]:
        """All places to get it from, in the order to try them."""
        return (self.url, *self.alternative_urls)

    @property
    def by_hand(self) -> bool:
        """Whether a person has to get the file, since nothing tells its right bytes."""
        return not self.sha256

    @property
    def advice(self) -> str:
        """What a person does about a file that they have to get, without a full stop."""
        places = " or ".join(self.urls)
        return (
            f"{self.name} can't be downloaded; get it from {places} and put it into the results "
            f"folder as data/manual/{self.name}, or into a mirror"
        )

    def mismatch(self, checksum: str, size: int) -> str | None:
        """Say what differs when a file with this SHA-256 and size is not this one, else None."""
        return None if self.by_hand else mismatch((self.sha256, self.bytes), (checksum, size))


def mismatch(expected: tuple[str, int], found: tuple[str, int]) -> str | None:
    """Say how a file's (SHA-256, size) differs from the expected one, else None."""
    if found == expected:
        return None
    return (
        f"expected sha256 {expected[0]} ({expected[1]} bytes), found {found[0]} ({found[1]} bytes)"
    )


def load(path: Path = SOURCES) -> dict[tuple[str, str], Source]:
    """Return all sources by (dataset, file); raise DataError naming a line that can't be read."""
    sources: dict[tuple[str, str], Source] = {}
    for place, row in read_table(path, COLUMNS):
        if not row["url"].startswith(("https://", "http://")):
            raise DataError(f"{place}: `{row['url']}` is not a http or https address; correct it.")
        known = row["bytes"].isdecimal() and re.fullmatch("[0-9a-f]{64}", row["sha256"])
        if not known and (row["bytes"] or row["sha256"]):
            raise DataError(
                f"{place}: `bytes` must be a whole number and `sha256` 64 hexadecimal digits, "
                f"found `{row['bytes']}` and `{row['sha256']}`; correct them, or leave both empty "
                "for a file to get by hand."
            )
        key = (row["dataset"], row["file"])
        if key in sources:
            raise DataError(f"{place}: {'/'.join(key)} is listed twice; remove one of the lines.")
        others, size = tuple(row["alternative_urls"].split()), int(row["bytes"] or 0)
        sources[key] = Source(*key, row["url"], others, row["sha256"], size, row["licence"])
    return sources


def read_table(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield (place, row) for every line of a tab-separated table that has `columns`.

    Checksums may be in capitals; they are yielded in small letters. What a row lacks at its end is
    empty. Raises DataError when the table lacks a column, a row has more columns than the table, it
    is not UTF-8 or a quote does not end.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, dialect="excel-tab", restval="", strict=True)
            missing = [column for column in columns if column not in (reader.fieldnames or [])]
            if missing:
                raise DataError(
                    f"{path}: the first line lacks the columns {', '.join(missing)}; "
                    "add them, separated by tabs."
                )
            for row in reader:
                place = f"{path}, line {reader.line_num}"
                if None in row:
                    raise DataError(
                        f"{place}: there are more columns than the {len(row) - 1} that the first "
                        "line names; take the tabs that are too many away."
                    )
                yield place, {name: _plain(name, value) for name, value in row.items()}
    except DataError:
        raise
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"{path}: this is not a table in UTF-8, its columns separated by tabs ({error}); "
            "correct it."
        ) from None


def _plain(name: str, value: str) -> str:
    """Return the value of a column, a checksum in small letters as `sha256sum` writes it."""
    return value.strip().lower() if name.endswith("sha256") else value
