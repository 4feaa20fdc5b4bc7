"""Generated corpora in the encoded form."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workflow.datasets.kinds.recipe import load


def encoded(folder: Path, recipe: Mapping[str, Any]) -> Path:
    """Synthesise, prepare and encode a dataset, as the demo does; returns the encoded folder."""
    dataset = load(dict(recipe))
    dataset.synthesise(folder / "raw")
    dataset.prepare(sorted((folder / "raw").iterdir()), folder / "prepared")
    dataset.encode(folder / "prepared", folder / "encoded")
    return folder / "encoded"
