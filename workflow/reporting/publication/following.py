"""How a reader follows a published number to the trainings behind it, shown by a real cell."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workflow.files import SIDECARS
from workflow.lines import read_lines
from workflow.reporting.cells import read_table, records, text
from workflow.reporting.publication.counting import trained
from workflow.reporting.publication.results import RUNS, key_at, lines_of

FILES = """\
[`index.json`](index.json) lists the published runs with their identities, and why some no longer \
count. [`tolerances.json`](tolerances.json) has the rules behind the verdicts, each time they \
changed, and [`claims_history.json`](claims_history.json) what changed of claims. `texts/` has the \
long lists of texts that measures name: translations and their references, from which BLEU is \
computed. A `.jsonl` has a line for each run (or table, figure, list of texts), which begins with \
its checksum and its key."""
PARTNERS = """\
What compares several runs has the others among its `partners`: those whose records its evaluator \
read, of the same variant those of other seeds. Claims name `runs` and `partners` alike."""


def section(folder: Path, titles: Mapping[str, str]) -> str:
    """Return the section of a scale's page; `titles` are by `<paper>/<table>`."""
    cells = list(_cells(folder))
    if not cells:
        return FILES
    # Of equals, `max` takes the first.
    table, cell, run = max(cells, key=lambda it: it[1]["verdict"] == "reproduced")
    link = page_of(table.relative_to(folder))
    title = titles.get(f"{table.parent.name}/{table.stem}", table.stem)
    entry = _line(folder, Path("tables", SIDECARS), f"{table.parent.name}/{table.stem}")
    keys = [key_at(one) for one in cell["measures"]]
    runs = f"over {len(keys)} runs" if len(keys) > 1 else "in one run"
    compared = ""
    if cell["partners"]:
        compared = f", measured beside their `partners`: {_lines(folder, cell['partners'])}"
    mark = f", {run['earlier']}" if run.get("earlier") else ""
    return (
        f"In [{title}]({link}), row “{cell['row']}”, column “{cell['column']}”, "
        f"`{cell['metric']}` is {text(cell['mean'])} {cell['unit']} {runs}, where the paper "
        f"prints {cell['expected']}: {cell['verdict']}. "
        f"The cell's entry in the table's [line of JSON]({entry}) (`cells`) names what was "
        f"measured (`{cell['measure']}`), the lines of its `measures`, and by identity its `runs`, "
        f"such as `{cell['runs'][0]}`. The number is of the runs {_lines(folder, keys)}{compared}. "
        f"The first was made at commit `{str(run['commit'])[:10]}` on {run['cpu']} "
        f"({run['device']}){mark}, from data with the digest `{str(run['data'])[:10]}…`; in its "
        f"line, `spec` is the whole configuration, from data to seed, with its parents, and "
        f"`measures` is all that was measured.\n\n"
        f"{PARTNERS}\n\n{FILES}"
    )


def page_of(table: Path) -> str:
    """Return the link to a published table, by its CSV, on the page of its paper."""
    return f"{table.with_name('README.md').as_posix()}#{table.stem}"


def _lines(folder: Path, keys: Iterable[str]) -> str:
    """Return links to the lines of runs."""
    links = []
    for key in keys:
        experiment, _, line = key.partition("/")
        links.append(f"[{key}]({_line(folder, lines_of(Path(), RUNS, experiment), line)})")
    return ", ".join(links)


def _line(folder: Path, file: Path, key: str) -> str:
    """Return the link to a line of a file."""
    return f"{file.as_posix()}#L{[*read_lines(folder / file)].index(key) + 1}"


def _cells(folder: Path) -> Iterator[tuple[Path, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the cells of trained models beside a number: table, cell, first run."""
    for path in sorted((folder / "tables").glob("*/*.csv")):
        table = read_table(path)
        if table.about.get("repeats"):
            continue
        for cell in records(table.cells):
            if trained(table.about, cell["metric"]) and cell["runs"] and cell["expected"]:
                yield path, cell, table.about["runs"][cell["runs"][0]]
