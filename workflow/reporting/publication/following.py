"""How a reader follows a published number to the trainings behind it, shown by a real cell."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from workflow.files import read_sidecar
from workflow.reporting.publication.counting import trained
from workflow.reporting.statistics.cells import Cell, read_cells, text

FILES = """\
[`index.json`](index.json) lists the published runs with their identities, and why some no longer \
count. [`tolerances.json`](tolerances.json) has the rules behind the verdicts, each time they \
changed, and [`claims_history.json`](claims_history.json) what changed of claims. `texts/` has the \
long lists of texts that measures name: translations and their references, from which BLEU is \
computed."""
PARTNERS = """\
What compares several runs has the others among its `partners`: those whose records its evaluator \
read, of the same variant those of other seeds. Claims name `runs` and `partners` alike."""


def section(folder: Path, titles: Mapping[str, str]) -> str:
    """Return the section of a scale's page; `titles` are by `<paper>/<table>`."""
    cells = list(_cells(folder))
    if not cells:
        return FILES
    # Of equals, `max` takes the first.
    table, told, cell, run = max(cells, key=lambda it: it[2].verdict == "reproduced")
    link = table.relative_to(folder).with_suffix("")
    title = titles.get(f"{table.parent.name}/{table.stem}", table.stem)
    measures = ["/".join(PurePosixPath(one).parts[-4:]) for one in told["measures"]]
    keys = [one.removeprefix("measures/").removesuffix(".json") for one in measures]
    runs = f"over {len(keys)} runs" if len(keys) > 1 else "in one run"
    compared = ""
    if told["partners"]:
        compared = f", measured beside their `partners`: {_records(told['partners'])}"
    return (
        f"In [{title}]({link}.md), row “{cell.row}”, column “{cell.column}”, "
        f"`{cell.metric}` is {text(cell.mean)} {cell.unit} {runs}, where the paper "
        f"prints {cell.expected}: {cell.verdict}. "
        f"The cell's entry in the table's [JSON]({link}.json) (`cells`) names what was measured "
        f"(`{told['measure']}`), its `measures`, such as [{measures[0]}]({measures[0]}), and by "
        f"identity its `runs`, such as `{told['runs'][0]}`. The number is of the runs "
        f"{_records(keys)}{compared}. "
        f"These are their records: the first was made at commit `{str(run['commit'])[:10]}` on "
        f"{run['cpu']} ({run['device']}), from data with the digest `{str(run['data'])[:10]}…`; "
        f"its `spec` is the whole configuration, from data to seed, with its parents.\n\n"
        f"{PARTNERS}\n\n{FILES}"
    )


def _records(keys: Iterable[str]) -> str:
    """Return links to the records of runs."""
    return ", ".join(f"[{key}](runs/{key}.json)" for key in keys)


def _cells(
    folder: Path,
) -> Iterator[tuple[Path, Mapping[str, Any], Cell, Mapping[str, Any]]]:
    """Yield the cells of trained models beside a number: table, what is told, cell, first run."""
    for table in sorted((folder / "tables").glob("*/*.json")):
        sidecar = read_sidecar(table)
        if sidecar.get("repeats"):
            continue
        cells = read_cells(table.with_suffix(".csv"))
        for told, cell in zip(sidecar["cells"], cells, strict=True):
            if trained(sidecar, cell.metric) and told["runs"] and cell.expected:
                yield table, told, cell, sidecar["runs"][told["runs"][0]]
