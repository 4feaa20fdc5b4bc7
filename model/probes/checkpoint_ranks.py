"""What is kept of a run's checkpoints when their weights are gone: how they rank the inputs.

Agreement and rank correlation (snell2021 section 3.1) read nothing but the order of a text's
positions, ties included, so a record holds ranks, two bytes a position (one where no text has more
than 256). A row is an output word: the class of a text, or a word of a translation.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np


@dataclass(frozen=True)
class SplitRecord:
    """What checkpoints say of the N rows of one split, with M positions in all.

    Attributes:
        lengths: (N,) positions of each row.
        examples: (N,) the example that each row belongs to.
        ranks: by quantity (C, M): of each position, how many of its row are strictly lower.
        performance: by metric (C,), of each checkpoint.
        important: places of the checkpoints that the quantity `delta` was measured at.
    """

    lengths: np.ndarray
    examples: np.ndarray
    ranks: Mapping[str, np.ndarray]
    performance: Mapping[str, np.ndarray]
    important: np.ndarray

    def best(self, metric: str) -> int:
        """The place of the first of the checkpoints that perform best on this split."""
        return int(self.performance[metric].argmax())

    def rows(self, quantity: str, at: int) -> np.ndarray:
        """The ranks (N, L) of one quantity at one place of its first axis, 0 behind a row."""
        inside = np.arange(self.lengths.max()) < self.lengths[:, None]
        ranks = np.zeros(inside.shape, np.int32)
        ranks[inside] = self.ranks[quantity][at]
        return ranks


@dataclass(frozen=True)
class Record:
    """The record of a run.

    Attributes:
        steps: (C,) the updates of the checkpoints, rising.
        splits: by name.
    """

    steps: np.ndarray
    splits: Mapping[str, SplitRecord]

    def content(self) -> bytes:
        """The record as a file; equal records give equal bytes."""
        arrays = {"steps": self.steps}
        for name, split in self.splits.items():
            arrays |= {f"{name}/lengths": split.lengths, f"{name}/examples": split.examples}
            arrays |= {f"{name}/important": split.important}
            for kind in ("ranks", "performance"):
                values_of = getattr(split, kind).items()
                arrays |= {f"{name}/{kind}/{key}": values for key, values in values_of}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
        return buffer.getvalue()

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read a record.

        Raises:
            ValueError: the file is none, or is cut short.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            names = sorted({name.partition("/")[0] for name in arrays if name.endswith("/lengths")})
            return cls(
                arrays["steps"],
                {
                    name: SplitRecord(
                        arrays[f"{name}/lengths"],
                        arrays[f"{name}/examples"],
                        _below(f"{name}/ranks", arrays),
                        _below(f"{name}/performance", arrays),
                        arrays[f"{name}/important"],
                    )
                    for name in names
                },
            )
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise ValueError(
                f"{path} is no record of a run ({error}); delete it and run again to rebuild it."
            ) from error


def ranks(values: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Of each value, how many of its row are strictly lower; flat, row after row.

    Args:
        values: (N, L); row n has `lengths[n]` of them, and anything behind.
        lengths: (N,).

    Returns:
        (M,) uint8 or uint16, in the order of the positions.
    """
    inside = np.arange(values.shape[1]) < lengths[:, None]
    values = np.where(inside, values, np.inf)
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    first = np.ones(values.shape, dtype=bool)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    lower = np.maximum.accumulate(np.where(first, np.arange(values.shape[1]), 0), axis=1)
    lower_than = np.empty(values.shape, np.uint8 if values.shape[1] <= 256 else np.uint16)
    np.put_along_axis(lower_than, order, lower.astype(lower_than.dtype), axis=1)
    flat: np.ndarray = lower_than[inside]
    return flat


def _below(folder: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    prefix = f"{folder}/"
    return {
        name.removeprefix(prefix): values
        for name, values in arrays.items()
        if name.startswith(prefix)
    }
