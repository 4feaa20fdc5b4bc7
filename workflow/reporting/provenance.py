"""The runs behind a number, and those it is compared with."""

from collections.abc import Iterable
from typing import Any

from workflow.reporting.measures import Measure


def partners(behind: Iterable[tuple[Measure, str]]) -> list[str]:
    """Return the runs that others were compared with; of each of these its measure and the name.

    They are `<experiment>/<variant>/seed-<n>`: the runs whose records the evaluators read.
    """
    return sorted({key for measure, name in behind for key in measure.partners(name)})


def provenance(measure: Measure) -> dict[str, Any]:
    """Return where a run comes from: its labels, code, data, commit and hardware."""
    run = measure.provenance
    known = ("code", "commit", "dirty", "torch", "cuda", "python", "cpu", "device", "finished")
    labels = {name: measure.run.get(name) for name in ("experiment", "variant", "seed", "scale")}
    spec = run.get("spec", {})
    settings = {
        "data": spec.get("data", {}).get("digest"),
        "precision": spec.get("training", {}).get("precision"),
    }
    return {**labels, **settings, **{name: run.get(name) for name in known}}
