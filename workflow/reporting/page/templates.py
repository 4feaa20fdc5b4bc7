"""Pages of templates: HTML as one file with its styles and scripts, and Markdown."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

TEMPLATES = Path(__file__).resolve().parents[2] / "report"
COLOURS = TEMPLATES / "colours.css"
"""What the styles of all pages begin with."""
Link = tuple[str, str]
"""Name and address."""


def environment(folder: Path, escaped: bool = True) -> Environment:
    """Return what reads templates of a folder: an unknown name is an error."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def inlined(files: Iterable[Path]) -> Markup:
    """Return the content of files, one after the other, as it stands."""
    return Markup("\n").join(Markup(path.read_text(encoding="utf-8")) for path in files)


def markdown(name: str, **values: Any) -> str:
    """Return a page, or a section of one, by the name of its template in Markdown."""
    template = environment(TEMPLATES, escaped=False).get_template(f"{name}.md.j2")
    return template.render(values).rstrip("\n")
