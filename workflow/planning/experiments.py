"""Resolve experiments: experiment + variant + scale + overlay -> the full settings of a run."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from workflow.datasets.errors import RecipeError
from workflow.datasets.recipe import complete
from workflow.planning.errors import InputError, unknown
from workflow.planning.identity import canonical
from workflow.planning.loader import load_yaml
from workflow.planning.nodes import check_nodes

SCALES = ("demo", "lite", "paper")
TRAINED = ("data", "model", "objective", "training", "parents", "checkpoints")
SETTINGS = (*TRAINED, "record", "evaluators", "resources")
REQUIRED = ("batch", "optimizer", "schedule", "precision", "threads", "matmul")
NAMING = ("path", "dataset")
EITHER = {
    "": ("epochs", "updates"),
    "batch": ("examples", "tokens"),
    "average": ("epochs", "updates"),
}

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
    return list(range(seeds)) if isinstance(seeds, int) else sorted(set(seeds))


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
        for name, definition in load_yaml(file, "experiments")["experiments"].items():
            if name in found:
                raise InputError(
                    f'{file}: experiment "{name}" also stands in {found[name].file}; rename one'
                )
            found[name] = Experiment(name, file.parent.name, file, definition)
    return found


def check_experiment(
    experiment: Experiment,
    experiments: Mapping[str, Experiment],
    root: Path,
    scales: Iterable[str] = SCALES,
    overlay: Changes | None = None,
) -> None:
    """Check every variant of an experiment at some scales (all of them, also those not selected).

    Raises InputError naming the file and the key of the first mistake.
    """
    definition, where = experiment.definition, f"{experiment.file}: experiments.{experiment.name}"
    variants = definition["variants"]
    for scale, changes in definition.get("scales", {}).items():
        for name in [*changes.get("only", []), *changes.get("variants", {})]:
            if name not in variants:
                raise unknown(f"{where}.scales.{scale}", "variant", name, variants)
    if overlay is not None:
        where = f"overlay: experiments.{experiment.name}"
        for name in overlay.get("variants", {}):
            if name not in variants:
                error = unknown(f"{where}.variants", "variant", name, variants)
                raise InputError(f"{error}; docs/own_experiment.md says how to add one")
    for scale in scales:
        seen: dict[str, str] = {}
        for variant in variants:
            settings = experiment.resolve(variant, scale, overlay)
            at = f"{where}, variant {variant}, scale {scale}"
            _check_settings(settings, at, root)
            _check_parents(settings, at, experiment, experiments)
            _check_records(settings, at, experiment, experiments)
            twin = seen.setdefault(experiment.trained(settings), variant)
            if twin != variant and {twin, variant} <= set(experiment.variants(scale)):
                raise InputError(
                    f"{at}: the same run as variant {twin}; take one of them away "
                    f"(at one scale: with `only`)"
                )


def _check_settings(settings: Mapping[str, Any], at: str, root: Path) -> None:
    for name in ("data", "model", "objective", "training", "evaluators"):
        if name not in settings:
            raise InputError(f'{at}: the key "{name}" is missing')
    recipe(settings["data"], at)
    further_data(settings["evaluators"], at)
    nodes = {"model": settings["model"], "objective": settings["objective"]}
    nodes |= {"record": settings["record"]} if "record" in settings else {}
    nodes |= {f"evaluators.{name}": node for name, node in settings["evaluators"].items()}
    for name, node in nodes.items():
        if "path" not in node:
            raise InputError(f'{at}: {name}: the key "path" is missing')
        check_nodes(node, f"{at}: {name}", root)
    training = settings["training"]
    for name in REQUIRED:
        if name not in training:
            raise InputError(f'{at}: training: the key "{name}" is missing')
    for part, names in EITHER.items():
        if part and part not in training:
            continue
        present = [name for name in names if name in (training[part] if part else training)]
        if len(present) != 1:
            key = f"training.{part}" if part else "training"
            raise InputError(
                f"{at}: {key}: give either {names[0]} or {names[1]} (null takes one away)"
            )
    _check_checkpoints(settings, at)
    for part, name in (("optimizer", "lr"), ("optimizer", "betas"), ("schedule", "name")):
        if name not in training[part]:
            raise InputError(f'{at}: training.{part}: the key "{name}" is missing')
    for name in ("metric", "mode"):
        if training.get("select") and name not in training["select"]:
            raise InputError(f'{at}: training.select: the key "{name}" is missing')
    if training.get("average") and "last" not in training["average"]:
        raise InputError(f'{at}: training.average: the key "last" is missing')
    if training.get("select") and training.get("average"):
        raise InputError(f"{at}: training: give either select or average (null takes one away)")
    start = training.get("start_from")
    if start is not None and start not in settings["parents"]:
        raise unknown(f"{at}: training.start_from", "parent", start, settings["parents"])


def _check_checkpoints(settings: Mapping[str, Any], at: str) -> None:
    last = settings["training"].get("updates")
    beyond = [step for step in settings["checkpoints"] if last is not None and step > last]
    if beyond:
        raise InputError(
            f"{at}: checkpoints: {beyond[0]} is beyond the last update, {last}; take it away or "
            f"raise training.updates"
        )


def _check_records(
    settings: Mapping[str, Any],
    at: str,
    experiment: Experiment,
    experiments: Mapping[str, Experiment],
) -> None:
    for name, read in records(settings["evaluators"]).items():
        key = f"{at}: evaluators.{name}"
        origin = read.get("experiment", experiment.name)
        if origin not in experiments:
            raise unknown(key, "experiment", origin, experiments)
        known = experiments[origin].definition["variants"]
        if read["variant"] not in known:
            raise unknown(key, f"variant of {origin}", read["variant"], known)
        if not isinstance(read.get("offset", 0), int):
            raise InputError(f"{key}: offset is {read['offset']}; give a whole number of seeds")
        for scale in SCALES:
            if "record" not in experiments[origin].resolve(read["variant"], scale):
                raise InputError(
                    f"{key}: {origin}/{read['variant']} has no record at scale {scale}; give it "
                    f"one, or take the argument away"
                )


def _check_parents(
    settings: Mapping[str, Any],
    at: str,
    experiment: Experiment,
    experiments: Mapping[str, Experiment],
    line: tuple[tuple[str, str], ...] = (),
) -> None:
    for name, parent in settings["parents"].items():
        key = f"{at}: parents.{name}"
        origin = parent.get("experiment", experiment.name)
        if origin not in experiments:
            raise unknown(key, "experiment", origin, experiments)
        known = experiments[origin].definition["variants"]
        if parent["variant"] not in known:
            raise unknown(key, f"variant of {origin}", parent["variant"], known)
        step = (origin, parent["variant"])
        if step in line:
            raise InputError(f"{key}: {origin}/{parent['variant']} is its own ancestor")
        for scale in SCALES:
            settings_of_parent = experiments[origin].resolve(parent["variant"], scale)
            _check_parents(settings_of_parent, at, experiments[origin], experiments, (*line, step))


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
