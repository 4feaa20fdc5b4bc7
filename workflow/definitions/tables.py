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
    table: str
    row: Annotated[str, Field(default="{row}")]
    column: Annotated[str, Field(default="{column}")]


@closed
class Rule(TypedDict):
    """How far ours may be from a printed number."""

    seed_std: NotNegative
    by_row: NotRequired[Annotated[dict[str, NotNegative], Field(min_length=1)]]
    """in place of `seed_std`, in the rows of these ids"""
    sampling: NotRequired[Literal["none", "binomial", "examples"]]
    full: NotRequired[AboveZero]
    wide: NotRequired[Literal[True]]
    """nearly any run meets it, so it gives no verdict"""
    because: NonEmptyText


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
    digits: Digits
    statistic: NotRequired[Statistic]
    """over runs; that of the table without it"""
    spread_over: NotRequired[Literal["runs", "examples"]]
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
    tolerance: NotRequired[MetricTolerance]


@closed
class TableRow(TypedDict):
    """One row."""

    id: str
    group: NotRequired[str]
    label: str
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
    printed: NotRequired[list[CellPlace]]


@closed
class Column(TypedDict):
    """One column."""

    id: str
    label: str
    printed_label: NotRequired[str]
    """its header in expected.csv, where ours differs"""
    metrics: MetricNames
    format: NotRequired[str]
    rows: NotRequired[Annotated[list[str], Field(min_length=1)]]
    printed: NotRequired[list[CellPlace]]


@closed
class Table(TypedDict):
    """One table."""

    title: str
    caption: str
    source: NotRequired[str]
    """the text that the layout follows; the first of the papers without it"""
    experiment: str
    variant: Annotated[str, Field(default="{row}")]
    """template of {row} and {column}"""
    statistic: NotRequired[Statistic]
    repeats: NotRequired[str]
    """the table whose numbers it shows again, which count once"""
    labels: Annotated[list[str], Field(min_length=1, max_length=2)]
    printed: NotRequired[list[CellPlace]]
    mechanisms: NotRequired[ByColumn]
    """by the id of the new row, with {mechanism} for the name, the row to follow"""
    rows: Annotated[list[TableRow], Field(min_length=1)]
    columns: Annotated[list[Column], Field(min_length=1)]
    differs: NotRequired[list[Difference]]
    notes: NotRequired[list[str]]


@closed
class Tables(TypedDict):
    """The tables of a paper, and the metrics that they show."""

    not_comparable: NotRequired[list[Condition]]
    metrics: Annotated[dict[Name, Metric], Field(min_length=1)]
    tables: Annotated[dict[Name, Table], Field(min_length=1)]
