"""Pages of templates: HTML as one file with its styles and scripts, and Markdown."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from workflow import ROOT

TEMPLATES = Path(__file__).resolve().parents[2] / "report"
STYLES = (TEMPLATES / "colours.css", TEMPLATES / "bar.css")
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


def links_from(page: Path, files: Iterable[tuple[str, Path]]) -> list[Link]:
    """Return links from a page in the project's folder to files that are there, by name."""
    if not page.resolve().is_relative_to(ROOT):
        return []
    return [(name, os.path.relpath(it, page.parent)) for name, it in files if it.exists()]


def inlined(files: Iterable[Path]) -> Markup:
    """Return the content of files, one after the other, as it stands."""
    return Markup("\n").join(Markup(path.read_text(encoding="utf-8")) for path in files)


def markdown(name: str, **values: Any) -> str:
    """Return a page, or a section of one, by the name of its template in Markdown."""
    template = environment(TEMPLATES, escaped=False).get_template(f"{name}.md.j2")
    return template.render(values).rstrip("\n")
