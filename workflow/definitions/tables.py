"""What `tables.yaml` may say."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from workflow.definitions.values import (
    AboveZero,
    Condition,
    Difference,
    Digits,
    Flag,
    MetricPath,
    Name,
    NonEmptyText,
    NotNegative,
    closed,
)

Statistic = Literal["mean", "max"]
MetricNames = Annotated[list[str], Field(min_length=1)]
ByColumn = Annotated[dict[str, str], Field(min_length=1)]


@closed
class CellPlace(TypedDict):
    """Where expected.csv has a cell's number; {row} and {column} stand for both labels."""

    source: str
    """the paper's key and section"""
    table: str
    """its table there"""
    row: Annotated[str, Field(default="{row}")]
    """the row's label there"""
    column: Annotated[str, Field(default="{column}")]
    """the column's label there"""


@closed
class Rule(TypedDict):
    """How far ours may be from a printed number."""

    seed_std: NotNegative
    """the standard deviation over seeds, in the unit of the cell"""
    by_row: NotRequired[Annotated[dict[str, NotNegative], Field(min_length=1)]]
    """in place of `seed_std`, in the rows of these ids"""
    sampling: NotRequired[Literal["none", "binomial", "examples"]]
    """the standard error by test examples: of a share, of the printed spread, or none"""
    full: NotRequired[AboveZero]
    """what a share of 1 is in the unit of the cell: 1 or 100"""
    wide: NotRequired[Literal[True]]
    """nearly any run meets it, so it gives no verdict"""
    because: NonEmptyText
    """where the rule comes from"""


@closed
class Former(Rule):
    """The rule before."""

    until: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    """the day of the present rule"""


@closed
class MetricTolerance(Rule):
    """The rule, and the one that was published before it."""

    formerly: NotRequired[Former]
    """a verdict that it changed is shown beside the new one"""


@closed
class Metric(TypedDict):
    """What a cell shows of a measure."""

    measure: MetricPath
    printed: NotRequired[str]
    """the metric's name in expected.csv"""
    label: str
    """its name in the head of a column"""
    digits: Digits
    """behind the point"""
    statistic: NotRequired[Statistic]
    """over runs; that of the table without it"""
    spread_over: NotRequired[Literal["runs", "examples"]]
    """what `±` is the spread of"""
    of: NotRequired[str]
    """the word, one of the array `word`, whose list in the array `measure` is shown; {row} stands
    for the row's id"""
    starred: NotRequired[Flag]
    """the paper marks with * what training never exceeded, and a measure with `_never` behind its
    name says so of ours"""
    crossing: NotRequired[Literal[True]]
    """it is read where other runs first exceed an agreement, and compared as what lies between that
    checkpoint and the one before"""
    proportion: NotRequired[Flag]
    """the measure is 0 or 1 and its mean a fraction of runs"""
    two_peaked: NotRequired[Flag]
    """runs end near one of two values, so that Student's interval of their mean is none"""
    tolerance: NotRequired[MetricTolerance]


@closed
class TableRow(TypedDict):
    """One row."""

    id: str
    """what {row} stands for"""
    group: NotRequired[str]
    """the heading above it"""
    label: str
    """its name, as the paper has it"""
    experiment: NotRequired[str]
    """in place of the table's"""
    variant: NotRequired[
        Annotated[
            str | ByColumn, Field(description="a template, or a mapping from column to template")
        ]
    ]
    metrics: NotRequired[
        Annotated[
            MetricNames | Annotated[dict[str, MetricNames], Field(min_length=1)],
            Field(description="a list of metrics, or a mapping from column to such a list"),
        ]
    ]
    format: NotRequired[
        Annotated[str | ByColumn, Field(description="a text, or a mapping from column to text")]
    ]
    flag: NotRequired[Literal["reading", "quoted"]]
    """`reading`: another reading of a number is the one that is compared"""
    quoted: NotRequired[Literal[True]]
    """whether the paper quotes it from others"""
    note: NotRequired[str]
    """a sentence below the table"""
    printed: NotRequired[list[CellPlace]]
    """where the paper's numbers stand, in place of the table's places"""


@closed
class Column(TypedDict):
    """One column."""

    id: str
    """what {column} stands for"""
    label: str
    """its header"""
    printed_label: NotRequired[str]
    """its header in expected.csv, where ours differs"""
    metrics: MetricNames
    """what each of its cells shows"""
    format: NotRequired[str]
    """how a cell is written, with {metric} in place of a metric"""
    rows: NotRequired[Annotated[list[str], Field(min_length=1)]]
    """the rows that have it; all where it is left out"""
    printed: NotRequired[list[CellPlace]]
    """where the paper's numbers stand, in place of the table's places"""


@closed
class Table(TypedDict):
    """One table."""

    title: str
    """its name on pages"""
    caption: str
    """what it shows, in a sentence"""
    source: NotRequired[str]
    """the text that the layout follows; the first of the papers without it"""
    experiment: str
    """whose runs it shows"""
    variant: Annotated[str, Field(default="{row}")]
    """template of {row} and {column}"""
    statistic: NotRequired[Statistic]
    """over runs; the mean where nothing says it"""
    repeats: NotRequired[str]
    """the table whose numbers it shows again, which count once"""
    labels: Annotated[list[str], Field(min_length=1, max_length=2)]
    """headers of the first columns: of the groups, where there are two, and of the rows"""
    printed: NotRequired[list[CellPlace]]
    """where the paper's numbers stand"""
    mechanisms: NotRequired[ByColumn]
    """by the id of the new row, with {mechanism} for the name, the row to follow"""
    rows: Annotated[list[TableRow], Field(min_length=1)]
    """from top to bottom"""
    columns: Annotated[list[Column], Field(min_length=1)]
    """from left to right"""
    differs: NotRequired[list[Difference]]
    """numbers that differ from the paper's, with the cause"""
    notes: NotRequired[list[str]]
    """sentences below the table"""


@closed
class Tables(TypedDict):
    """The tables of a paper, and the metrics that they show."""

    not_comparable: NotRequired[list[Condition]]
    """which numbers are not compared with the paper's, and why"""
    metrics: Annotated[dict[Name, Metric], Field(min_length=1)]
    """by name"""
    tables: Annotated[dict[Name, Table], Field(min_length=1)]
    """by name"""
