"""A run to show, trained here or published."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from workflow.planning.identity import Labels
from workflow.planning.run_files import RunRecord
from workflow.runtime.errors import ReportingError
from workflow.runtime.store import read_result

Arrays = Mapping[str, np.ndarray]
"""By the name of a tensor in the model, in its order."""


@dataclass(frozen=True)
class ExplorerRun:
    """A run, and the file of its weights."""

    record: RunRecord
    weights: Path
    prefix: str = ""
    """What the names of its tensors begin with, in a file that has those of other runs too."""

    @classmethod
    def of(cls, run: Path) -> "ExplorerRun":
        """Return the run of a `run.json`, its files being as they were written.

        Raises:
            ReportingError: there is none.
            Damaged: a file is another one.
        """
        if not run.is_file():
            raise ReportingError(f"{run}: this file does not exist; run the job that writes it.")
        return cls(cast(RunRecord, read_result(run.parent)), run.parent / "weights.safetensors")

    @property
    def labels(self) -> Labels:
        """Its experiment, variant, label and seed."""
        return self.record["spec"]["run"]

    @property
    def key(self) -> str:
        """The run as `<experiment>/<variant>/seed-<n>`."""
        labels = self.labels
        return f"{labels['experiment']}/{labels['variant']}/seed-{labels['seed']}"

    @property
    def dataset(self) -> str:
        """The name of its dataset."""
        return self.record["spec"]["data"]["dataset"]

    def data(self, data: Path) -> Path:
        """Return the folder of its data below that of all data."""
        return data / self.dataset / self.record["spec"]["data"]["recipe"] / "encoded"
