"""Tiny data, and tiny runs that are trained, stopped, resumed and watched."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from model.batches.corpus import Corpus
from model.batches.pairs import EOS
from model.build import Node, Spec
from model.training.checkpointer import Checkpointer, TrainingState, Weights
from model.training.loop import Interrupted, train

WORDS, HEADS, WIDTH = 24, 2, 16
"""V, H and D of everything that is checked."""
FIRST = EOS + 1
"""The first word that is no mark."""
EXAMPLES, BATCH = 512, 4
"""Of a split, and of an update: an epoch is longer than anything here."""
UPDATES, STEPS = 1_000_000, 5
"""Of a run that is watched, which notes every 5000th update; and how many are watched."""
WAITS = (
    "aten::item",
    "aten::_local_scalar_dense",
    "cudaStreamSynchronize",
    "cudaDeviceSynchronize",
    "Memcpy DtoH",
)
"""What makes Python wait for a device, as torch's profiler calls it."""


def corpus(folder: Path, of: str) -> Corpus:
    """Write examples, the same in every split.

    Args:
        folder: that is made.
        of: `texts`, of several lengths, with a label; `copies`, of one length; `pairs`.
    """
    random = np.random.default_rng(0)
    lengths = [8] * EXAMPLES if of == "copies" else random.integers(2, 12, EXAMPLES).tolist()
    texts = [random.integers(FIRST, WORDS, length).tolist() for length in lengths]
    columns = {"label": [text[0] % 2 for text in texts]}
    if of == "pairs":
        columns = {"source": [len(text) + 1 for text in texts]}
        texts = [[*text, EOS, *reversed(text), EOS] for text in texts]
    offsets = np.cumsum([0, *map(len, texts)])
    arrays = {"tokens": np.concatenate(texts).astype(np.int32), "offsets": offsets, **columns}
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        for name, values in arrays.items():
            np.save(folder / f"{split}.{name}.npy", np.array(values))
    (folder / "vocabulary.txt").write_text("".join(f"w{i}\n" for i in range(WORDS)))
    (folder / "manifest.json").write_text("{}")
    return Corpus(folder)


def spec(model: Node, objective: Node, precision: str, updates: int) -> Spec:
    """The spec of a run."""
    return {
        "seed": 0,
        "model": model,
        "objective": objective,
        "checkpoints": [],
        "parents": {},
        "training": {
            "updates": updates,
            "batch": {"examples": BATCH},
            "optimizer": {"lr": 1e-3, "betas": [0.9, 0.98]},
            "schedule": {"name": "constant"},
            "clip": 1.0,
            "precision": precision,
            "threads": 1,
            "matmul": "highest",
        },
    }


class Stopping(Checkpointer):
    """Keeps a state in memory, as a file would have it.

    Args:
        after: updates after which the run is stopped, once; 0 for none.
    """

    def __init__(self, after: int) -> None:
        self.left = after
        self.state = b""

    def load(self) -> TrainingState | None:
        """The state that was kept."""
        if not self.state:
            return None
        content = io.BytesIO(self.state)
        state: TrainingState = torch.load(content, map_location="cpu", weights_only=True)
        return state

    def save(self, state: TrainingState) -> None:
        """Keep a state."""
        buffer = io.BytesIO()
        torch.save(state, buffer)
        self.state = buffer.getvalue()

    def stopping(self) -> bool:
        """Whether it is time to stop."""
        self.left -= 1
        return self.left == 0


def trained(run: Spec, data: Corpus, device: torch.device, after: int = 0) -> Weights:
    """The weights of a run; with `after` it is stopped after so many updates, and resumed."""
    keeper = Stopping(after)
    with suppress(Interrupted):
        return train(run, data, keeper, device, {}, lambda line: None).weights
    torch.manual_seed(999)
    return train(run, data, keeper, device, {}, lambda line: None).weights


def waits(model: Node, objective: Node, data: Corpus, device: torch.device) -> dict[str, float]:
    """How often an update waits for the device, by torch's name of what waits, and compiles.

    The second of two halves of a training is counted, without what a run does once. A CPU waits for
    nothing, but its fused Adam has an item for each parameter.
    """
    run = spec(model, objective, "bf16", UPDATES)
    first, both = (_counted(run, data, device, after) for after in (STEPS, 2 * STEPS))
    return {name: (both[name] - first[name]) / STEPS for name in both}


def _counted(run: Spec, data: Corpus, device: torch.device, after: int) -> dict[str, int]:
    """What happened until a run was stopped after so many updates."""
    graphs = torch._dynamo.utils.counters["stats"]
    compiled = graphs["unique_graphs"]
    kinds = [ProfilerActivity.CPU, *[ProfilerActivity.CUDA] * (device.type == "cuda")]
    with profile(activities=kinds, acc_events=True) as told, suppress(Interrupted):
        train(run, data, Stopping(after), device, {}, lambda line: None)
    events = told.key_averages()
    counts = {
        name: sum(event.count for event in events if event.key.startswith(name)) for name in WAITS
    }
    return counts | {"compilations": graphs["unique_graphs"] - compiled}
