"""The values that definitions are made of, each said once for the checks and for editors."""

import math
import re
from typing import Annotated, Any, TypeVar, Union

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetPydanticSchema,
    StrictBool,
    StrictStr,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    with_config,
)
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType, TypedDict

closed = with_config(
    ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True)
)
"""A mapping that takes no other keys than its own."""
opened = with_config(ConfigDict(strict=True, allow_inf_nan=False, use_attribute_docstrings=True))
"""A mapping that takes other keys, too."""
_INTEGER = re.compile(r"[-+]?\d+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_EXPONENT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+", re.ASCII)
_Item = TypeVar("_Item")


def _number(value: Any) -> Any:
    """Return the number that a text writes; YAML reads `1e-3` as a text, `--config` all numbers.

    A whole number that no float holds becomes infinite.
    """
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        value = int(value)
    elif isinstance(value, str) and _FLOAT.fullmatch(value):
        value = float(value)
    return math.inf if isinstance(value, int) and value.bit_length() > 1023 else value


def _whole(value: Any) -> Any:
    number = _number(value)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _as_written(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """Check a number, which stays whole where it is."""
    number = _number(value)
    checked = check(number)
    return number if isinstance(number, int) else checked


def _truth(value: Any) -> Any:
    """Return the truth value that `--config` hands on as a text."""
    return value == "true" if value in ("true", "false") else value


def _exponent(value: Any) -> Any:
    """Return the number of a text such as `1e-3`; a text such as `007` stays one."""
    return float(value) if isinstance(value, str) and _EXPONENT.fullmatch(value) else value


def _each_once(values: list[_Item]) -> list[_Item]:
    if len({*values}) < len(values):
        raise PydanticCustomError("repeated", "names one twice")
    return values


def checked_as(kind: Any) -> GetPydanticSchema:
    """Have a mapping checked as a kind that says more of it."""
    return GetPydanticSchema(lambda source, handler: handler.generate_schema(kind))


NUMBER, WHOLE = WrapValidator(_as_written), BeforeValidator(_whole)
NonEmptyText = Annotated[str, Field(min_length=1)]
Flag = Annotated[bool, BeforeValidator(_truth)]
Name = Annotated[
    str,
    Field(
        description='a name of lower-case letters, digits and "_"',
        pattern="^[a-z][a-z0-9_]*$",
        max_length=100,
    ),
]
Path = Annotated[
    str,
    Field(
        description='a dotted path "package.module:Name"',
        pattern="^[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_]*$",
    ),
]
MetricPath = Annotated[
    str,
    Field(
        description='"evaluator.metric" of the measures; "evaluator.metric>9" is 1 above 9, else 0',
        pattern=r"^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*(>[0-9.]+)?$",
    ),
]
Digits = Annotated[int, Field(ge=0, le=6), WHOLE]
Positive = Annotated[int, Field(ge=1), WHOLE]
NaturalNumber = Annotated[int, Field(ge=0), WHOLE]
Number = Annotated[float, NUMBER]
NotNegative = Annotated[float, Field(ge=0), NUMBER]
AboveZero = Annotated[float, Field(gt=0), NUMBER]
BelowOne = Annotated[float, Field(ge=0, lt=1), NUMBER]

Unique = Annotated[
    list[_Item], AfterValidator(_each_once), Field(json_schema_extra={"uniqueItems": True})
]
Seed = Annotated[int, Field(ge=0, le=2147483647), WHOLE]
SeedList = Annotated[Unique[Seed], Field(min_length=1, max_length=1000)]
SeedCount = Annotated[int, Field(ge=1, le=1000), WHOLE]

Yaml = None | bool | int | float | str | list["Yaml"] | dict[str, "Yaml"]
"""A value of a YAML file, before it is checked."""
Options = dict[str, Any]
"""Free arguments: what they may be, the part that takes them says."""
_Number = Annotated[float, Field(strict=True, allow_inf_nan=False), NUMBER]
Argument = TypeAliasType(  # type: ignore[misc]
    "Argument",
    Annotated[
        Union[StrictStr, StrictBool, _Number, list["Argument"], "Part", None],  # type: ignore[misc]
        Field(union_mode="left_to_right"),
        BeforeValidator(_exponent),
    ],
)
"""An argument of any kind, or a part with its own."""


@opened
class Part(TypedDict, total=False, extra_items=Argument):  # type: ignore[call-arg]
    """A part of the model, named by path, with its arguments. Some mean the same in every part."""

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


@opened
class DatasetOptions(TypedDict, total=False, extra_items=Argument):  # type: ignore[call-arg]
    """A dataset and its options, which the dataset itself checks."""

    dataset: str


NodeDefinition = Annotated[Options, checked_as(Part)]
Data = Annotated[Options, checked_as(DatasetOptions)]


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

    when: Annotated[dict[str, "str | bool | Number | Below"], Field(min_length=1)]
    """Dotted settings of the run, or options of the data; all must match."""
    because: NonEmptyText


@closed
class Difference(TypedDict):
    """Why numbers of ours differ from the printed ones, said of those that do."""

    rows: Annotated[list[str], Field(min_length=1)]
    columns: Annotated[list[str], Field(min_length=1)]
    because: NonEmptyText


@closed
class Below(TypedDict):
    """Any number below this one."""

    below: Number
