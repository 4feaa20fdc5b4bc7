"""The settings of a variant: changes laid over one another, decoded once, and their checks."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple, cast

from model.build import Node
from workflow.datasets.kinds.own_files import by_content, own_files
from workflow.datasets.kinds.recipe import Recipe, complete
from workflow.definitions.experiments import DEFAULTS, Every, Training
from workflow.definitions.names import require_known
from workflow.definitions.values import Yaml
from workflow.planning.identity import canonical, data_folder, recipe_hash
from workflow.planning.nodes import Parts
from workflow.planning.resources import Resources
from workflow.runtime.errors import InputError, RecipeError

Layer = Mapping[str, object]
"""Settings, or some of them that are laid over others."""
SETTINGS = (
    "label",
    "data",
    "model",
    "objective",
    "training",
    "evaluators",
    "parents",
    "checkpoints",
    "record",
    "resources",
)
NAMING = ("path", "dataset")
MOST_CHECKPOINTS = 100_000
REQUIRED = {
    "training": ("batch", "optimizer", "schedule", "precision", "threads", "matmul"),
    "training.optimizer": ("lr", "betas"),
    "training.schedule": ("name",),
    "training.select": ("metric", "mode"),
    "training.average": ("last",),
}
EITHER = {
    "training": ("epochs", "updates"),
    "training.batch": ("examples", "tokens"),
    "training.average": ("epochs", "updates"),
}


class VariantKey(NamedTuple):
    """A variant of an experiment, which others start from or read."""

    experiment: str
    name: str


class RecordReading(NamedTuple):
    """The records of a variant that an evaluator reads: those of one seed, or of all others."""

    of: VariantKey
    offset: int
    """what is added to the evaluator's own seed"""
    others: bool


@dataclass(frozen=True)
class Settings:
    """What the runs of a variant at a scale have in common, every change laid over the others.

    All runs of a plan share them, so nobody alters them. Methods and properties raise InputError
    for the first mistake.
    """

    variant: VariantKey
    where: str
    """Which variant this is, as a sentence about a mistake begins."""
    label: str
    data: Recipe
    """As it is written; `recipe` has every option."""
    model: Node
    objective: Node
    training: Training
    evaluators: Mapping[str, Node]
    parents: Mapping[str, VariantKey]
    checkpoints: Sequence[int]
    """The updates whose weights are kept for measuring."""
    resources: Resources
    record: Node | None = None
    """The part that makes the record of checkpoints, if there is one."""

    @classmethod
    def of(
        cls, variant: VariantKey, base: Layer, changes: Iterable[Layer], where: str
    ) -> "Settings":
        """Lay changes over what `based` made of an experiment: what stands later wins."""
        laid: Any = {**base, "label": variant.name}
        for layer in changes:
            laid = deep_merge(laid, _settings(layer))
        laid["parents"] = {
            name: VariantKey(parent.get("experiment", variant.experiment), parent["variant"])
            for name, parent in laid["parents"].items()
        }
        laid["checkpoints"] = _updates(laid["checkpoints"], where)
        laid["resources"] = Resources.of(**laid["resources"])
        laid["evaluators"] = {
            name: _named(node, variant.name) for name, node in laid["evaluators"].items()
        }
        return cls(variant, where, **laid)

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe of the data, every option written out."""
        return recipe(self.data, self.where)

    @cached_property
    def recipe_hash(self) -> str:
        """The 12 hex digits that name the recipe's folder."""
        return recipe_hash(self.recipe)

    @cached_property
    def further_data(self) -> dict[str, Recipe]:
        """The recipes that evaluators name, by `<evaluator>.<argument>`.

        An argument with the key `dataset` is one: the evaluator gets the corpus made by it.
        """
        return {
            name: recipe(data, f"{self.where}: evaluators.{name}") for name, data in self._further()
        }

    @property
    def own_files(self) -> dict[str, list[str]]:
        """The paths of the user's own files that data are made of, by the folder of the data."""
        stated = [self.data, *(data for _, data in self._further())]
        return {
            data_folder(recipe(data, self.where)): [str(path) for path in paths]
            for data in stated
            if (paths := own_files(data))
        }

    @cached_property
    def readings(self) -> dict[str, RecordReading]:
        """What evaluators read of the records of runs, by `<evaluator>.<argument>`.

        An argument with the key `variant` names one, of its own experiment or of another: the
        evaluator gets the record of that variant's run with the same seed, or one higher by
        `offset`, None where that is not run; with `others: true` those of all other seeds.
        """
        readings = {}
        for name, value in self._arguments("variant"):
            offset = value.get("offset", 0)
            if not isinstance(offset, int):
                raise InputError(
                    f"{self.where}: evaluators.{name}: offset is {offset}; give a whole number of "
                    f"seeds"
                )
            of = VariantKey(value.get("experiment", self.variant.experiment), value["variant"])
            readings[name] = RecordReading(of, offset, value.get("others", False))
        return readings

    def trained(self, parents: Mapping[str, str | VariantKey]) -> str:
        """Return what decides the weights, but for the seed: equal texts, equal runs."""
        parts = (self.recipe, self.model, self.objective, self.training, self.checkpoints)
        return canonical([*parts, parents])

    def check(self, parts: Parts) -> None:
        """Check all that can be told without other experiments."""
        _ = self.recipe, self.further_data, self.readings
        nodes = {"model": self.model, "objective": self.objective}
        nodes |= {"record": self.record} if self.record is not None else {}
        nodes |= {f"evaluators.{name}": node for name, node in self.evaluators.items()}
        for name, node in nodes.items():
            if "path" not in node:
                raise InputError(f'{self.where}: {name}: the key "path" is missing')
            parts.check(node, f"{self.where}: {name}")
        self._check_training()

    def _check_training(self) -> None:
        parts: dict[str, Any] = {"training": self.training}
        parts |= {f"training.{n}": part for n, part in parts["training"].items()}
        for key, names in REQUIRED.items():
            for name in names:
                if key in parts and name not in parts[key]:
                    raise InputError(f'{self.where}: {key}: the key "{name}" is missing')
        choices = {k: (names, parts[k]) for k, names in EITHER.items() if k in parts}
        for key, (names, part) in choices.items():
            if len([name for name in names if name in part]) != 1:
                raise InputError(
                    f"{self.where}: {key}: give either {names[0]} or {names[1]} (null takes one "
                    f"away)"
                )
        if "select" in self.training and "average" in self.training:
            raise InputError(
                f"{self.where}: training: give either select or average (null takes one away)"
            )
        last = self.training.get("updates")
        beyond = [step for step in self.checkpoints if last is not None and step > last]
        if beyond:
            raise InputError(
                f"{self.where}: checkpoints: {beyond[0]} is beyond the last update, {last}; take "
                f"it away or raise training.updates"
            )
        start = self.training.get("start_from")
        if start is not None:
            require_known(f"{self.where}: training.start_from", "parent", [start], self.parents)

    def check_start(self, run: str, parent: str, origin: Node) -> None:
        """Check that weights mean the same in the model of a run as in that which they are from.

        Normalisers and dropout have no weights and may differ.
        """
        own, other = _weighty(self.model), _weighty(origin)
        for key in sorted({*own, *other}):
            if own.get(key) != other.get(key):
                raise InputError(
                    f"{run}: training.start_from: model.{key} is not that of {parent}, whose "
                    f"weights would mean something else here; make it the same"
                )

    def _further(self) -> Iterator[tuple[str, Recipe]]:
        return ((name, cast(Recipe, value)) for name, value in self._arguments("dataset"))

    def _arguments(self, key: str) -> Iterator[tuple[str, Node]]:
        """Yield the arguments of evaluators that are mappings with a key."""
        for name, node in self.evaluators.items():
            for argument, value in node.items():
                if _has(value, key):
                    yield f"{name}.{argument}", value


def based(*layers: Layer) -> Layer:
    """Return what layers, from the experiment on, say of a variant that changes nothing."""
    base: Layer = {"parents": {}, "checkpoints": [], "resources": {}, "training": DEFAULTS}
    for layer in layers:
        base = deep_merge(base, _settings(layer))
    return base


def _settings(layer: Layer) -> Layer:
    return {name: layer[name] for name in SETTINGS if name in layer}


def deep_merge(base: Any, change: Any) -> Any:
    """Return `base` with `change` laid over it, key by key; neither is altered.

    `null` takes a key away. A mapping whose `path` or `dataset` changes is replaced whole, because
    the arguments of another part, or the options of another dataset, mean nothing to it.
    """
    if not isinstance(change, Mapping):
        return change
    merged = {}
    if isinstance(base, Mapping) and not any(
        name in change and change[name] != base.get(name) for name in NAMING
    ):
        merged = dict(base)
    for key, value in change.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = deep_merge(merged.get(key), value)
    return merged


def recipe(data: Recipe, where: str) -> Recipe:
    """Return the data recipe with every option written out; own files by their contents.

    Raises InputError when the dataset does not exist or refuses an option.
    """
    try:
        return _complete(canonical(by_content(data)))
    except RecipeError as error:
        raise InputError(f"{where}: data: {error}") from None


@cache
def _complete(data: str) -> Recipe:
    """Complete the recipe of a canonical text once: many runs have the same."""
    return complete(json.loads(data))


def _named(node: Node, variant: str) -> Node:
    """Fill in the names of variants whose records an evaluator reads.

    In them {variant} is the own one, and {stem} the own one without its last part.
    """
    read = {name: dict(value) for name, value in node.items() if _has(value, "variant")}
    for argument in read.values():
        name = str(argument["variant"]).replace("{variant}", variant)
        argument["variant"] = name.replace("{stem}", variant.rpartition("_")[0])
    return {**node, **read} if read else node


def _has(value: object, key: str) -> bool:
    return isinstance(value, Mapping) and key in value


def _updates(checkpoints: Sequence[int] | Every, where: str) -> list[int]:
    """Return the updates of checkpoints, where they may be `first` ones and the multiples after.

    Raises InputError for more of them than MOST_CHECKPOINTS.
    """
    if not isinstance(checkpoints, dict):
        return list(checkpoints)
    first, every, last = checkpoints["first"], checkpoints["every"], checkpoints["last"]
    start = max(first, default=0) // every + 1
    if (count := last // every - start + 1) > MOST_CHECKPOINTS:
        raise InputError(
            f"{where}: checkpoints: every {every} up to {last} are {count} updates, more than the "
            f"{MOST_CHECKPOINTS} that a run may keep; raise every, or lower last"
        )
    return [*first, *range(every * start, last + 1, every)]


def _weighty(node: Node, prefix: str = "") -> dict[str, Yaml]:
    """Return the values below a node by key, without those of normalisers and dropout."""
    values: dict[str, Yaml] = {}
    for name, value in node.items():
        if isinstance(value, Mapping):
            if not str(value.get("path", "")).startswith("model.normalizers."):
                values |= _weighty(value, f"{prefix}{name}.")
        elif not name.endswith("dropout"):
            values[f"{prefix}{name}"] = value
    return values
