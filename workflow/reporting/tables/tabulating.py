"""The files of a table: long form, Markdown and LaTeX in the paper's layout, and the sidecar."""

from collections.abc import Mapping
from pathlib import Path

from workflow.definitions.paper import NOTHING, Paper
from workflow.definitions.tables import Tables
from workflow.files import write_sidecar, write_text
from workflow.reporting.cells import LongForm, csv_of, read_table, sidecar_of
from workflow.reporting.measures import Measures
from workflow.reporting.overlaid import Overlaid
from workflow.reporting.statistics.comparability import base_scale
from workflow.reporting.tables import layout
from workflow.reporting.tables.latex import latex
from workflow.reporting.tables.long_form import build
from workflow.reporting.tables.markdown import markdown
from workflow.runtime.errors import ReportingError
from workflow.runtime.integrity import Damaged


def tabulate(
    paper: Paper,
    name: str,
    scale: str,
    measures: Measures,
    prefix: Path,
    base: Path | None = None,
    overlaid: Overlaid = NOTHING,
    failed: Mapping[str, str] = NOTHING,
) -> None:
    """Write a table as `<prefix>.csv`, `.md`, `.tex` and its sidecar `.json`.

    `base` is the same table's CSV of the scale that an overlay stands on; it need not exist.
    `overlaid` is what the overlay changes of runs, and `failed` why they failed.
    """
    before = _base(base).cells if base and base.is_file() else None
    table = build(paper, name, scale, measures, before, overlaid, failed)
    write_table(table, paper.tables, name, prefix)


def _scale_of(table: LongForm) -> str:
    scale = str(table.about["scale"])
    if table.cells["difference"].notna().any():
        return f"{scale}, Δ is the difference to {base_scale(scale)}"
    return scale


def write_table(table: LongForm, definitions: Tables, name: str, prefix: Path) -> None:
    """Write a table's four files.

    Args:
        table: the table in long form.
        definitions: a whole `tables.yaml`, in which its layout stands.
        name: of the table.
        prefix: path of the files without their suffix.
    """
    write_text(prefix.with_suffix(".csv"), csv_of(table.cells))
    grid, scale = layout.grid(definitions, name, table), _scale_of(table)
    write_text(prefix.with_suffix(".md"), markdown(definitions, name, grid, scale))
    write_text(prefix.with_suffix(".tex"), latex(definitions, name, grid, table))
    write_sidecar(prefix, sidecar_of(table), ("csv", "md", "tex"))


def _base(path: Path) -> LongForm:
    try:
        return read_table(path)
    except Damaged as error:
        where = "it is of the scale that the overlay stands on"
        raise ReportingError(f"{error}; {where}: make mend makes it anew.") from None
