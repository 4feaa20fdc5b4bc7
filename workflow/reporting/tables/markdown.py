"""A table as GitHub shows it: a cell has ours, the paper's in brackets, and the verdict's mark."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from workflow.definitions.tables import Tables
from workflow.files import markdown_cell
from workflow.reporting.tables import marks
from workflow.reporting.tables.layout import MISSING, NO_ROW, NOT_RUN, Box, Grid, notes
from workflow.reporting.tables.long_form import QUOTED

MOST = 12
"""Columns of a table at most."""
WIDE, BESIDE = 110, 3
"""Letters that a line of GitHub's pages has room for, and what a column takes beside its own."""
TOGETHER = "\u00a0"
"""A space at which no line is broken."""
Lines = Sequence[Sequence[str]]


def markdown(definitions: Tables, name: str, shown: Grid, scale: str) -> str:
    """Return the table as GitHub Markdown with its title, caption, legend and notes."""
    table = definitions["tables"][name]
    parts = [f"## {table['title']} (scale {scale})", shown.caption]
    parts += _tables(shown) if shown.rows else [NO_ROW]
    if legend := _legend(shown):
        parts.append(legend)
    parts.append("\n".join(f"- {note}" for note in notes(shown)))
    return "\n\n".join(filter(None, parts))


def _tables(shown: Grid) -> Iterator[str]:
    """Yield the table; a wide one with few rows is turned, another is shown in parts."""
    first, names = len(shown.labels), [label for label, _ in shown.columns]
    lines = [[*shown.labels, *names]]
    for row in shown.rows:
        lines.append([*(box.text for box in row[:first]), *_cells(shown, row)])
    if not _fits(lines) and len(shown.rows) < len(names):
        head = ["", *(": ".join(line[:first]) for line in lines[1:])]
        lines = [head, *map(list, [*zip(*lines, strict=True)][first:])]
        first = 1
    yield from _parts(lines, first)


def _fits(lines: Lines) -> bool:
    """Say whether a table is seen at once, its texts broken between words."""
    widths = [max(map(_longest, column)) + BESIDE for column in zip(*lines, strict=True)]
    return len(widths) <= MOST and sum(widths) <= WIDE


def _longest(text: str) -> int:
    return max(map(len, text.split(" ")))


def _parts(lines: Lines, first: int) -> Iterator[str]:
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


def _table(lines: Lines, first: int) -> str:
    """Return a table; a group is named in the first of its rows."""
    head, *rows = ([markdown_cell(text) for text in line] for line in lines)
    group = ""
    for row in rows:
        if first > 1:
            row[0], group = "" if row[0] == group else row[0], row[0]
    written = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in written)


def _cells(shown: Grid, row: Sequence[Box]) -> list[str]:
    """Return the cells of a row, one a column; where the paper quotes, nothing is ours."""
    boxes = iter(row[len(shown.labels) :])
    quoted = any(QUOTED in box.words for box in row)
    blank = (NOT_RUN, MISSING) if quoted else (NOT_RUN,)
    return [_cell([next(boxes) for _ in kinds], blank) for _, kinds in shown.columns]


def _cell(boxes: Sequence[Box], blank: Sequence[str]) -> str:
    """Return the boxes of a cell as one; ours is left out where it is one of `blank`."""
    ours, *beside = boxes
    text = "" if ours.text in blank else ours.text
    if not beside or not beside[0].text:
        return text
    paper, verdict = beside
    bracket = f"[{paper.text}] {verdict.marks}".rstrip().replace("] ", f"]{TOGETHER}")
    return f"{text} {bracket.replace('(was ', f'(was{TOGETHER}')}".lstrip()


def _legend(shown: Grid) -> str:
    """Say what brackets, marks and blanks mean, as far as there are any."""
    boxes = [box for row in shown.rows for box in row]
    said = ["[ ] the paper's"] if any(box.kind == "paper" and box.text for box in boxes) else []
    said += marks.legend({word for box in boxes for word in box.words})
    if any(" " in box.marks.partition(" (was")[0] for box in boxes):
        said.append("several marks: of a cell's numbers, in their order")
    if any("/" in box.marks for box in boxes):
        said.append("✓/✗ beside each number that is printed")
    if any(box.text == NOT_RUN for box in boxes):
        said.append("blank, but for what is printed: not run")
    return " · ".join(said)
