"""What `corpora.yaml` may say, and its checks: tables that are made from the data alone."""

from collections.abc import Collection, Iterable
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from workflow.definitions.expected import ExpectedValues
from workflow.definitions.names import require_known, require_unique
from workflow.definitions.values import Condition, Data, Difference, Name, Options, Unique, closed
from workflow.runtime.errors import InputError, nearest

CorpusQuantity = Literal[
    "train",
    "dev",
    "test",
    "train_length",
    "dev_length",
    "test_length",
    "train_source_length",
    "train_target_length",
    "dev_source_length",
    "dev_target_length",
    "vocabulary",
    "dropped",
    "duplicates",
    "unknown",
    "form",
]


@closed
class CorpusPlace(TypedDict):
    """Where the numbers stand; row is the row's label, column and metric are the column's."""

    source: str
    """the paper's key and section"""
    table: str
    """its table there"""


@closed
class Like(TypedDict):
    """The variant whose data this is."""

    experiment: str
    """by its name"""
    variant: str
    """by its name"""


@closed
class AtScale(TypedDict, total=False):
    """Options of the data at a scale, or null where it is left out."""

    demo: Options | None
    lite: Options | None
    paper: Options | None


@closed
class CorpusRow(TypedDict):
    """One corpus."""

    id: str
    """its name in files"""
    label: str
    """its name in the table, as the paper has it"""
    data: NotRequired[Data]
    """the corpus; or name a variant in `like`"""
    like: NotRequired[Like]
    scales: NotRequired[AtScale]
    """options of the corpus at a scale"""
    printed: NotRequired[CorpusPlace]
    """in place of the table's place"""
    note: NotRequired[str]
    """what explains a difference"""


@closed
class CorpusTable(TypedDict):
    """One table of corpora."""

    title: str
    """its name on pages"""
    caption: str
    """what it shows, in a sentence"""
    source: NotRequired[str]
    """the text that the layout follows; the first of the papers without it"""
    printed: NotRequired[CorpusPlace]
    """where the paper's numbers stand"""
    columns: Annotated[Unique[CorpusQuantity], Field(min_length=1)]
    """from left to right"""
    rows: Annotated[list[CorpusRow], Field(min_length=1)]
    """from top to bottom"""
    differs: NotRequired[list[Difference]]
    """numbers that differ from the paper's, with the cause"""
    notes: NotRequired[list[str]]
    """sentences below the table"""


@closed
class Corpora(TypedDict):
    """The tables of a paper's corpora."""

    not_comparable: NotRequired[list[Condition]]
    """which numbers are not compared with the paper's, and why"""
    tables: Annotated[dict[Name, CorpusTable], Field(min_length=1)]
    """by name"""


def check_corpora(corpora: Corpora, where: str) -> None:
    """Raise InputError for two rows with one id or label, or an unknown row or column."""
    for name, table in corpora["tables"].items():
        at, rows = f"{where}: tables.{name}", [row["id"] for row in table["rows"]]
        require_unique(at, "row", rows)
        require_unique(at, "row", [row["label"] for row in table["rows"]])
        check_differences(table.get("differs", []), rows, table["columns"], at)


def check_differences(
    differences: Iterable[Difference], rows: Collection[str], columns: Collection[str], at: str
) -> None:
    """Raise InputError for a difference in a row or column that the table at a place has not."""
    for difference in differences:
        require_known(f"{at}, differs", "row", difference["rows"], rows)
        require_known(f"{at}, differs", "column", difference["columns"], columns)


def check_printed(corpora: Corpora, expected: ExpectedValues, where: str) -> None:
    """Raise InputError for a row of which the paper prints no number."""
    printed = {(source, table, row) for source, table, row, _, _ in expected.values}
    for name, table in corpora["tables"].items():
        for row in table["rows"]:
            place = row.get("printed", table.get("printed"))
            if place and (key := (place["source"], place["table"], row["label"])) not in printed:
                absent = ", ".join(key)
                raise InputError(
                    f"{where}: tables.{name}, {row['id']}: {expected.path}: no number at {absent}"
                    f"{nearest(absent, map(', '.join, printed))}"
                )
