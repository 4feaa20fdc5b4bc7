"""What `experiments.yaml` may say: experiments, their variants and scales, and a user's changes."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from workflow.definitions.values import (
    AboveZero,
    BelowOne,
    Data,
    Flag,
    Name,
    NaturalNumber,
    NodeDefinition,
    NonEmptyText,
    NotNegative,
    Path,
    Positive,
    SeedCount,
    SeedList,
    Unique,
    closed,
)

Seeds = Annotated[
    SeedCount | SeedList, Field(description="a whole number of at least 1, or a list of seeds")
]
Precision = Literal["fp32", "bf16"]
Matmul = Annotated[
    Literal["highest", "fast", "fastest"],
    Field(
        description="`fast`, `fastest`: the fastest products in single precision; on a GPU "
        "`fastest` is TF32, `fast` is `highest`; `fast` where nothing says it"
    ),
]
Threads = Annotated[
    Positive,
    Field(
        description="of the CPU, 1 where nothing says it; resuming is exact with as many", le=1024
    ),
]
Corpus = Annotated[Data, Field(description="what it is trained and measured on")]
Model = Annotated[NodeDefinition, Field(description="the architecture and its sizes")]
Objective = Annotated[NodeDefinition, Field(description="what training makes small")]
Evaluators = Annotated[
    dict[Name, NodeDefinition | None],
    Field(description="what is measured on the trained model, by name"),
]
Updates = Unique[Positive]
ScaleName = Literal["demo", "lite", "paper"]


@closed
class BatchSize(TypedDict, total=False):
    """How much an update sees: so many examples, or so many tokens."""

    examples: Positive | None
    """of an update"""
    tokens: Positive | None
    """of an update"""
    micro_tokens: Positive | None
    """the most that fit on the device at once"""


@closed
class Optimizer(TypedDict, total=False):
    """Adam's options, AdamW's with a weight decay."""

    lr: AboveZero
    """the rate at the end of the warm-up"""
    betas: Annotated[list[BelowOne], Field(min_length=2, max_length=2)]
    """how slowly the means of the gradient and of its square change"""
    weight_decay: NotNegative | None
    """of AdamW; Adam where it is left out"""


@closed
class Schedule(TypedDict, total=False):
    """How the learning rate changes."""

    name: Literal["constant", "cosine", "inverse_sqrt"]
    """the form after the warm-up"""
    warmup: NaturalNumber | None
    """updates of linear growth to the peak"""
    start: NotNegative | None
    """the rate before the first update"""


@closed
class Select(TypedDict, total=False):
    """Which weights are kept: those of the best epoch."""

    metric: Literal["loss", "accuracy", "field_size"]
    """what is measured on the development split"""
    mode: Literal["max", "min"]
    """which value is best"""


@closed
class Average(TypedDict, total=False):
    """End with the mean of the last weights, kept every so many updates or epochs."""

    last: Positive | None
    """how many are averaged"""
    updates: Positive | None
    """between two of them"""
    epochs: Positive | None
    """between two of them"""


@closed
class Training(TypedDict, total=False):
    """How a model is trained, or changes to it; `null` takes a key away."""

    epochs: Positive | None
    """how often all examples are seen"""
    updates: Positive | None
    """in place of epochs"""
    batch: BatchSize
    optimizer: Optimizer
    clip: Annotated[AboveZero | None, Field(description="the largest norm of the gradient")]
    select: Select | None
    average: Average | None
    compile: Annotated[Flag | None, Field(description="whether to use torch.compile")]
    start_from: Annotated[
        str | None, Field(description="the parent whose weights training starts from")
    ]
    schedule: Schedule
    """`{name: constant}` where nothing says it"""
    precision: Precision
    """`fp32` where nothing says it"""
    threads: Threads
    matmul: Matmul


DEFAULTS: Training = {
    "schedule": {"name": "constant"},
    "precision": "fp32",
    "threads": 1,
    "matmul": "fast",
}
"""How a model is trained where an experiment does not say it."""


@closed
class Parent(TypedDict):
    """A variant whose run must be done before, of this experiment or of another."""

    experiment: NotRequired[str]
    """in place of this one"""
    variant: str
    """by its name"""


@closed
class Every(TypedDict):
    """The `first` updates, and then every so many up to the last."""

    first: Updates
    """listed one by one"""
    every: Positive
    """the distance after them"""
    last: Positive
    """the last update"""


@closed
class StatedResources(TypedDict, total=False):
    """What the run's jobs ask a cluster for; no part of the run's identity."""

    gpu: NaturalNumber | None
    """how many; a process of a run for each"""
    memory: (
        Annotated[
            str, Field(pattern="^[1-9][0-9]*[MG]B$", description='a size such as "500MB" or "4GB"')
        ]
        | None
    )
    runtime: (
        Annotated[
            str,
            Field(pattern="^[1-9][0-9]*[mhd]$", description='a time such as "90m", "12h" or "2d"'),
        ]
        | None
    )
    where: Literal["cluster", "local", None]
    """`local`: where `snakemake` runs"""


@closed
class OptionalSettings(TypedDict, total=False):
    """Settings that an experiment may leave out."""

    parents: Annotated[
        dict[Name, Parent | None],
        Field(description="runs that must be done before, by the names that settings give them"),
    ]
    checkpoints: Annotated[
        Updates | Every,
        Field(
            description="updates whose weights are kept for measuring, listed or every so many "
            "after some"
        ),
    ]
    record: Annotated[
        NodeDefinition | None,
        Field(description="what is kept of the checkpoints when their weights are gone"),
    ]
    resources: StatedResources


@closed
class Changes(OptionalSettings, total=False):
    """Settings that are laid over others; `null` takes a key away."""

    seeds: Seeds
    data: Corpus
    model: Model
    objective: Objective
    training: Training
    evaluators: Evaluators


@closed
class Variant(Changes, total=False):
    """Changes to the experiment; `null` takes a key away."""

    label: str
    """its name in tables and figures"""


@closed
class Overlay(Changes, total=False):
    """A user's changes to one experiment."""

    variants: Annotated[dict[str, Variant], Field(description="changes to single variants")]


@closed
class Scale(Overlay, total=False):
    """What a scale changes."""

    only: Annotated[list[str], Field(min_length=1)]
    """the variants that are run at this scale; all where it is left out"""


@closed
class Scales(TypedDict, total=False):
    """Changes by scale."""

    demo: Scale
    lite: Scale
    paper: Scale


@closed
class Mechanisms(TypedDict):
    """What a user's own mechanism takes the place of, and the variants to follow."""

    at: Annotated[
        str,
        Field(
            description='a dotted key such as "model.encoder.normalizer"',
            pattern=r"^(model|objective)(\.[a-z_]+)*$",
        ),
    ]
    like: Annotated[dict[Name, str], Field(min_length=1)]
    """by the beginning of the new variant's name ("sst" for "sst_mine")"""
    after: NotRequired[Path]
    """the part around it for one with a step, `before` or `after`; without it, such are left out"""


@closed
class Definition(OptionalSettings):
    """One experiment."""

    title: NonEmptyText
    """its name in plans and on pages"""
    source: NonEmptyText
    """where the paper describes it"""
    seeds: Seeds
    data: Corpus
    model: Model
    objective: Objective
    training: Training
    evaluators: Evaluators
    variants: Annotated[dict[Name, Variant], Field(min_length=1)]
    scales: NotRequired[Scales]
    mechanisms: NotRequired[Mechanisms]


@closed
class Experiments(TypedDict):
    """The experiments of one paper."""

    experiments: Annotated[dict[Name, Definition], Field(min_length=1)]
