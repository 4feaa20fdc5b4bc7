r"""A table as LaTeX floats for a paper in two columns: \input{table.tex}.

A table that is narrow enough goes into a column; a wider one is turned if that makes it fit, or is
set across both columns, in parts where it is too wide for these too. Widths are those in print.
On a slide it has the same letters, and goes on on the next slide where it is too large for one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil

from workflow.definitions.references import key_of
from workflow.definitions.tables import Tables
from workflow.reporting.cells import LongForm
from workflow.reporting.tables.footnotes import TURNED_TWO_DEVICES, behind
from workflow.reporting.tables.layout import MISSING, NO_ROW, NOT_RUN, CellTexts, Grid
from workflow.reporting.tables.long_form import QUOTED
from workflow.reporting.tables.tex_text import aligned, tex, width, wrapped

COLUMN, PAGE = 219, 455
"""Points of a column and of a page's text: those of ACL's style, narrower than others."""
HEIGHT, LINE = 540, 9.5
"""Points of a float at most, by the page of LaTeX's `article`, and of a line in it."""
SLIDE, SLIDE_HEIGHT = 395, 195
"""Points below the title of a slide, 16 to 9, of beamer."""
BESIDE = 6
"""Points between columns."""
SHORT, LONG, LINES = 30, 95, 3
"""Points of a header and of a text that are broken into lines, and lines of a header at most."""
END = r"\tabularnewline"
NEEDS = r"% needs \usepackage[T1]{fontenc} and \usepackage{booktabs,amssymb}"
SLIDE_NEEDS = f"{NEEDS} in \\documentclass[aspectratio=169]{{beamer}}"
MARKS = {
    "✓": (r"\checkmark", "reproduced"),
    "≈": (r"\approx", "within"),
    "~": (r"\sim", "near"),
    "✗": (r"\times", "differs"),
}
"""Verdicts as superscripts of ours, with their meanings; where there is none, no mark is set."""

BLANKS = "blank: not run here, or not in the paper; --: there is no such number"
"""What stands below every table that has either, so that both mean the same everywhere."""

_FORMER = re.compile(r" \(was .\)")


@dataclass
class Column:
    """A column of a table, or two below one head.

    Args:
        head: in LaTeX.
        texts: in LaTeX, by the head of the sub-column, "" where there is one.
        room: points for texts that are broken into lines, 0 for texts of one line.
    """

    head: str
    texts: Mapping[str, list[str]]
    room: float | None = None
    lines: list[str] = field(init=False)
    """Of the head."""

    def __post_init__(self) -> None:
        if self.room is None:
            self.room = LONG if len(self.texts) == 1 and self.most > LONG else 0
        room = max(self.body, SHORT)
        while len(wrapped(self.head, room)) > LINES:
            room += LINE
        self.lines = wrapped(self.head, room)

    @property
    def most(self) -> float:
        """Points of its widest text."""
        return max((width(text) for texts in self.texts.values() for text in texts), default=0)

    @property
    def body(self) -> float:
        """Points of its sub-columns."""
        each = [max(map(width, (head, *texts))) + BESIDE for head, texts in self.texts.items()]
        return self.room or sum(each) - BESIDE

    @property
    def width(self) -> float:
        """Points of the column with the room beside it."""
        return BESIDE + max(self.body, *map(width, self.lines))

    def cells(self, row: int) -> list[str]:
        """Return its cells in a row."""
        begin = r"\raggedright " if self.room else ""
        return [f"{begin}{texts[row]}" for texts in self.texts.values()]

    def height(self, row: int) -> float:
        """Return the points of a row."""
        if not self.room:
            return LINE
        return LINE * max(
            1, *(ceil(1.15 * width(it[row]) / self.room) for it in self.texts.values())
        )

    def of(self, rows: Sequence[int]) -> "Column":
        """Return the column with some of its rows."""
        texts = {head: [texts[row] for row in rows] for head, texts in self.texts.items()}
        return Column(self.head, texts, self.room)


@dataclass
class Tabular:
    """A table, or a part of one: columns of labels, and others."""

    labels: list[Column]
    values: list[Column]

    @property
    def columns(self) -> list[Column]:
        """All columns."""
        return [*self.labels, *self.values]

    @property
    def width(self) -> float:
        """Points in print."""
        return sum(column.width for column in self.columns) - BESIDE

    @property
    def head(self) -> float:
        """Points of the header and the rules."""
        return LINE * (3 + max(len(column.lines) for column in self.columns))

    @property
    def rows(self) -> list[float]:
        """Points of each row."""
        count = len(next(iter(self.values[0].texts.values())))
        return [max(column.height(row) for column in self.columns) for row in range(count)]

    def of(self, rows: Sequence[int]) -> "Tabular":
        """Return the table with some of its rows."""
        return Tabular([it.of(rows) for it in self.labels], [it.of(rows) for it in self.values])


def latex(definitions: Tables, name: str, shown: Grid, table: LongForm, slide: bool = False) -> str:
    """Return the table as floats or slides, with what else is to be known of it in comments."""
    definition = definitions["tables"][name]
    source = str(definition["source"])
    title = _title(str(definition["title"]), source)
    rooms = [SLIDE] if slide else [COLUMN, PAGE]
    parts, room, turned = _fitted(shown, rooms) if shown.rows else ([], COLUMN, False)
    caution = TURNED_TWO_DEVICES if shown.caution and turned else shown.caution
    caption = tex(f"{title}. {shown.caption} {caution}".strip())
    label = rf"\label{{tab:{key_of(source)}-{name}}}"
    titles = [rf"\caption{{{caption}{label}}}", rf"\caption{{{tex(title)}, continued.}}"]
    notes = [f"% {note}" for note in ("Notes:", *shown.notes)] if shown.notes else []
    if slide:
        titles = [rf"\frametitle{{\large {tex(title)}{more}}}" for more in ("", ", continued")]
        notes = [f"% {caption}", *notes]
    needs = [NEEDS, SLIDE_NEEDS][slide]
    if not shown.rows:
        none = _float("frame" if slide else "table", [NO_ROW], "", titles[0])
        return "\n".join([needs, none, *notes])
    legend = _legend(shown, table)
    kind = "frame" if slide else "table" if room == COLUMN else "table*"
    height: float = HEIGHT - 12 * ceil(1.2 * width(caption) / room)
    if slide:
        height = SLIDE_HEIGHT - LINE * ceil(width(legend) / room)
    floats = [
        _float(kind, map(_tabular, bodies), legend, titles[min(number, 1)])
        for number, bodies in enumerate(_floats(parts, height))
    ]
    return "\n".join([needs, *floats, *notes])


def _title(title: str, source: str) -> str:
    """Return a title without the number that the table has in its paper, which is behind it."""
    number, _, rest = title.partition(": ")
    if not rest or not re.match("(Table|Figure|Section) ", number):
        return title
    return f"{rest[0].upper()}{rest[1:]} ({number} of {key_of(source)})"


def _fitted(shown: Grid, rooms: Sequence[float]) -> tuple[list[Tabular], float, bool]:
    """Return the table in parts, the first of these rooms across that they fit, and if turned."""
    upright = _upright(shown)
    forms = [upright]
    if len(shown.rows) < len(shown.columns):
        forms.append(_turned(shown))
    for room in rooms:
        for form in forms:
            if form.width <= room:
                _stretch(form, room)
                return [form], room, form is not upright
    in_parts = ((form, _parts(form, room)) for form in forms)
    form, parts = min(in_parts, key=lambda each: len(each[1]))
    for part in parts:
        _stretch(part, room)
    return parts, room, form is not upright


def _upright(shown: Grid) -> Tabular:
    lines = [cells for _, cells in shown.lines]
    names = [[tex(labels[at]) for labels in shown.rows] for at in range(len(shown.labels))]
    return Tabular(
        [Column(tex(head), {"": texts}) for head, texts in zip(shown.labels, names, strict=True)],
        [_column(head, [cells[at] for cells in lines]) for at, head in enumerate(shown.columns)],
    )


def _turned(shown: Grid) -> Tabular:
    values = [_column(": ".join(labels), cells) for labels, cells in shown.lines]
    return Tabular([Column("", {"": [*map(tex, shown.columns)]})], values)


def _column(head: str, cells: Sequence[CellTexts]) -> Column:
    """Return a column of values: ours with the marks of verdicts, and the paper's beside it."""
    marks = [_superscript(cell["marks"]) for cell in cells]
    ours = aligned([_ours(cell) for cell in cells], marks)
    paper = aligned([cell["paper"] for cell in cells])
    if not any(paper):
        return Column(tex(head), {"": ours})
    return Column(tex(head), {"ours": ours, "paper": paper} if any(ours) else {"paper": paper})


def _ours(cell: CellTexts) -> str:
    """Return our value, nothing where nothing was run or the paper quotes."""
    absent = cell["ours"] == NOT_RUN or (QUOTED in cell["words"] and cell["ours"] == MISSING)
    return "" if absent else str(cell["ours"])


def _superscript(marks: str) -> str:
    """Return the marks of a cell without those of former verdicts; nothing without a verdict."""
    numbers = _FORMER.sub("", marks).replace("–", "-").split(" ")
    if not any(sign in MARKS for signs in numbers for sign in signs):
        return ""
    each = [" ".join(MARKS[it][0] if it in MARKS else it for it in signs) for signs in numbers]
    return f"$^{{{','.join(each)}}}$"


def _parts(whole: Tabular, room: float) -> list[Tabular]:
    """Return a table in as few equal parts as fit a room, each with the labels."""
    values, count = whole.values, 0
    parts = [whole]
    while count < len(values) and max(part.width for part in parts) > room:
        count += 1
        edges = [len(values) * part // count for part in range(count + 1)]
        parts = [Tabular(whole.labels, values[start:end]) for start, end in pairwise(edges)]
    return [part.of(_filled(part)) for part in parts]


def _filled(part: Tabular) -> list[int]:
    """Return the rows that have any value."""
    rows = range(len(part.rows))
    return [row for row in rows if any(text for it in part.values for text in it.cells(row))]


def _stretch(part: Tabular, room: float) -> None:
    """Give columns of long texts what room is left, by the length of their texts."""
    long = [column for column in part.columns if column.room]
    wanted = [sum(map(width, *column.texts.values())) for column in long]
    left = room - part.width
    for column, share in zip(long, wanted, strict=True):
        own = column.body + left * share / sum(wanted)
        column.room = own if own < column.most else 0


def _floats(parts: Iterable[Tabular], height: float) -> Iterator[list[Tabular]]:
    """Yield what goes into each float of a height; a part that is higher is broken between rows."""
    bodies: list[Tabular] = []
    left = height
    for part in parts:
        start, used, rows = 0, part.head, part.rows
        if bodies and used + sum(rows) > left:
            yield bodies
            bodies, left = [], height
        for row, more in enumerate(rows):
            if used + more > left:
                yield [*bodies, part.of(range(start, row))]
                bodies, left, start, used = [], height, row, part.head
            used += more
        bodies.append(part.of(range(start, len(rows))))
        left -= used
    yield bodies


def _tabular(part: Tabular) -> str:
    """Return a table between its rules."""
    kinds = ""
    heads: list[str] = []
    rules: list[str] = []
    below: list[str] = []
    for column in part.columns:
        label, at, count = column in part.labels, len(below), len(column.texts)
        kinds += f"p{{{column.room:.0f}pt}}" if column.room else ("l" if label else "c") * count
        head = column.lines[0]
        if len(column.lines) > 1:
            side, text = "l" if label or column.room else "c", r"\\".join(column.lines)
            head = rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{text}\end{{tabular}}"
        if count > 1:
            head = rf"\multicolumn{{{count}}}{{c}}{{{head}}}"
        if any(column.texts):
            rules.append(rf"\cmidrule(lr){{{at + 1}-{at + count}}}")
        heads.append(head)
        below += column.texts
    rows: list[str] = []
    group = ""
    for row in range(len(part.rows)):
        cells = [cell for column in part.columns for cell in column.cells(row)]
        if len(part.labels) > 1:  # a group is named in the first of its rows
            if rows and cells[0] != group:
                rows.append(r"\addlinespace")
            group, cells[0] = cells[0], "" if cells[0] == group else cells[0]
        rows.append(f"{' & '.join(cells)} {END}")
    second = ["".join(rules), f"{' & '.join(below)} {END}"] if rules else []
    begin = [rf"\begin{{tabular}}{{@{{}}{kinds}@{{}}}}", r"\toprule", f"{' & '.join(heads)} {END}"]
    return "\n".join([*begin, *second, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"])


def _float(kind: str, bodies: Iterable[str], legend: str, caption: str) -> str:
    size, small = (
        (r"\scriptsize", r"\tiny") if kind == "frame" else (r"\footnotesize", r"\scriptsize")
    )
    below = [rf"\par\smallskip\parbox{{\linewidth}}{{{small} {legend}}}"] if legend else []
    return "\n".join(
        [
            rf"\begin{{{kind}}}",
            rf"\centering{size}\setlength{{\tabcolsep}}{{{BESIDE / 2:g}pt}}",
            "\n\\par\\medskip\n".join(bodies),
            *below,
            caption,
            rf"\end{{{kind}}}",
        ]
    )


def _legend(shown: Grid, table: LongForm) -> str:
    """Return what marks and blanks mean, and of which scale, seeds and devices ours are."""
    marks = _FORMER.sub("", " ".join(shown.texts["marks"]))
    known = ", ".join(f"${sign}$ {word}" for mark, (sign, word) in MARKS.items() if mark in marks)
    said = [tex(f"Scale {table.about['scale']}"), tex(behind(table)), known]
    said += ["no mark, or -: no verdict"] if known else []
    several = any(" " in _FORMER.sub("", text) for text in shown.texts["marks"])
    said += ["two marks: of both numbers, in their order"] if known and several else []
    texts = [*shown.texts["ours"], *shown.texts["paper"]]
    paper = shown.texts["paper"] == ""
    some = paper.groupby(shown.texts["column"]).transform("all") != paper
    quoted = QUOTED in frozenset().union(*shown.texts["words"])
    blank = some.any() or quoted or bool({"", NOT_RUN} & {*shown.texts["ours"]})
    said += [BLANKS] if blank or any(MISSING in text for text in texts) else []
    said += ["*: never exceeded in training"] if any(it.endswith("*") for it in texts) else []
    return f"{'; '.join(filter(None, said))}."
