"""How a reader follows a published number to the trainings behind it, shown by a real cell."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from workflow.files import SIDECARS
from workflow.reporting.cells import Cell, RunOrigin, read_table, records, text
from workflow.reporting.page.templates import markdown
from workflow.reporting.publication.counting import trained
from workflow.reporting.publication.places import page_of, title_of
from workflow.reporting.publication.results import RUNS, key_at, lines_of
from workflow.runtime.json_lines import read_lines


def section(folder: Path) -> str:
    """Return the section of a scale's page, empty where no trained model has a printed number."""
    cells = list(_cells(folder))
    if not cells:
        return ""
    # Of equals, `max` takes the first.
    table, cell, run = max(cells, key=lambda it: it[1]["verdict"] == "reproduced")
    name = f"{table.parent.name}/{table.stem}"
    return markdown(
        "following",
        title=title_of(table),
        page=page_of(table),
        entry=_line(folder, Path("tables", SIDECARS), name),
        cell=cell,
        value=text(cell["mean"]),
        run={"earlier": "", **run},
        runs=_lines(folder, map(key_at, cell["measures"])),
        partners=_lines(folder, cell["partners"]),
    )


def _lines(folder: Path, keys: Iterable[str]) -> dict[str, str]:
    """Return links to the lines of runs, by their keys."""
    parts = {key: key.partition("/") for key in keys}
    return {
        key: _line(folder, lines_of(Path(), RUNS, experiment), line)
        for key, (experiment, _, line) in parts.items()
    }


def _line(folder: Path, file: Path, key: str) -> str:
    """Return the link to a line of a file."""
    return f"{file.as_posix()}#L{[*read_lines(folder / file)].index(key) + 1}"


def _cells(folder: Path) -> Iterator[tuple[Path, Cell, RunOrigin]]:
    """Yield the cells of trained models beside a number: table, cell, first run."""
    for path in sorted((folder / "tables").glob("*/*.csv")):
        table = read_table(path)
        if table.about.get("repeats"):
            continue
        for cell in records(table.cells):
            if trained(table.about, cell["metric"]) and cell["runs"] and cell["expected"]:
                yield path, cell, table.about["runs"][cell["runs"][0]]
