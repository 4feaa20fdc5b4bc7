"""Translations that were recorded when their models were measured."""

from collections.abc import Iterable
from typing import Any

from workflow.definitions.explorer import RECORDED, Recording
from workflow.reporting.measures import Measure


def recordings(shown: Iterable[Recording], measures: Iterable[Measure]) -> list[dict[str, Any]]:
    """Return for each model of each recording what the page has of it.

    It is `name`, `label`, `task` (the recording's title), `run`, and `sentences`, each as
    `model.probes.importance.recorded_translation` has it. Models without measures are left out; of
    several seeds the lowest is shown.
    """
    ordered = sorted(measures, key=lambda one: -one.seed)
    first = {(one.run["experiment"], one.run["variant"]): one for one in ordered}
    made = []
    for recording in shown:
        for model in recording["models"]:
            measure = first.get((recording["experiment"], model))
            arrays = measure.evaluators.get(RECORDED, {}).get("arrays") if measure else None
            if measure and arrays:
                sentences = [
                    dict(zip(arrays, one, strict=True))
                    for one in zip(*arrays.values(), strict=True)
                ]
                told = {"name": model, "label": measure.run["label"], "task": recording["title"]}
                made.append({**told, "run": measure.key, "sentences": sentences})
    return made
