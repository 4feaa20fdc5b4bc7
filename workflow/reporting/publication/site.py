"""The project's pages as HTML: README, and what it links to, and what that links to."""

import html
import json
import os
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt
from markupsafe import Markup

from workflow.reporting.claims.judged import JudgedClaim, read_claims
from workflow.reporting.page.marks import SIGNS, Mark
from workflow.reporting.page.templates import STYLES, TEMPLATES, environment, inlined
from workflow.runtime.errors import ReportingError

FIRST = "index.html"
CLAIMS = '<table class="claims">'
EXAMPLE = re.compile(r"<pre[^>]*><code[^>]*>(#task=\S+)\s*</code></pre>")
"""An address of the explorer as a guide has it."""
FIGURE = re.compile(r"<p>(<img [^>]*\.svg[^>]*>)</p>")
LOOKS = {Mark(word).sign: Mark(word).look for word in SIGNS if word != "quoted"}
"""The class of the colour of each sign; words of one sign have one colour."""
SIGNED = re.compile(
    r'(?<=text-align:center">)(<a [^>]*>)?[{0}/ ]+(?=(</a>)?</td>)|<code>[{0}]+</code>'.format(
        "".join(LOOKS)
    )
)
"""A cell, or a bar in code, that is of signs alone."""
_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def site_of(root: Path, bar: Mapping[str, str]) -> dict[str, bytes]:
    """Return the files of the site by their places in it.

    Each page links to those of the bar, by name, and from claims and tables to its report.
    ReportingError where a page links to nothing.
    """
    styles = inlined([*STYLES, TEMPLATES / "style.css", TEMPLATES / "site.css"])
    files = {"style.css": styles.encode(), ".nojekyll": b""}
    template = environment(TEMPLATES).get_template("site.html.j2")
    waiting = [root / "README.md"]
    while waiting:
        path = waiting.pop()
        if (place := place_of(path, root)) in files:
            continue
        if path.is_relative_to(root / "docs") and path.is_file() and path.suffix != ".md":
            files[place] = path.read_bytes()
            continue
        title, body, linked = _page(path, root, bar)
        waiting += linked
        links = [(name, relative(it, place), it == place) for name, it in bar.items()]
        shown = {"title": title, "body": Markup(body), "style": relative("style.css", place)}
        files[place] = template.render(shown, links=links).encode()
    return files


def place_of(path: Path, root: Path) -> str:
    """Return where the site has a file or a folder: `docs/` can be the site itself."""
    file = (path / "README.md" if path.is_dir() else path).relative_to(root)
    if file == Path("README.md"):
        return FIRST
    folder, name = Path("source", file.parent), f"{file.name}.html"
    if file.is_relative_to("docs"):
        folder, name = file.parent.relative_to("docs"), file.name
    if file.suffix == ".md":
        name = FIRST if file.name == "README.md" else f"{file.stem}.html"
    return (folder / name).as_posix()


def relative(place: str, page: str) -> str:
    """Return the link from a page of the site to a place in it."""
    return quote(os.path.relpath(place, Path(page).parent))


def _page(path: Path, root: Path, bar: Mapping[str, str]) -> tuple[str, str, list[Path]]:
    """Return title and content of a page, with links as in the site, and to which files."""
    linked: list[Path] = []
    report, own = bar.get("Report", ""), place_of(path, root)

    def moved(link: re.Match[str]) -> str:
        file, hash_, anchor = html.unescape(link[2]).partition("#")
        if not file or re.match("[a-z]+:", file):
            return link[0]
        to = Path(os.path.normpath(path.parent / unquote(file)))
        if not to.exists() or not to.is_relative_to(root):
            raise ReportingError(f"{path}: it links to {file}, which is not there; mend the link.")
        linked.append(to / "README.md" if (to / "README.md").is_file() else to)
        place = relative(place_of(to, root), own)
        beside = place_of(to, root).startswith(f"{Path(report).parent.as_posix()}/")
        if beside and (address := _in_report(to, anchor)):
            return f'{link[1]}="{relative(report, own)}#{html.escape(address)}"'
        return f'{link[1]}="{place}{hash_}{html.escape(anchor)}"'

    tokens, titles = _MARKDOWN.parse(_markdown(path, root)), []
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":  # its anchor is that of GitHub
            titles.append("".join(it.content for it in inline.children or ()))
            heading.attrSet("id", re.sub(r"[^\w -]", "", titles[-1].lower()).replace(" ", "-"))
    body = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    body = re.sub(r"<table>(?=\s*<thead>\s*<tr>\s*<th[^>]*></th>\s*<th>claim)", CLAIMS, body)
    body = re.sub(r"<table[^>]*>", r'<div class="scroll" tabindex="0">\g<0>', body)
    body = body.replace("</table>", "</table></div>").replace("<pre", '<pre tabindex="0"')
    body = FIGURE.sub(r'<p class="scroll" tabindex="0">\1</p>', body)
    body = re.sub(r'\b(href|src|srcset)="([^"]+)"', moved, body)
    if "Explorer" in bar:
        link = f'<p><a href="{relative(bar["Explorer"], own)}\\1">Open it in the explorer</a></p>'
        body = EXAMPLE.sub(link, body)
    signs = f"[{''.join(LOOKS)}](?![^<]*>)"
    body = SIGNED.sub(lambda found: re.sub(signs, _mark, found[0]), body)
    return titles[0], body, linked


def _in_report(file: Path, anchor: str) -> str:
    """Return where the report shows the claim or the table of a line, empty if nowhere."""
    if file.parent.name not in ("claims", "tables") or not re.fullmatch(r"L\d+", anchor):
        return ""
    line = file.read_text(encoding="utf-8").splitlines()[int(anchor[1:]) - 1]
    if file.parent.name == "tables":
        return str(json.loads(line)["key"])
    name = line.split('"')[3]
    judged = next(claim for claim in _claims(file) if claim.id == name)
    return f"claim/{file.stem}/{name}" if judged.verdict != "not run" else ""


@cache
def _claims(file: Path) -> list[JudgedClaim]:
    return read_claims(file)


def _mark(found: re.Match[str]) -> str:
    return f'<span class="mark {LOOKS[found[0]]}">{found[0]}</span>'


def _markdown(path: Path, root: Path) -> str:
    """Return a page in Markdown: of a folder a list, of code the lines."""
    title = f"# `{path.relative_to(root)}`\n\n"
    if path.is_dir():
        files = sorted(it.name for it in path.iterdir() if not it.name.startswith(("__py", ".")))
        return title + "\n".join(f"- [`{it}`](<{path.name}/{it}>)" for it in files)
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    lines = enumerate(html.escape(text).splitlines(), 1)
    code = "\n".join(f'<span id="L{number}">{line}</span>' for number, line in lines)
    return f'{title}<pre class="source">{code}</pre>'
