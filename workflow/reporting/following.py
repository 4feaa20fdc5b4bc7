"""How a reader follows a published number to the training behind it, shown by a real cell."""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from workflow.reporting.counting import trained
from workflow.reporting.files import read_csv, read_json

FILES = """\
[`index.json`](index.json) lists the published runs with their identities, and why some no longer \
count. [`tolerances.json`](tolerances.json) has the rules behind the verdicts, each time they \
changed. `texts/` has the long lists of texts that measures name: translations and their \
references, from which BLEU is computed."""


def section(folder: Path, titles: Mapping[str, str]) -> str:
    """Return the section of a scale's page; `titles` are by `<paper>/<table>`."""
    found = list(_cells(folder))
    if not found:
        return FILES
    # Of equals, `max` takes the first.
    table, cell, record, run = max(found, key=lambda one: one[2]["verdict"] == "reproduced")
    link = table.relative_to(folder).with_suffix("")
    title = titles.get(f"{table.parent.name}/{table.stem}", table.stem)
    measure = "/".join(PurePosixPath(cell["measures"][0]).parts[-4:])
    made = "/".join(("runs", *PurePosixPath(measure).parts[1:]))
    runs = f"over {len(cell['runs'])} runs" if len(cell["runs"]) > 1 else "in one run"
    return (
        f"In [{title}]({link}.md), row “{record['row']}”, column “{record['column']}”, "
        f"`{record['metric']}` is {record['mean']} {record['unit']} {runs}, where the paper "
        f"prints {record['expected']}: {record['verdict']}. "
        f"The cell's entry in the table's [JSON]({link}.json) (`cells`) names its `measures`, such "
        f"as [{measure}]({measure}), and by identity its `runs`, such as `{cell['runs'][0]}`. "
        f"[{made}]({made}) is that run's record: made at commit `{str(run['commit'])[:10]}` on "
        f"{run['cpu']} ({run['device']}), from data with the digest `{str(run['data'])[:10]}…`; "
        f"its `spec` is the whole configuration, from data to seed.\n\n{FILES}"
    )


def _cells(
    folder: Path,
) -> Iterator[tuple[Path, Mapping[str, Any], Mapping[str, str], Mapping[str, Any]]]:
    """Yield each cell of trained models beside a printed number: table, cell, record, first run."""
    for table in sorted((folder / "tables").glob("*/*.json")):
        sidecar = read_json(table)
        if sidecar.get("repeats"):
            continue
        records = read_csv(table.with_suffix(".csv"))
        for cell, record in zip(sidecar["cells"], records, strict=True):
            if trained(sidecar, record["metric"]) and cell["runs"] and record["expected"]:
                yield table, cell, record, sidecar["runs"][cell["runs"][0]]
