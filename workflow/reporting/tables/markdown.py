"""A table as GitHub shows it: ours, the paper's and the verdict's mark, each in a column."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, pairwise
from typing import NamedTuple

from workflow.definitions.tables import Tables
from workflow.files import markdown_cell
from workflow.reporting.prose import symbols, thousands
from workflow.reporting.tables import marks
from workflow.reporting.tables.layout import EMPTY, NO_ROW, NOT_RUN, CellTexts, Grid, parts
from workflow.reporting.tables.long_form import QUOTED

Line = tuple[tuple[str, ...], list[CellTexts]]
"""The labels of a row, with its texts."""
MARK = "mark"
"""Heads the column of verdicts."""
MOST = 14
"""Columns of a table at most."""
WIDE, BESIDE = 110, 3
"""Letters that a line of GitHub's pages has room for, and what a column takes beside its own."""
NUMBER = re.compile(r"[-+–.]?\d|–$")
"""What a number begins with."""


class Written(NamedTuple):
    """The texts of a table, of which the first columns are labels."""

    labels: int
    lines: Sequence[Sequence[str]]


def markdown(definitions: Tables, name: str, shown: Grid, scale: str) -> str:
    """Return the table as GitHub Markdown with its title, caption, legend and notes."""
    title = f"## {symbols(definitions['tables'][name]['title'])} (scale {scale})"
    notes = "\n".join(f"- {symbols(note)}" for note in shown.notes)
    texts = (title, symbols(shown.caption), shown.caution, body(shown), _legend(shown), notes)
    return "\n\n".join(filter(None, texts))


def body(shown: Grid) -> str:
    """Return the table alone, with the rows that the paper quotes folded below it."""
    quoted: list[Line] = []
    own: list[Line] = []
    for labels, cells in shown.lines:
        if any(QUOTED in cell["words"] for cell in cells):
            quoted.append((labels, [{**cell, "ours": ""} for cell in cells]))
        else:
            own.append((labels, cells))
    texts = [*map(_table, _tables(shown, own))] if own else [] if quoted else [NO_ROW]
    if quoted:
        rows = f"{len(quoted)} row{'s' * (len(quoted) > 1)} of other systems"
        summary = f"<details><summary>{rows}, as the paper quotes them</summary>"
        texts += [summary, *map(_table, _tables(shown, quoted)), "</details>"]
    return "\n\n".join(texts)


def _tables(shown: Grid, rows: Sequence[Line]) -> Iterator[Written]:
    """Yield rows in the first of their forms that a page has room for, else in parts.

    A form has the columns of the paper; or a row for each of them, with a column a metric; or rows
    and columns exchanged; or a row for each number.
    """
    labels = [row for row, _ in rows]
    cells = [[cell["numbers"] or [cell] for cell in line] for _, line in rows]
    most = [max(column, key=len) for column in zip(*cells, strict=True)]
    metrics = [[str(one["metric"]) for one in column] for column in most]
    heads = [head for pair in zip(shown.columns, metrics, strict=True) for head in _heads(*pair)]
    padded = [
        [[*cell, *[EMPTY] * (len(of) - len(cell))] for cell, of in zip(line, most, strict=True)]
        for line in cells
    ]
    flat = [[one for cell in line for one in cell] for line in padded]
    kept = [any(_ours(one) or one["paper"] for one in column) for column in zip(*flat, strict=True)]
    heads, flat = [*compress(heads, kept)], [[*compress(line, kept)] for line in flat]
    forms = [_written(shown.labels, heads, zip(labels, flat, strict=True))]
    if len(metrics[0]) > 1 and all(column == metrics[0] for column in metrics):
        lines = [
            ((*row, column), cell)
            for row, line in zip(labels, padded, strict=True)
            for column, cell in zip(shown.columns, line, strict=True)
        ]
        forms.append(_written((*shown.labels, ""), metrics[0], lines))
    if len(rows) < len(heads):
        turned = zip(zip(heads), zip(*flat, strict=True), strict=True)
        forms.append(_written([""], [": ".join(row) for row in labels], turned))
    numbers = [one for line in flat for one in line if one["paper"] or one["ours"]]
    if sum(bool(one["paper"]) for one in numbers) * 2 >= len(numbers):
        lines = [
            ((*row, head), [one])
            for row, line in zip(labels, flat, strict=True)
            for head, one in zip(heads, line, strict=True)
            if one["paper"] or one["ours"]
        ]
        forms.append(_written((*shown.labels, ""), ["ours"], lines))
    fitting = next(filter(_fits, forms), None)
    yield from [fitting] if fitting else _parts(shown.labels, heads, labels, flat)


def _heads(label: str, metrics: Sequence[str]) -> Sequence[str]:
    """Return a header for each metric of a column; its own, `a (b)`, may have them."""
    if len(metrics) == 1:
        return [label]
    own = parts(label)
    if len(own) != len(metrics):
        return [f"{label}: {metric}" for metric in metrics]
    beside = "" if " / " in label else f"{own[0].partition(',')[0]}: "
    return [own[0], *(f"{beside}{head}" for head in own[1:])]


def _written(
    labels: Sequence[str],
    heads: Sequence[str],
    lines: Iterable[tuple[Sequence[str], Sequence[CellTexts]]],
) -> Written:
    """Write a table: below a header ours, beside it what the paper prints and the mark, if any.

    Beside a column of the paper's alone, a column of ours alone says that it is ours.
    """
    lines = list(lines)
    columns = [*zip(*(line for _, line in lines), strict=True)]
    apart = not all(any(map(_ours, column)) for column in columns)
    table = [[*labels], *([*row] for row, _ in lines)]
    for head, column in zip(heads, columns, strict=True):
        named = [(head, "ours"), ("paper", "paper"), (MARK, "marks")]
        if not any(map(_ours, column)):
            named = [(f"{head}, paper", "paper")]
        elif not any(one["paper"] for one in column):
            named = [(f"ours, {head}" if apart else head, "ours")]
        for name, kind in named:
            table[0].append(name)
            for line, one in zip(table[1:], column, strict=True):
                line.append(_ours(one) if kind == "ours" else str(one[kind]))
    return Written(len(labels), [[symbols(thousands(text)) for text in line] for line in table])


def _ours(one: CellTexts) -> str:
    """Return ours, blank where nothing was run."""
    return "" if one["ours"] == NOT_RUN else str(one["ours"])


def _fits(table: Written) -> bool:
    """Say whether a table is seen at once, its texts broken between words."""
    widths = [max(map(_longest, column)) + BESIDE for column in zip(*table.lines, strict=True)]
    return len(widths) <= MOST and sum(widths) <= WIDE


def _longest(text: str) -> int:
    return max(map(len, re.sub("<[^>]+>", "", text).split(" ")))


def _parts(
    first: Sequence[str],
    heads: Sequence[str],
    labels: Sequence[Sequence[str]],
    lines: Sequence[Sequence[CellTexts]],
) -> Iterator[Written]:
    """Yield a table in as few equal parts as fit; each has its labels."""
    for count in range(1, len(heads) + 1):
        edges = [len(heads) * part // count for part in range(count + 1)]
        made = [
            _written(
                first, heads[start:end], zip(labels, [it[start:end] for it in lines], strict=True)
            )
            for start, end in pairwise(edges)
        ]
        if all(map(_fits, made)):
            break
    yield from made


def _table(table: Written) -> str:
    """Return a table as text; labels but the last are left out where the row above has them."""
    head, *rows = ([markdown_cell(text) for text in line] for line in table.lines)
    rules = [_rule(*column) for column in zip(*table.lines, strict=True)]
    written, above = [head, rules], [""] * table.labels
    for row in rows:
        alike = [row[: at + 1] == above[: at + 1] for at in range(table.labels - 1)]
        written.append(
            [*("" if it else row[at] for at, it in enumerate(alike)), *row[len(alike) :]]
        )
        above = row
    return "\n".join("| " + " | ".join(line) + " |" for line in written)


def _rule(head: str, *column: str) -> str:
    """Return the rule of a column: numbers are aligned on the right, marks are in the middle."""
    texts = [text for text in column if text]
    if head == MARK and {text[0] for text in texts} <= {*marks.MARKS.values()}:
        return ":-:"
    return "--:" if texts and all(map(NUMBER.match, texts)) else "---"


def _legend(shown: Grid) -> str:
    """Say what marks and blanks mean, as far as there are any."""
    texts = shown.texts
    words = frozenset().union(*texts["words"])
    said = ["paper: what it prints, with ours on the left"] if any(texts["paper"]) else []
    said += marks.legend(words)
    if any("/" in text for text in texts["marks"]):
        said.append("✓/✗ beside each number that is printed")
    if {"not run", QUOTED} & words or NOT_RUN in {*texts["ours"]}:
        said.append("blank: not run")
    return " · ".join(said)
