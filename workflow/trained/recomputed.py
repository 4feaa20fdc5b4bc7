"""What evaluators find on the published weights of a run, which have half precision."""

import math
from collections.abc import Iterable
from typing import Any

import torch

from model.build import Node, accepted, build, locate
from model.probes.measure import Subject
from model.training.optimization import set_numerics
from workflow.planning.plan import Plan, named
from workflow.planning.run_files import EvaluatorRecord
from workflow.reporting.explorer.rounded_weights import read_model
from workflow.reporting.explorer.shown import ExplorerRun
from workflow.runtime.errors import InputError
from workflow.scripts.job import check_data
from workflow.scripts.measure import plain
from workflow.trained.model import corpus_and_words

UNPUBLISHED = ("variant", "dataset")
"""Keys of what an evaluator reads beside a run and its data: records of runs, and further data."""


class _Row(dict[str, float | str]):
    """A row of a history in which every number is the same."""

    def __init__(self, split: str, number: float) -> None:
        super().__init__(split=split)
        self.number = number

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> float:
        return self.number


def recomputed(
    plan: Plan, run: ExplorerRun, evaluators: Iterable[str]
) -> dict[str, EvaluatorRecord]:
    """Return what evaluators find, by name, as far as it needs no more than weights and data.

    Raises UserError where the run's data are not here, or others, or its weights lack words.
    """
    corpus, words = corpus_and_words(plan, run)
    if len(words.texts) < words.whole:
        raise InputError(
            f"{run.key}: its published weights have {len(words.texts)} of {words.whole} words, "
            "enough for the explorer alone; make reproduce ROW= trains it again"
        )
    spec, device = run.record["spec"], torch.device("cpu")
    check_data(spec, corpus.folder)
    set_numerics(spec["training"], device)
    subject = Subject(read_model(run, words), corpus, device, spec["seed"])
    nodes = plan.run(*named(run.key)).settings.evaluators
    return {name: _measured(nodes[name], spec, subject) for name in evaluators}


def _measured(node: Node, spec: Any, subject: Subject) -> EvaluatorRecord:
    """Return what an evaluator finds, without what depends on what training recorded.

    Its history is not published: two that differ in all numbers tell which scalars depend on it.
    """
    if any(
        key in value for value in node.values() if isinstance(value, dict) for key in UNPUBLISHED
    ):
        return {}
    unknown = (-math.inf, math.inf) if "history" in accepted(locate(node["path"])) else (0.0,)
    histories = ([_Row("train", number), _Row("dev", number)] for number in unknown)
    made = [build(node, spec=spec, history=history)(subject) for history in histories]
    first, last = made[0], made[-1]
    same = {name: it for name, it in first.scalars.items() if it == last.scalars.get(name)}
    return {"scalars": plain(same), "arrays": plain(first.arrays)}
