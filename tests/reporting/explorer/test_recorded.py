"""What the page has of recorded translations."""

from pathlib import Path
from typing import Any

from workflow.definitions.explorer import Recording
from workflow.reporting.explorer.recorded import recordings
from workflow.reporting.measures import Measure

SHOWN: Recording = {"title": "Translation", "experiment": "toy", "models": ["soft", "hard", "gone"]}


def measured(variant: str, seed: int = 0, **arrays: Any) -> Measure:
    run = {"experiment": "toy", "variant": variant, "label": variant.upper(), "seed": seed}
    return Measure(Path("m.json"), "", run, {"recorded": {"scalars": {}, "arrays": arrays}})


def test_arrays_of_the_lowest_seed_become_sentences():
    given = [
        measured("soft", 2, source=[["x"]], cross=[[[1.0]]]),
        measured("soft", 1, source=[["a"], ["b"]], cross=[[[0.5]], [[0.25]]]),
        measured("hard"),
    ]
    (found,) = recordings([SHOWN], given)
    assert found == {
        "name": "soft",
        "label": "SOFT",
        "task": "Translation",
        "run": "toy/soft/seed-1",
        "sentences": [
            {"source": ["a"], "cross": [[0.5]]},
            {"source": ["b"], "cross": [[0.25]]},
        ],
    }
