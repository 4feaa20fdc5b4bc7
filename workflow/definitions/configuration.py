"""What a person sets in `config.yaml`, with `--config` or with `--configfile`."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from workflow.definitions.experiments import Changes, ScaleName
from workflow.definitions.values import (
    AboveZero,
    Argument,
    Flag,
    Name,
    NonEmptyText,
    Options,
    Path,
    Positive,
    SeedCount,
    SeedList,
    checked_as,
    closed,
    opened,
)

OwnPath = Annotated[Path, Field(description='a dotted path "my_module:function"')]


@opened
class OwnPart(TypedDict, extra_items=Argument):  # type: ignore[call-arg]
    """A part with its arguments."""

    path: OwnPath


Mechanism = Annotated[Any, checked_as(OwnPath | OwnPart)]
"""`"my_module:function"`, or a mapping with path and arguments."""


@closed
class Budget(TypedDict):
    """What a plan may cost."""

    gpu_hours: AboveZero | None
    """null: no limit"""


@closed
class OwnExperiment(Changes):
    """An experiment of a user's own: one of a paper's, with what is replaced."""

    like: Annotated[str, Field(description='"paper/experiment", such as `kinley2020/translation`')]
    title: NonEmptyText
    """what heads its tables"""
    variants: NotRequired[Annotated[list[str], Field(min_length=1)]]
    """those that are run; without it those of the scale"""
    tables: NotRequired[Annotated[list[str], Field(min_length=1)]]
    """those of the paper that are laid out for it; without it all that show its variants"""


@closed
class NamedOverlay(TypedDict):
    """A user's changes to experiments, under a name."""

    name: Annotated[
        str,
        Field(
            description='a name of lower-case letters, digits, "-" and "_"',
            pattern="^[a-z0-9][a-z0-9_-]*$",
            max_length=100,
        ),
    ]
    experiments: Annotated[dict[str, Options], Field(min_length=1)]


@closed
class Configuration(TypedDict):
    """What a person sets."""

    scale: ScaleName
    """which set of sizes to run; part of every result's path"""
    experiments: Annotated[
        NonEmptyText | Annotated[list[str], Field(min_length=1)],
        Field(description="all, or a list of experiments and papers"),
    ]
    seeds: NotRequired[
        Annotated[
            SeedCount | SeedList | None,
            Field(
                description="null: each variant's own; a number of them; or a list, where 0 is its "
                "first"
            ),
        ]
    ]
    limit: NotRequired[Positive | None]
    """train and measure on so many examples of each split, apart from whole results; null: all"""
    mirror: NotRequired[str | None]
    """folder with an index SOURCES.tsv that holds downloaded files"""
    results: NonEmptyText
    """folder that the workflow writes to"""
    device: Literal["auto", "cpu", "cuda"]
    """`auto`: a GPU where there is one"""
    keep_checkpoints: NotRequired[Flag]
    """whether the weights of checkpoints stay when they are recorded"""
    budget: NotRequired[Budget]
    mechanisms: NotRequired[dict[Name, Mechanism]]
    """what is run beside the papers' mechanisms, by name"""
    own_experiments: NotRequired[dict[Name, OwnExperiment]]
    """what is run beside the papers' experiments, by name"""
    overlay: NotRequired[NamedOverlay | None]
    """changes to experiments, under a name"""


class CommandSettings(TypedDict, total=False):
    """The keys that a command sets, which replace those of the files."""

    scale: str
    """may be an overlay's, `<scale>+<name>`"""
    limit: int
    results: str
    device: str
    mirror: str | None
    experiments: str
    seeds: int | None
