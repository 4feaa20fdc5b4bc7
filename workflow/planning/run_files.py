"""The JSON files of a run: `run.json`, which its training writes, and its measures.

Only the standard library is used: jobs write what is here.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from workflow.planning.identity import Labels, ResolvedSpec
from workflow.runtime.integrity import Checksums


class RunRecord(TypedDict, total=False):
    """The content of a `run.json`, as far as it is read; empty where it was not given."""

    identity: str
    spec: ResolvedSpec
    code: str
    commit: str
    dirty: bool
    torch: str
    cpu: str
    cores: int
    device: str
    """`cpu`, or the name of a GPU."""
    processes: int
    bf16: bool
    tokens: int
    device_seconds: float
    peak_memory_mb: float
    began: "RunRecord"
    """By what the first process trained; each further one is among the `continuations`."""
    continuations: list["RunRecord"]
    finished: str
    files: Checksums
    checkpoints: Checksums
    results: Checksums
    """Of a published run: those of its files and checkpoints, which are not published."""
    replaces: list[dict[str, str]]
    """Other trainings of its identity that were published before."""


class ScalarRecord(TypedDict, total=False):
    """A metric, see `model.probes.measure.scalar`."""

    value: float | str | None
    unit: str
    std: float
    n: int


class EvaluatorRecord(TypedDict, total=False):
    """What an evaluator found."""

    code: str
    recorded: Any
    """What the records of other runs that it reads are of."""
    ran: str
    """The code that ran, where it is not what stands for it."""
    built: str
    """The code that built the model, likewise."""
    seconds: float
    scalars: Mapping[str, ScalarRecord]
    arrays: Mapping[str, Any]
    """Lists by name, or mappings of lists."""


class MeasuresRecord(TypedDict):
    """All that was measured on a run."""

    schema: int
    identity: str
    run: Labels
    asked: NotRequired[str]
    """The evaluators with their options and code, as `planning.identity.asked` has them."""
    evaluators: Mapping[str, EvaluatorRecord]
    records: Mapping[str, Sequence[str]]
    """The runs whose records were read, by `<evaluator>.<argument>`."""
    losses: Mapping[str, float]
    """The training loss of the `first` updates and of the `last`; nothing of older measures."""
