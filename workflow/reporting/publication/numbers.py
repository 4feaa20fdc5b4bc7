"""All numbers that were measured as one long frame, for a notebook."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from workflow.reporting.measures import EvaluatedRun, read_measures
from workflow.reporting.publication.results import INDEX, published
from workflow.runtime.errors import ReportingError

COLUMNS = (
    *("paper", "experiment", "variant", "label", "seed"),
    *("evaluator", "metric", "value", "std", "n", "unit"),
    *("device", "commit", "identity"),
)
"""Of `numbers_in`.

label: the variant as tables call it.
value: of one run, so a mean over rows of a variant is one over seeds.
std, n: deviation over the examples of the run, and their number, where the evaluator states them.
device, commit: that the run was trained on and by.
identity: of the run, see `docs/identity.md`.
"""


def numbers_in(folder: str | Path) -> pd.DataFrame:
    """Return the numbers of a scale, a row for each number of a run, with the columns `COLUMNS`.

    What does not count is left out: stale runs, and values that are no number, such as a list of
    words, or beyond their bounds.

    Args:
        folder: `docs/reproduction/<scale>` of what is published, or `results/<scale>`.

    Raises ReportingError where the folder has none, Damaged when a file was changed.
    """
    folder = Path(folder)
    files = sorted(folder.glob("measures/*/*/seed-*.json"))
    if (folder / INDEX).is_file():
        measures = [it.measure for it in published(folder).values() if not it.stale]
    elif files:
        measures = read_measures(files, folder.glob("runs/*/*/seed-*/run.json"))
    else:
        raise ReportingError(
            f"{folder}: nothing was measured here; name results/SCALE or docs/reproduction/SCALE"
        )
    return long_frame(measures)


def long_frame(measures: Iterable[EvaluatedRun]) -> pd.DataFrame:
    """Return the numbers that were measured on some runs, in their order; see `numbers_in`."""
    rows = [number for measure in measures for number in _numbers(measure)]
    frame = pd.DataFrame(rows, columns=[*COLUMNS])
    return frame.astype({"seed": "int64", "value": "float64", "std": "float64", "n": "Int64"})


def _numbers(measure: EvaluatedRun) -> Iterable[dict[str, Any]]:
    run = {name: measure.run.get(name, "") for name in ("paper", "experiment", "variant", "label")}
    run |= {name: measure.provenance.get(name, "") for name in ("device", "commit")}
    run |= {"seed": measure.seed, "identity": measure.identity}
    for evaluator, measured in measure.evaluators.items():
        for metric in measured.get("scalars", {}):
            scalar = measure.scalar(f"{evaluator}.{metric}")
            if scalar and not isinstance(scalar.value, str):
                of_scalar = {name: getattr(scalar, name) for name in ("value", "std", "n", "unit")}
                yield {**run, "evaluator": evaluator, "metric": metric, **of_scalar}
