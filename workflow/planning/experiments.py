"""Resolve experiments: experiment + variant + scale + overlay -> the full settings of a run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from workflow.datasets.kinds.recipe import complete
from workflow.definitions.experiments import Experiments
from workflow.definitions.loader import load_yaml
from workflow.errors import InputError, RecipeError, unknown
from workflow.planning.identity import canonical

SCALES = ("demo", "lite", "paper")
TRAINED = ("data", "model", "objective", "training", "parents", "checkpoints")
SETTINGS = (*TRAINED, "record", "evaluators", "resources")
NAMING = ("path", "dataset")

Changes = Mapping[str, Any]
"""A fragment of an experiment that is laid over it: settings, and `variants` with theirs."""


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper as its YAML states it."""

    name: str
    paper: str
    file: Path
    definition: dict[str, Any]

    def variants(self, scale: str) -> list[str]:
        """Return the variants that are run at a scale."""
        return list(self._scale(scale).get("only", self.definition["variants"]))

    def seeds(self, variant: str, scale: str, overlay: Changes | None = None) -> list[int]:
        """Return the seeds of a variant that are run at a scale, a user's changes included."""
        layers = _layers(self.definition, variant, self._scale(scale), overlay or {})
        return numbered([layer["seeds"] for layer in layers if "seeds" in layer][-1])

    def resolve(self, variant: str, scale: str, overlay: Changes | None = None) -> dict[str, Any]:
        """Return the settings of a variant at a scale, a user's changes included.

        Raises InputError when the variant does not exist.
        """
        if variant not in self.definition["variants"]:
            where = f"{self.file}: experiments.{self.name}"
            raise unknown(where, "variant", variant, self.definition["variants"])
        return resolve(self.definition, variant, self._scale(scale), overlay or {})

    def trained(self, settings: Mapping[str, Any]) -> str:
        """Return what decides the weights of a run, but for its seed: equal texts, equal runs."""
        parents = {
            name: {"experiment": self.name, **parent}
            for name, parent in settings["parents"].items()
        }
        kept = {name: settings[name] for name in TRAINED}
        return canonical({**kept, "data": recipe(settings["data"], self.name), "parents": parents})

    def _scale(self, scale: str) -> dict[str, Any]:
        found: dict[str, Any] = self.definition.get("scales", {}).get(scale, {})
        return found


def resolve(definition: Changes, variant: str, scale: Changes, overlay: Changes) -> dict[str, Any]:
    """Lay all changes over an experiment and return its settings and `label`.

    The order is experiment, variant, scale, the scale's variant, overlay, the overlay's variant:
    what stands later wins.
    """
    settings: dict[str, Any] = {"parents": {}, "checkpoints": [], "resources": {}}
    settings["label"] = variant
    for layer in _layers(definition, variant, scale, overlay):
        kept = {name: layer[name] for name in (*SETTINGS, "label") if name in layer}
        settings = merge(settings, kept)
    settings["checkpoints"] = _updates(settings["checkpoints"])
    for node in settings.get("evaluators", {}).values():
        node |= {name: _named(value, variant) for name, value in node.items()}
    return settings


def _named(argument: Any, variant: str) -> Any:
    """Fill in the name of the variant whose record an evaluator's argument is.

    In it {variant} is the own one, and {stem} the own one without its last part.
    """
    if not isinstance(argument, Mapping) or "variant" not in argument:
        return argument
    names = {"{variant}": variant, "{stem}": variant.rpartition("_")[0]}
    name = str(argument["variant"])
    for part, text in names.items():
        name = name.replace(part, text)
    return {**argument, "variant": name}


def _updates(checkpoints: Any) -> list[int]:
    """Return the updates of checkpoints, where they may be `first` ones and the multiples after."""
    if not isinstance(checkpoints, Mapping):
        return list(checkpoints)
    first, every, last = (checkpoints[name] for name in ("first", "every", "last"))
    start = max(first, default=0) // every + 1
    return [*first, *range(every * start, last + 1, every)]


def _layers(definition: Changes, variant: str, scale: Changes, overlay: Changes) -> list[Changes]:
    """Return what is laid over one another, the strongest last."""
    layers = [definition, definition["variants"][variant]]
    for changes in (scale, overlay):
        layers += [changes, changes.get("variants", {}).get(variant, {})]
    return layers


def numbered(seeds: int | Sequence[int]) -> list[int]:
    """Return the seeds that a number of them, from 0 on, or a list of them stands for."""
    return list(range(seeds)) if isinstance(seeds, int) else sorted(seeds)


def merge(base: Any, change: Any) -> Any:
    """Return `base` with `change` laid over it, key by key; neither is altered.

    `null` takes a key away. A mapping whose `path` or `dataset` changes is replaced whole, because
    the arguments of another part, or the options of another dataset, mean nothing to it.
    """
    if not isinstance(change, Mapping):
        return change
    merged: dict[str, Any] = {}
    if isinstance(base, Mapping) and not any(
        name in change and change[name] != base.get(name) for name in NAMING
    ):
        merged = dict(base)
    for key, value in change.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged


def load_experiments(papers: Path) -> dict[str, Experiment]:
    """Read the experiments of every paper in a folder, by name.

    Raises InputError when the folder holds no paper, a file breaks the schema, or two papers use
    one name.
    """
    files = sorted(papers.glob("*/experiments.yaml"))
    if not files:
        raise InputError(
            f"{papers}: no paper has experiments here; write one to <paper>/experiments.yaml"
        )
    found: dict[str, Experiment] = {}
    for file in files:
        for name, definition in load_yaml(file, Experiments)["experiments"].items():
            if name in found:
                raise InputError(
                    f'{file}: experiment "{name}" also stands in {found[name].file}; rename one'
                )
            found[name] = Experiment(name, file.parent.name, file, {**definition})
    return found


def recipe(data: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the data recipe with every option written out.

    Raises InputError when the dataset does not exist or refuses an option.
    """
    try:
        return _complete(canonical(data))
    except RecipeError as error:
        raise InputError(f"{where}: data: {error}") from None


def further_data(evaluators: Mapping[str, Any], where: str) -> dict[str, dict[str, Any]]:
    """Return the recipes that evaluators name, by `<evaluator>.<argument>`.

    An argument with the key `dataset` is one: the evaluator gets the corpus that is made by it.

    Raises InputError when the dataset does not exist or refuses an option.
    """
    return {
        f"{name}.{argument}": recipe(value, f"{where}: evaluators.{name}.{argument}")
        for name, node in evaluators.items()
        for argument, value in node.items()
        if isinstance(value, Mapping) and "dataset" in value
    }


def records(evaluators: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the records of runs that evaluators read, by `<evaluator>.<argument>`.

    An argument with the key `variant` is one: the evaluator gets the record of that variant's run
    with the same seed, or one higher by `offset`, None where that is not run; with `others: true`
    those of all other seeds.
    """
    return {
        f"{name}.{argument}": value
        for name, node in evaluators.items()
        for argument, value in node.items()
        if isinstance(value, Mapping) and "variant" in value
    }


@cache
def _complete(data: str) -> dict[str, Any]:
    """Complete the recipe of a canonical text once: many runs have the same."""
    return complete(json.loads(data))
