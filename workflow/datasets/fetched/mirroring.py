"""Build a mirror: a folder with the given sources and the index that `mirrors` reads."""

import csv
import io
from collections.abc import Callable, Iterable
from pathlib import Path

from workflow.datasets.fetched import mirrors
from workflow.datasets.fetched.origins import Origin
from workflow.datasets.fetched.sources import Source, read_table
from workflow.datasets.io.dataset_files import write_bytes
from workflow.runtime.errors import DataError

Fetch = Callable[[Source, Path], Origin]
HEADER = (
    *("url", "file", "sha256", "bytes", "kind"),
    *("stands_for", "dataset", "licence_or_terms", "notes"),
)


def build(folder: Path, sources: Iterable[Source], fetch: Fetch) -> list[str]:
    """Add to the mirror `folder` what it lacks of `sources`; return why some could not be had.

    The index is written after each file, so that nothing is fetched twice, whatever happens.
    """
    failures = []
    for source in sources:
        if _whole(folder, source):
            print(f"{source.name}: already there")
            continue
        try:
            origin = fetch(source, folder / source.dataset / source.file)
        except DataError as failure:
            failures.append(str(failure))
            continue
        _list(folder, source, origin)
        print(f"{source.name}: {origin.bytes} bytes from {origin.note}", flush=True)
    return failures


def _whole(folder: Path, source: Source) -> bool:
    """Whether the mirror has the file of a source, as its index lists it."""
    if not (folder / mirrors.INDEX).is_file():
        return False
    entry = mirrors.find(folder, source)
    try:
        if entry:
            mirrors.check(entry, source)
    except DataError:
        return False
    return entry is not None


def _list(folder: Path, source: Source, origin: Origin) -> None:
    """Put a file that was fetched into the index, in the place of one of the same name."""
    bundle = origin.kind == "bundle"
    row = {
        "url": "" if bundle else source.url,
        "file": source.name,
        "sha256": origin.sha256,
        "bytes": str(origin.bytes),
        "kind": mirrors.BUNDLE if bundle else mirrors.PLAIN,
        "stands_for": source.url if bundle else "",
        "dataset": source.dataset,
        "licence_or_terms": source.licence,
        "notes": f"from {origin.note}",
    }
    index = folder / mirrors.INDEX
    rows = [dict(old) for _, old in read_table(index, mirrors.COLUMNS)] if index.is_file() else []
    rows = [*(old for old in rows if old["file"] != row["file"]), row]
    columns = dict.fromkeys([*HEADER, *(column for old in rows for column in old)])
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, restval="", dialect="excel-tab", lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(rows, key=lambda line: line["file"]))
    write_bytes(index, text.getvalue().encode())
