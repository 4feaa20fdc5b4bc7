"""What evaluators find on the published weights of a run, which have half precision."""

from collections.abc import Iterable
from typing import Any

import torch

from model.build import Node, accepted, build, locate
from model.probes.measure import Subject
from model.training.optimization import set_numerics
from workflow.planning.plan import Plan, named
from workflow.reporting.explorer.shown import ExplorerRun
from workflow.reporting.explorer.weights import read_model
from workflow.runtime.errors import InputError
from workflow.scripts.job import check_data
from workflow.scripts.measure import plain
from workflow.trained.model import corpus_and_words

UNPUBLISHED = ("variant", "dataset")
"""Keys of what an evaluator reads beside a run and its data: records of runs, and further data."""


def recomputed(plan: Plan, run: ExplorerRun, evaluators: Iterable[str]) -> dict[str, Any]:
    """Return what evaluators find, by name, of those that need no more than weights and data.

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
    found = {}
    for name in evaluators:
        if not _needs_more(nodes[name]):
            scalars, arrays = build(nodes[name], spec=spec)(subject)
            found[name] = plain({"scalars": scalars, "arrays": arrays})
    return found


def _needs_more(node: Node) -> bool:
    """Whether an evaluator reads the history of the training, records or further data."""
    read = (key for value in node.values() if isinstance(value, dict) for key in value)
    return "history" in accepted(locate(node["path"])) or any(key in UNPUBLISHED for key in read)
