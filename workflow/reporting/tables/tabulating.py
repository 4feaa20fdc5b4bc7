"""The files of a table: long form, Markdown and LaTeX in the paper's layout, and the sidecar."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from model.store.checksums import Damaged
from workflow.definitions.paper import Paper
from workflow.definitions.tables import Tables
from workflow.errors import ReportingError
from workflow.files import read_sidecar, write_sidecar, write_text
from workflow.reporting.measures import Measures
from workflow.reporting.statistics.cells import Cell, read_cells, write_cells
from workflow.reporting.statistics.comparability import base_scale
from workflow.reporting.tables import layout
from workflow.reporting.tables import long_form as tables
from workflow.reporting.tables.latex import latex
from workflow.reporting.tables.markdown import markdown


def tabulate(
    paper: Paper,
    name: str,
    scale: str,
    measures: Measures,
    prefix: Path,
    base: Path | None = None,
    overlaid: tables.Overlaid = tables.NOTHING,
    failed: Mapping[str, str] = tables.NOTHING,
) -> None:
    """Write a table as `<prefix>.csv`, `.md`, `.tex` and its sidecar `.json`.

    `base` is the same table's CSV of the scale that an overlay stands on; it need not exist.
    `overlaid` is what the overlay changes of runs, and `failed` why they failed.
    """
    before: list[Cell] = []
    if base and base.is_file():
        _check(base)
        before = read_cells(base)
    table = tables.build(paper, name, scale, measures, before, overlaid, failed)
    write_table(table, paper.tables, name, prefix)


def scale_of(sidecar: Mapping[str, Any]) -> str:
    """Return the scale of a table as its title says it."""
    scale = str(sidecar["scale"])
    if any(cell["difference"] for cell in sidecar["cells"]):
        return f"{scale}, Δ is the difference to {base_scale(scale)}"
    return scale


def write_table(table: tables.LongForm, definitions: Tables, name: str, prefix: Path) -> None:
    """Write a table's four files.

    Args:
        table: its cells and sidecar.
        definitions: a whole `tables.yaml`, in which its layout stands.
        name: of the table.
        prefix: path of the files without their suffix.
    """
    write_text(prefix.with_suffix(".csv"), write_cells(table.cells))
    scale = scale_of(table.sidecar)
    grid = layout.grid(definitions, name, table.cells, table.sidecar)
    write_text(prefix.with_suffix(".md"), markdown(definitions, name, grid, scale))
    write_text(prefix.with_suffix(".tex"), latex(definitions, name, grid, scale))
    write_sidecar(prefix, table.sidecar, ("csv", "md", "tex"))


def _check(base: Path) -> None:
    try:
        read_sidecar(base)
    except Damaged as error:
        where = "it is of the scale that the overlay stands on"
        raise ReportingError(f"{error}; {where}: make mend makes it anew.") from None
