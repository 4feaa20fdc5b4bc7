"""A user's own mechanisms: the variants and table rows that the configuration adds.

An experiment names the node that a mechanism takes the place of, and by name the variants to
follow: `mechanisms: {at: model.encoder.normalizer, like: {sst: sst_softmax}}` makes of a mechanism
`mine` the variant `sst_mine`, run wherever `sst_softmax` is. A table names the rows to follow:
`mechanisms: {"sst_{mechanism}": sst_softmax}` makes the row `sst_mine`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workflow.errors import InputError, unknown
from workflow.planning.experiments import Experiment, merge
from workflow.planning.nodes import check_nodes, signature

Node = Mapping[str, Any]
"""A part of a model: its `path` and its arguments."""


def mechanisms(config: Mapping[str, Any], root: Path) -> dict[str, Node]:
    """Return the configured mechanisms by name, each as a node.

    Raises InputError when one names nothing, an argument that it does not take, or not all that it
    needs.
    """
    found = {
        name: {"path": value} if isinstance(value, str) else value
        for name, value in (config.get("mechanisms") or {}).items()
    }
    for name, node in found.items():
        where = f"config: mechanisms.{name}"
        check_nodes(node, where, root)
        required = signature(node["path"], where, root).required
        missing = [argument for argument in required if argument not in node]
        if missing:
            raise InputError(
                f"{where} ({node['path']}): needs {', '.join(missing)}; give it beside the path"
            )
    return found


def with_variants(experiment: Experiment, own: Mapping[str, Node]) -> Experiment:
    """Return the experiment with a variant for each mechanism and each variant to follow.

    Raises InputError when its `mechanisms` name a variant or node that it does not have, or a
    mechanism has the name of one that is there already.
    """
    if "mechanisms" not in experiment.definition:
        return experiment
    definition = dict(experiment.definition)
    at, like = definition["mechanisms"]["at"], definition["mechanisms"]["like"]
    where = f"{experiment.file}: experiments.{experiment.name}.mechanisms"
    for followed in like.values():
        if followed not in definition["variants"]:
            raise unknown(f"{where}.like", "variant", followed, definition["variants"])
        part: Any = merge(definition, definition["variants"][followed])
        for step in at.split("."):
            part = part.get(step) if isinstance(part, Mapping) else None
        if not isinstance(part, Mapping) or "path" not in part:
            raise InputError(f'{where}.at: "{at}" is no part of variant {followed}; correct it')
    for name, node in own.items():
        change: dict[str, Any] = {**node}
        for step in reversed(at.split(".")):
            change = {step: change}
        for prefix, followed in like.items():
            variant = f"{prefix}_{name}"
            if variant in definition["variants"]:
                raise InputError(
                    f"config: mechanisms.{name}: {experiment.name} already has a variant "
                    f"{variant}; choose another name"
                )
            definition = _following(definition, followed, variant, {**change, "label": name})
            twin = _twin(definition, variant)
            if twin:
                raise InputError(
                    f"config: mechanisms.{name}: the same as {twin} of {experiment.name}; leave it "
                    f"out"
                )
    return Experiment(experiment.name, experiment.paper, experiment.file, definition)


def _twin(definition: Mapping[str, Any], variant: str) -> str:
    """Return another variant that differs from this one in its label alone; empty if none."""

    def model(name: str) -> dict[str, Any]:
        merged: dict[str, Any] = merge(definition, definition["variants"][name])
        return {**merged, "label": ""}

    return next(
        (v for v in definition["variants"] if v != variant and model(v) == model(variant)), ""
    )


def _following(
    definition: Mapping[str, Any], followed: str, variant: str, change: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the definition with a variant like `followed` but for `change`, at every scale."""

    def among(variants: Mapping[str, Any]) -> dict[str, Any]:
        return {**variants, variant: merge(variants[followed], change)}

    scales = {}
    for name, scale in definition.get("scales", {}).items():
        scales[name] = dict(scale)
        if followed in scale.get("only", []):
            scales[name]["only"] = [*scale["only"], variant]
        if followed in scale.get("variants", {}):
            scales[name]["variants"] = among(scale["variants"])
    return {**definition, "variants": among(definition["variants"]), "scales": scales}
