"""What a run would be made of today, to tell which published runs are of other code or settings."""

from collections.abc import Callable, Mapping
from typing import Any

from workflow.planning.identity import digest, nameless
from workflow.planning.plan import Plan, named

SETTINGS = ("model", "objective", "training", "checkpoints")
MEASURING = "measuring code"
GONE = "of a variant that no longer exists at this scale"

Traits = Mapping[str, Any]
"""By name, what the seeds of a variant share: code, settings, data recipe, measuring code."""
Now = Callable[[str], Traits | None]
"""From `<experiment>/<variant>/seed-<n>` to its traits today, None where no variant is left."""


def traits(spec: Mapping[str, Any], evaluators: Mapping[str, Mapping[str, Any]]) -> Traits:
    """Return the traits of a run from its spec and its evaluators (with their `code`)."""
    return {
        "code": spec["code"],
        "settings": nameless({name: spec[name] for name in SETTINGS}),
        "data": {name: spec["data"][name] for name in ("dataset", "recipe")},
        MEASURING: {name: _measured_by(one) for name, one in evaluators.items()},
    }


def _measured_by(evaluator: Mapping[str, Any]) -> Any:
    """Return an evaluator's code and, where it reads records of other runs, what those are of."""
    if "recorded" in evaluator:
        return [evaluator.get("code"), evaluator["recorded"]]
    return evaluator.get("code")


def planned(plan: Plan) -> Now:
    """Return the function that says what the runs of a plan are made of today."""

    def now(key: str) -> Traits | None:
        experiment, variant, seed = named(key)
        known = plan.experiments.get(experiment)
        if known is None or variant not in known.variants(plan.config["scale"]):
            return None
        run = plan.run(experiment, variant, seed)
        return traits(run.draft(plan.root), plan.evaluators(run))

    return now


def outdated(made: Traits, today: Traits | None) -> str | None:
    """Return why a run no longer counts (`of other code and data`), None while it does.

    What was not measured yet, by an evaluator that came later, does not matter.
    """
    if today is None:
        return GONE
    measuring = {name: today[MEASURING].get(name) for name in made[MEASURING]}
    current = {**today, MEASURING: measuring}
    other = [name for name in made if digest(made[name]) != digest(current[name])]
    return f"of other {' and '.join(other)}" if other else None
