"""The values that definitions are made of, each said once for the checks and for editors."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, WithJsonSchema, with_config
from typing_extensions import TypedDict

Text = Annotated[str, Field(min_length=1)]
Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$", max_length=100)]
Path = Annotated[
    str,
    Field(
        description='a dotted path "package.module:Name"',
        pattern="^[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_]*$",
    ),
]
Measure = Annotated[
    str,
    Field(
        description='"evaluator.metric", as in the measures',
        pattern=r"^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$",
    ),
]
Digits = Annotated[int, Field(ge=0, le=6)]
Positive = Annotated[int, Field(ge=1)]
NotNegative = Annotated[float, Field(ge=0)]
AboveZero = Annotated[float, Field(gt=0)]
BelowOne = Annotated[float, Field(ge=0, lt=1)]

UNIQUE = Field(json_schema_extra={"uniqueItems": True})
Seed = Annotated[int, Field(ge=0, le=2147483647)]
SeedList = Annotated[list[Seed], Field(min_length=1, max_length=1000), UNIQUE]
SeedCount = Annotated[int, Field(ge=1, le=1000)]

PART = "$part"
"""Refers to a definition that no type can say: its keys are open, and what some must be is not."""
Options = dict[str, Any]
"""Free arguments: what they may be, the part that takes them says."""
Node = Annotated[Options, WithJsonSchema({PART: "#/$defs/node"})]
"""A part of a model, named by path, with its arguments; `Known` tells what some must be."""
Data = Annotated[Options, WithJsonSchema({PART: "#/$defs/data"})]
"""A dataset and its options, which the dataset itself checks."""

closed = with_config(ConfigDict(extra="forbid", use_attribute_docstrings=True))
"""A mapping that takes no other keys than its own."""


@closed
class Known(TypedDict, total=False):
    """Arguments that mean the same in every part."""

    path: Path
    width: Positive | None
    hidden: Positive | None
    layers: Positive | None
    heads: Positive | None
    max_length: Positive | None
    classes: Positive | None
    source_vocabulary_size: Positive | None
    beam: Positive | None
    dropout: BelowOne | None
    temperature: AboveZero | None
    embedding_std: AboveZero | None
    sparsity: NotNegative | None
    ramp_epochs: NotNegative | None


@closed
class Place(TypedDict):
    """Where expected.csv has a number of the paper."""

    source: str
    table: str
    row: str
    column: str


@closed
class Condition(TypedDict):
    """When ours can't stand beside the paper's."""

    when: Annotated[dict[str, "str | float | bool | Below"], Field(min_length=1)]
    """Dotted settings of the run, or options of the data; all must match."""
    because: Text


@closed
class Difference(TypedDict):
    """Why numbers of ours differ from the printed ones, said of those that do."""

    rows: Annotated[list[str], Field(min_length=1)]
    columns: Annotated[list[str], Field(min_length=1)]
    because: Text


@closed
class Below(TypedDict):
    """Any number below this one."""

    below: float


def default(value: Any) -> Any:
    """Return what says of a key that it may be left out, and is `value` then."""
    return Field(json_schema_extra={"default": value})
