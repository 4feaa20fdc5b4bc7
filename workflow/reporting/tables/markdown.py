"""A table as GitHub shows it: a cell has ours, the paper's in brackets, and the verdict's mark."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from workflow.definitions.tables import Tables
from workflow.files import markdown_cell
from workflow.reporting.tables import marks
from workflow.reporting.tables.layout import MISSING, NO_ROW, NOT_RUN, Grid
from workflow.reporting.tables.long_form import QUOTED

MOST = 12
"""Columns of a table at most."""
WIDE, BESIDE = 110, 3
"""Letters that a line of GitHub's pages has room for, and what a column takes beside its own."""
TOGETHER = "\u00a0"
"""A space at which no line is broken."""
TextTable = Sequence[Sequence[str]]


def markdown(definitions: Tables, name: str, shown: Grid, scale: str) -> str:
    """Return the table as GitHub Markdown with its title, caption, legend and notes."""
    table = definitions["tables"][name]
    parts = [f"## {table['title']} (scale {scale})", shown.caption]
    parts += _tables(shown) if shown.rows else [NO_ROW]
    if legend := _legend(shown):
        parts.append(legend)
    parts.append("\n".join(f"- {note}" for note in shown.notes))
    return "\n\n".join(filter(None, parts))


def _tables(shown: Grid) -> Iterator[str]:
    """Yield the table; a wide one with few rows is turned, another is shown in parts."""
    first = len(shown.labels)
    lines = [[*shown.labels, *shown.columns]]
    lines += [[*labels, *_cells(texts)] for labels, texts in shown.lines]
    if not _fits(lines) and len(shown.rows) < len(shown.columns):
        head = ["", *(": ".join(line[:first]) for line in lines[1:])]
        lines = [head, *map(list, [*zip(*lines, strict=True)][first:])]
        first = 1
    yield from _parts(lines, first)


def _fits(lines: TextTable) -> bool:
    """Say whether a table is seen at once, its texts broken between words."""
    widths = [max(map(_longest, column)) + BESIDE for column in zip(*lines, strict=True)]
    return len(widths) <= MOST and sum(widths) <= WIDE


def _longest(text: str) -> int:
    return max(map(len, text.split(" ")))


def _parts(lines: TextTable, first: int) -> Iterator[str]:
    """Yield a table in as few equal parts as fit, below headings; each has the `first` columns."""
    size = len(lines[0]) - first
    for count in range(1, size + 1):
        edges = [first + size * part // count for part in range(count + 1)]
        parts = [[[*it[:first], *it[start:end]] for it in lines] for start, end in pairwise(edges)]
        if count == size or all(map(_fits, parts)):
            break
    for part in parts:
        if len(parts) > 1:
            ends = dict.fromkeys((part[0][first], part[0][-1]))
            yield f"### Columns {' to '.join(f'“{end}”' for end in ends)}"
        yield _table(part, first)


def _table(lines: TextTable, first: int) -> str:
    """Return a table; a group is named in the first of its rows."""
    head, *rows = ([markdown_cell(text) for text in line] for line in lines)
    group = ""
    for row in rows:
        if first > 1:
            row[0], group = "" if row[0] == group else row[0], row[0]
    written = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in written)


def _cells(texts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the cells of a row; where the paper quotes, nothing is ours."""
    quoted = any(QUOTED in cell["words"] for cell in texts)
    blank = (NOT_RUN, MISSING) if quoted else (NOT_RUN,)
    return [_cell(cell, blank) for cell in texts]


def _cell(cell: Mapping[str, Any], blank: Sequence[str]) -> str:
    """Return a cell as one text; ours is left out where it is one of `blank`."""
    ours = "" if cell["ours"] in blank else cell["ours"]
    if not cell["paper"]:
        return str(ours)
    bracket = f"[{cell['paper']}] {cell['marks']}".rstrip().replace("] ", f"]{TOGETHER}")
    return f"{ours} {bracket.replace('(was ', f'(was{TOGETHER}')}".lstrip()


def _legend(shown: Grid) -> str:
    """Say what brackets, marks and blanks mean, as far as there are any."""
    texts = shown.texts
    said = ["[ ] the paper's"] if any(texts["paper"]) else []
    said += marks.legend(frozenset().union(*texts["words"]))
    if any(" " in text.partition(" (was")[0] for text in texts["marks"]):
        said.append("several marks: of a cell's numbers, in their order")
    if any("/" in text for text in texts["marks"]):
        said.append("✓/✗ beside each number that is printed")
    if NOT_RUN in {*texts["ours"], *texts["verdict"]}:
        said.append("blank, but for what is printed: not run")
    return " · ".join(said)
