"""Check an experiment before anything is made of it: every variant, whether selected or not."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workflow.errors import InputError, unknown
from workflow.planning.experiments import SCALES, Changes, Experiment, further_data, recipe, records
from workflow.planning.nodes import check_nodes

REQUIRED = ("batch", "optimizer", "schedule", "precision", "threads", "matmul")
EITHER = {
    "": ("epochs", "updates"),
    "batch": ("examples", "tokens"),
    "average": ("epochs", "updates"),
}


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


def check_start(run: str, model: Mapping[str, Any], parent: str, origin: Mapping[str, Any]) -> None:
    """Check that weights mean the same in the model that starts from them as where they are from.

    Normalisers and dropout have no weights and may differ.

    Raises InputError naming the first key that differs.
    """
    own, other = _weighty(model), _weighty(origin)
    for key in sorted({*own, *other}):
        if own.get(key) != other.get(key):
            raise InputError(
                f"{run}: training.start_from: model.{key} is not that of {parent}, whose weights "
                f"would mean something else here; make it the same"
            )


def _weighty(node: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values below a node by key, without those of normalisers and dropout."""
    found: dict[str, Any] = {}
    for name, value in node.items():
        if isinstance(value, Mapping):
            if not str(value.get("path", "")).startswith("model.normalizers."):
                found |= _weighty(value, f"{prefix}{name}.")
        elif not name.endswith("dropout"):
            found[f"{prefix}{name}"] = value
    return found


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
        origin = _origin(read, key, experiment, experiments)
        if not isinstance(read.get("offset", 0), int):
            raise InputError(f"{key}: offset is {read['offset']}; give a whole number of seeds")
        for scale in SCALES:
            if "record" not in origin.resolve(read["variant"], scale):
                raise InputError(
                    f"{key}: {origin.name}/{read['variant']} has no record at scale {scale}; "
                    f"give it one, or take the argument away"
                )


def _check_parents(
    settings: Mapping[str, Any],
    at: str,
    experiment: Experiment,
    experiments: Mapping[str, Experiment],
    descendants: tuple[tuple[str, str], ...] = (),
) -> None:
    for name, parent in settings["parents"].items():
        key = f"{at}: parents.{name}"
        origin = _origin(parent, key, experiment, experiments)
        step = (origin.name, parent["variant"])
        if step in descendants:
            raise InputError(f"{key}: {origin.name}/{parent['variant']} is its own ancestor")
        for scale in SCALES:
            further = origin.resolve(parent["variant"], scale)
            _check_parents(further, at, origin, experiments, (*descendants, step))


def _origin(
    other: Mapping[str, Any],
    key: str,
    experiment: Experiment,
    experiments: Mapping[str, Experiment],
) -> Experiment:
    """Return the experiment of a parent or a record; InputError where it or its variant is none."""
    name = other.get("experiment", experiment.name)
    if name not in experiments:
        raise unknown(key, "experiment", name, experiments)
    known = experiments[name].definition["variants"]
    if other["variant"] not in known:
        raise unknown(key, f"variant of {name}", other["variant"], known)
    return experiments[name]
