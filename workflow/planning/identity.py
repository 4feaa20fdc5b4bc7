"""The identity of a run: a hash of everything that can change its weights.

Only the standard library is used: a training job imports this file without Snakemake or YAML.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from model.build import Node

if TYPE_CHECKING:
    from workflow.datasets.kinds.recipe import Recipe
    from workflow.definitions.experiments import Training

TRAINING = (
    "model.training.loop:train",
    "model.batches.corpus:Corpus",
    "model.training.process_group:join",
)
"""What computes every run, beside the parts that its spec names."""
MEASURING = (
    "model.probes.measure:Subject",
    "model.batches.corpus:Corpus",
    "model.probes.checkpoint_ranks:Record",
)
"""What every evaluator and recorder is given."""
_LABELS = ("run", "identity")


class Labels(TypedDict):
    """What a run is called, which does not change its weights."""

    paper: str
    experiment: str
    variant: str
    label: str
    seed: int
    scale: str
    data: Recipe
    """the recipe, every option written out"""


class Contents(TypedDict):
    """The data of a run."""

    dataset: str
    recipe: str
    """its hash"""
    digest: NotRequired[str]
    """of the encoded files, once they are made"""


class TrainedParts(TypedDict):
    """The parts of a run that its spec names."""

    model: Node
    objective: Node


class Draft(TrainedParts):
    """The spec of a run as far as it is known before its inputs are made."""

    schema: int
    run: Labels
    seed: int
    data: Contents
    parents: dict[str, str]
    """identities by name"""
    training: Training
    checkpoints: Sequence[int]
    code: str


class ResolvedSpec(Draft):
    """All that a run depends on."""

    identity: str


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, 1.0 written as 1.

    Raises ValueError for NaN and infinities, which JSON cannot express.
    """
    return json.dumps(
        _plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest(value: Any) -> str:
    """Return the SHA-256 (64 hex digits) of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def recipe_hash(recipe: Recipe) -> str:
    """Return the 12 hex digits that name the folder of a data recipe."""
    return digest(recipe)[:12]


def data_folder(recipe: Recipe) -> str:
    """Return the folder of a recipe's data below `<results>/data`."""
    return f"{recipe['dataset']}/{recipe_hash(recipe)}"


def paths(node: Any) -> list[str]:
    """Return every `path: "module:Name"` in nested nodes, in the order of canonical JSON."""
    if isinstance(node, list):
        return [path for child in node for path in paths(child)]
    if not isinstance(node, dict):
        return []
    own = node.get("path")
    inner = [path for key in sorted(node) for path in paths(node[key])]
    return [own, *inner] if isinstance(own, str) else inner


def run_roots(spec: TrainedParts) -> tuple[str, ...]:
    """Return the definitions whose reach is the code of a run."""
    return (*TRAINING, *paths([spec["model"], spec["objective"]]))


def measuring_roots(node: Node) -> tuple[str, ...]:
    """Return the definitions whose reach is the code of an evaluator or a recorder."""
    return (*MEASURING, *paths(node))


def without_paths(value: Any) -> Any:
    """Return a value without what its paths name, which the hash of the code tells.

    So a part that is moved or renamed is the same part.
    """
    if isinstance(value, dict):
        return {key: "" if key == "path" else without_paths(item) for key, item in value.items()}
    return [without_paths(item) for item in value] if isinstance(value, list | tuple) else value


def asked(nodes: Any) -> str:
    """Return 16 hex digits of the parts, with options and code, that measures or records are of."""
    return digest(without_paths(nodes))[:16]


def identity(spec: Draft) -> str:
    """Return the 16 hex digits that name a run in the store.

    `Labels` (paper, experiment, variant, label, scale) do not count, nor do names of code, whose
    hash does.
    Of the data only its name and the digest of its contents count: the same bytes made by another
    recipe are the same data.
    """
    counted = {key: value for key, value in spec.items() if key not in _LABELS}
    counted["data"] = {key: value for key, value in spec["data"].items() if key != "recipe"}
    return digest(without_paths(counted))[:16]


def complete(draft: Draft, contents: str, parents: dict[str, str]) -> ResolvedSpec:
    """Return the spec of a run from what is known before its inputs are made.

    Args:
        draft: everything that the configuration tells.
        contents: digest of the encoded data.
        parents: identity of each parent by its name.
    """
    spec: Draft = {**draft, "data": {**draft["data"], "digest": contents}, "parents": parents}
    return {**spec, "identity": identity(spec)}


def _plain(value: Any) -> Any:
    """Write whole floats as integers, so that `dropout: 0` and `dropout: 0.0` are one run."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
