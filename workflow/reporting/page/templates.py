"""A page as one file: its template, and the styles and scripts that stand in it."""

from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

COLOURS = Path(__file__).resolve().parents[2] / "report" / "colours.css"
"""What the styles of all pages begin with."""


def environment(folder: Path) -> Environment:
    """Return what reads templates of a folder: text is escaped, an unknown name an error."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def inlined(files: Iterable[Path]) -> Markup:
    """Return the content of files, one after the other, as it stands."""
    return Markup("\n").join(Markup(path.read_text(encoding="utf-8")) for path in files)
