"""Write a corpus in the encoded form, keep a run's state in memory, train on a corpus briefly."""

import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from model.batches.corpus import Corpus
from model.training.loop import train


def write_corpus(
    folder: Path,
    splits: Mapping[str, Sequence[Sequence[int]]],
    vocabulary: int,
    statistics: Mapping[str, Any],
    columns: Mapping[str, Mapping[str, Sequence[int]]] | None = None,
) -> Corpus:
    """Write splits of token ids, and columns of each split, as `encode` would."""
    folder.mkdir(parents=True)
    for split, examples in splits.items():
        offsets = np.cumsum([0, *map(len, examples)]).astype(np.int64)
        flat = np.array([token for example in examples for token in example], np.int32)
        np.save(folder / f"{split}.tokens.npy", flat)
        np.save(folder / f"{split}.offsets.npy", offsets)
        for name, values in (columns or {}).get(split, {}).items():
            np.save(folder / f"{split}.{name}.npy", np.array(values))
    symbols = ["<pad>", "<bos>", "<unk>", *(f"s{i}" for i in range(3, vocabulary))]
    (folder / "vocabulary.txt").write_text("\n".join(symbols) + "\n")
    files = {path.name: {"bytes": path.stat().st_size} for path in folder.iterdir()}
    manifest = {"schema": 1, "digest": "d", "files": files, "statistics": dict(statistics)}
    manifest["vocabulary_size"] = len(symbols)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return Corpus(folder)


class MemoryKeeper:
    """Keeps states in memory; saves after, and stops after, the updates it is told to."""

    def __init__(self, save_at: int | None = None, state: dict[str, Any] | None = None) -> None:
        self.save_at, self.state = save_at, state
        self.kept: dict[int, Any] = {}
        self.seen = 0

    def load(self) -> dict[str, Any] | None:
        return self.state

    def save(self, state: dict[str, Any]) -> None:
        self.state = copy.deepcopy(state)

    def due(self) -> bool:
        return False

    def stopping(self) -> bool:
        self.seen += 1
        return self.save_at is not None and self.seen >= self.save_at

    def keep(self, update: int, weights: Any) -> None:
        self.kept[update] = weights

    def weights_of(self, update: int) -> Any:
        return self.kept[update]

    def drop(self, update: int) -> None:
        self.kept.pop(update, None)

    def record(self, rows: list[dict[str, Any]]) -> None:
        pass


def trained_briefly(
    model: dict[str, Any],
    objective: str,
    corpus: Corpus,
    epochs: int = 1,
    schedule: str = "constant",
) -> Any:
    """Train a small model with Adam at 1e-2 in batches of 32; returns what `train` does."""
    spec = {
        "seed": 0,
        "model": model,
        "objective": {"path": objective},
        "training": {
            "epochs": epochs, "batch": {"examples": 32},
            "optimizer": {"lr": 1e-2, "betas": [0.9, 0.999]}, "schedule": {"name": schedule},
            "precision": "fp32", "threads": 1, "matmul": "highest",
        },
        "checkpoints": [], "parents": {},
    }  # fmt: skip
    return train(spec, corpus, MemoryKeeper(), torch.device("cpu"), {}, lambda line: None)
