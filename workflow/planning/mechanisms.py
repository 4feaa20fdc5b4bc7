"""A user's own mechanisms: the variants and table rows that the configuration adds.

An experiment names the node that a mechanism takes the place of, and by name the variants to
follow: `mechanisms: {at: model.encoder.normalizer, like: {sst: sst_softmax}}` makes of a mechanism
`mine` the variant `sst_mine`, run wherever `sst_softmax` is. A table names the rows to follow:
`mechanisms: {"sst_{mechanism}": sst_softmax}` makes the row `sst_mine`.

A mechanism with a step, `before` or `after`, needs a part around it that takes the step: the
experiment's `after`. An experiment without it leaves such mechanisms out.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from model.build import Node
from workflow.definitions.configuration import Configuration
from workflow.definitions.experiments import Definition, Scale, Scales, Variant
from workflow.definitions.names import require_known
from workflow.planning.experiments import SCALES, Experiment
from workflow.planning.nodes import Parts
from workflow.planning.settings import deep_merge
from workflow.runtime.errors import InputError

STEPS = ("before", "after")
"""The methods of a mechanism that are steps around its weights."""


def mechanisms(config: Configuration, parts: Parts) -> dict[str, Node]:
    """Return the configured mechanisms by name, each as a node.

    Raises InputError when one names nothing, an argument that it does not take, or not all that it
    needs.
    """
    nodes: dict[str, Node] = {
        name: {"path": value} if isinstance(value, str) else value
        for name, value in config.get("mechanisms", {}).items()
    }
    for name, node in nodes.items():
        where = f"config: mechanisms.{name}"
        parts.check(node, where)
        required = parts.signature(node["path"], where).required
        missing = [argument for argument in required if argument not in node]
        if missing:
            raise InputError(
                f"{where} ({node['path']}): needs {', '.join(missing)}; give it beside the path"
            )
    return nodes


def with_variants(experiment: Experiment, own: Mapping[str, Node], parts: Parts) -> Experiment:
    """Return the experiment with a variant for each mechanism and each variant to follow.

    Raises InputError when its `mechanisms` name a variant or node that it does not have, or a
    mechanism has the name of one that is there already.
    """
    if "mechanisms" not in experiment.definition:
        return experiment
    definition = experiment.definition
    at, like = definition["mechanisms"]["at"], definition["mechanisms"]["like"]
    where = f"{experiment.stated}.mechanisms"
    around = definition["mechanisms"].get("after")
    if around:
        parts.signature(around, f"{where}.after")
    require_known(f"{where}.like", "variant", like.values(), definition["variants"])
    for followed in like.values():
        part = _part(deep_merge(definition, definition["variants"][followed]), at)
        if not isinstance(part, Mapping) or "path" not in part:
            raise InputError(f'{where}.at: "{at}" is no part of variant {followed}; correct it')
    for name, node in own.items():
        steps = any(parts.has_method(node["path"], step) for step in STEPS)
        if steps and not around:
            continue
        for prefix, followed in like.items():
            variant = f"{prefix}_{name}"
            if variant in definition["variants"]:
                raise InputError(
                    f"config: mechanisms.{name}: {experiment.name} already has a variant "
                    f"{variant}; choose another name"
                )
            change, whole = _placed({"label": name}, at, node), Variant()
            if steps:
                outer = at.rpartition(".")[0]
                part = _part(deep_merge(definition, definition["variants"][followed]), outer)
                whole = _placed({}, outer, {**part, "path": around})
            definition = _following(definition, followed, variant, change, whole)
            twin = _twin(definition, variant)
            if twin:
                raise InputError(
                    f"config: mechanisms.{name}: the same as {twin} of {experiment.name}; leave it "
                    f"out"
                )
    return replace(experiment, definition=definition)


def _part(laid: Any, at: str) -> Any:
    """Return what settings have at a dotted key, None for nothing."""
    for step in at.split("."):
        laid = laid.get(step) if isinstance(laid, Mapping) else None
    return laid


def _placed(change: Variant, at: str, value: Any) -> Variant:
    for step in reversed(at.split(".")):
        value = {step: value}
    placed: Variant = deep_merge(change, value)
    return placed


def _twin(definition: Definition, variant: str) -> str | None:
    """Return another variant that differs from this one in its label alone."""
    laid = {
        name: deep_merge(definition, {**changes, "label": ""})
        for name, changes in definition["variants"].items()
    }
    own = laid.pop(variant)
    return next((name for name, other in laid.items() if other == own), None)


def _following(
    definition: Definition, followed: str, variant: str, change: Variant, whole: Variant
) -> Definition:
    """Return the definition with a variant like `followed` but for `change`, at every scale.

    `whole` is laid below the change in the variant alone: a part of another path, whole.
    """

    def among(variants: Mapping[str, Variant], whole: Variant) -> dict[str, Variant]:
        return {**variants, variant: deep_merge(deep_merge(variants[followed], whole), change)}

    scales: Scales = {**definition.get("scales", {})}
    for name in SCALES:
        scale: Scale = {**scales.get(name, {})}
        if followed in scale.get("only", []):
            scale["only"] = [*scale["only"], variant]
        if followed in scale.get("variants", {}):
            scale["variants"] = among(scale["variants"], {})
        scales[name] = scale
    return {**definition, "variants": among(definition["variants"], whole), "scales": scales}
