"""The files that datasets are fetched from, as `workflow/sources.tsv` lists them."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workflow.datasets.errors import DataError
from workflow.datasets.files import sha256

SOURCES = Path(__file__).parents[1] / "sources.tsv"
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

    def mismatch(self, checksum: str, size: int) -> str | None:
        """Say what differs when a file with this SHA-256 and size is not this one, else None."""
        if (checksum, size) == (self.sha256, self.bytes):
            return None
        return (
            f"expected sha256 {self.sha256} ({self.bytes} bytes), found {checksum} ({size} bytes)"
        )


def load(path: Path = SOURCES) -> dict[tuple[str, str], Source]:
    """Return all sources by (dataset, file); raise DataError naming a line that can't be read."""
    sources: dict[tuple[str, str], Source] = {}
    for place, row in read_table(path, COLUMNS):
        if not row["url"].startswith(("https://", "http://")):
            raise DataError(f"{place}: `{row['url']}` is not a http or https address; correct it.")
        if not row["bytes"].isdecimal() or len(row["sha256"]) != 64:
            raise DataError(
                f"{place}: `bytes` must be a whole number and `sha256` 64 hexadecimal digits, "
                f"found `{row['bytes']}` and `{row['sha256']}`; correct them."
            )
        key = (row["dataset"], row["file"])
        if key in sources:
            raise DataError(f"{place}: {'/'.join(key)} is listed twice; remove one of the lines.")
        sources[key] = Source(
            dataset=row["dataset"],
            file=row["file"],
            url=row["url"],
            alternative_urls=tuple(row["alternative_urls"].split()),
            sha256=row["sha256"],
            bytes=int(row["bytes"]),
            licence=row["licence"],
        )
    return sources


def verify(path: Path, source: Source) -> None:
    """Raise DataError unless the file at `path` has the size and checksum of `source`."""
    if not path.is_file():
        raise DataError(f"{path}: this file does not exist; fetch {source.name} again.")
    difference = source.mismatch(sha256(path), path.stat().st_size)
    if difference:
        raise DataError(f"{path}: {difference}; delete the file and fetch it again.")


def read_table(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield (place, row) for every line of a tab-separated table that has `columns`."""
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream, dialect="excel-tab", restval="")
        missing = [column for column in columns if column not in (reader.fieldnames or [])]
        if missing:
            raise DataError(
                f"{path}: the first line lacks the columns {', '.join(missing)}; "
                "add them, separated by tabs."
            )
        for row in reader:
            yield f"{path}, line {reader.line_num}", row
