"""What a run would be made of today, to tell which published runs are of other code or settings."""

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

from model.build import Node
from workflow import ROOT
from workflow.planning.equivalents import Equivalents
from workflow.planning.identity import Draft, digest, measuring_roots, run_roots, without_paths
from workflow.planning.plan import Plan, named
from workflow.planning.run_files import EvaluatorRecord, RunRecord
from workflow.reporting.measures import ran

SETTINGS = ("model", "objective", "training", "checkpoints")
MEASURING = "measuring code"
ON_GPU = "code on a GPU"
GONE = "of a variant that no longer exists at this scale"
OTHER_ON_GPU = f"of other {ON_GPU}"
RUN = ""
"""Beside the names of evaluators, that of the run itself."""

RunFeatures = Mapping[str, Any]
"""By name, what the seeds of a variant share: code, settings, data recipe, measuring code.

Code is what represents it. What was made on a GPU also has the hashes of the code that ran.
"""
Evaluators = Mapping[str, Node | EvaluatorRecord]
"""What measures, by its name: as it is planned, or as it found something."""
Now = Callable[[str], RunFeatures | None]
"""From `<experiment>/<variant>/seed-<n>` to its traits today, None where no variant is left."""


def traits(spec: Draft, evaluators: Evaluators) -> RunFeatures:
    """Return the traits of a run from its spec and its evaluators (with their `code`)."""
    return {
        "code": _represented(spec["code"]),
        "settings": without_paths(
            {name: value for name, value in spec.items() if name in SETTINGS}
        ),
        "data": {"dataset": spec["data"]["dataset"], "recipe": spec["data"]["recipe"]},
        MEASURING: {name: _measured_by(one) for name, one in evaluators.items()},
    }


def _represented(code: str) -> str:
    return Equivalents.read(ROOT).representative(code)


def _measured_by(evaluator: Node | EvaluatorRecord) -> Any:
    """Return an evaluator's code and, where it reads records of other runs, what those are of."""
    code = _represented(evaluator["code"]) if "code" in evaluator else None
    return [code, evaluator["recorded"]] if "recorded" in evaluator else code


def on_gpu(
    run: RunRecord, evaluators: Mapping[str, EvaluatorRecord]
) -> Mapping[str, Mapping[str, Collection[str | None]]]:
    """Return the trait of a run that a GPU trained: the code that ran; of another run nothing.

    Proofs are made on a CPU, so there what represents code does not tell all.
    """
    if run.get("device", "cpu") == "cpu":
        return {}
    built = {one.get("built", run["spec"]["code"]) for one in evaluators.values()}
    measuring = {name: {one.get("ran", one.get("code"))} for name, one in evaluators.items()}
    return {ON_GPU: {RUN: built | ran(run), **measuring}}


def planned(plan: Plan) -> Now:
    """Return the function that says what the runs of a plan are made of today."""

    @cache
    def now(key: str) -> RunFeatures | None:
        experiment, variant, seed = named(key)
        known = plan.experiments.get(experiment)
        if known is None or variant not in known.variants(plan.config["scale"]):
            return None
        run = plan.run(experiment, variant, seed)
        draft, evaluators = plan.draft(run), plan.evaluators(run)
        roots = {RUN: run_roots(draft)}
        roots |= {name: measuring_roots(node) for name, node in evaluators.items()}
        running = {name: {plan.code(*of)} for name, of in roots.items()}
        return {**traits(draft, evaluators), ON_GPU: running}

    return now


def outdated(made: RunFeatures, today: RunFeatures | None) -> str | None:
    """Return why a run no longer counts (`of other code and data`), None while it does.

    What was not measured yet, by an evaluator that came later, does not matter.
    """
    if today is None:
        return GONE
    measuring = {name: today[MEASURING].get(name) for name in made[MEASURING]}
    current = {**today, MEASURING: measuring}
    named = [name for name in made if name != ON_GPU]
    other = [name for name in named if digest(made[name]) != digest(current[name])]
    if other:
        return f"of other {' and '.join(other)}"
    lines = Equivalents.read(ROOT)
    holds = (
        lines.chain(code, running, gpu=True) is not None
        for name, codes in made.get(ON_GPU, {}).items()
        for code in codes
        for running in today[ON_GPU][name]
    )
    return None if all(holds) else OTHER_ON_GPU
