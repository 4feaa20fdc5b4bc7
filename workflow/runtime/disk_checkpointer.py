"""Resume states on disk: atomic, checked when read, the newest two kept."""

from __future__ import annotations

import io
import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from pickle import UnpicklingError

import torch
from safetensors import torch as safetensors

from model.training.checkpointer import Checkpointer, HistoryRow, TrainingState, Weights
from workflow.runtime.atomic import write_atomically
from workflow.runtime.integrity import Damaged, read_digest_prefixed, with_digest_prefix
from workflow.runtime.store import Lease

INTERVAL, SHARE = 120.0, 0.005
"""Seconds between states, and how much of its time training may spend on saving them."""


class DiskCheckpointer(Checkpointer):
    """Keeps a run's states in its place in the store.

    A state file is the SHA-256 of what follows, then the state as torch writes it; so are weights
    that are kept, in the form of safetensors. A state is loaded with `weights_only=True`, so a file
    from elsewhere can run no code.

    Args:
        claim: the right to write; it is checked before every save.
        interval: seconds between saves; None: `INTERVAL`, or so long that saving takes `SHARE`.
        say: receives a sentence when a state cannot be read.
        deadline: the `time.monotonic()` from which training is to stop.

    Attributes:
        asked_to_save: set it to have a state saved after the update under way.
        asked_to_stop: set it to have training stop as well.
        beat: set it to a function to be called after every update.
    """

    def __init__(
        self,
        claim: Lease,
        interval: float | None,
        say: Callable[[str], None],
        deadline: float = math.inf,
    ) -> None:
        self.claim = claim
        self.folder = claim.entry.folder
        self.interval = interval
        self.say = say
        self.deadline = deadline
        self.saved, self.cost = time.monotonic(), 0.0
        self.asked_to_save = False
        self.asked_to_stop = False
        self.beat = lambda: None
        self._dropped: set[str] = set()

    def load(self) -> TrainingState | None:
        """The newest state that can be read; others are removed. None for a new run."""
        states = self._states()
        for path in reversed(states):
            try:
                state = _read(path)
            except Damaged as error:
                # Left in place, it would count as one of the newest two and push out a whole one.
                path.unlink(missing_ok=True)
                self.say(f"{error} and was removed; going back to the state before it.")
                continue
            rows = "".join(json.dumps(row) + "\n" for row in state["progress"]["rows"])
            write_atomically(self.folder / "history.jsonl", rows.encode())
            return state
        if states:
            self.say("no whole state is left; training begins anew.")
        return None

    def newest(self) -> int:
        """The update of the newest state, 0 for a new run."""
        return max((int(path.stem.partition("-")[2]) for path in self._states()), default=0)

    def save(self, state: TrainingState) -> None:
        """Keep a state and drop all but the newest two.

        Raises:
            Fenced: a newer process has taken the run over.
            OSError: the state cannot be written; those before it are whole.
        """
        self.claim.check()
        self.asked_to_save, began = False, time.monotonic()
        buffer = io.BytesIO()
        torch.save(state, buffer)
        path = self.folder / f"state-{state['progress']['update']:012d}.pt"
        write_atomically(path, with_digest_prefix(buffer.getvalue()))
        for old in self._states()[:-2]:
            old.unlink(missing_ok=True)
        self.saved = time.monotonic()
        self.cost = self.saved - began

    def due(self) -> bool:
        """Whether a save was asked for, or the interval has passed since the last one."""
        own = max(INTERVAL, self.cost / SHARE)
        pause = own if self.interval is None else self.interval
        return self.asked_to_save or time.monotonic() - self.saved >= pause

    def stopping(self) -> bool:
        """Whether the process was asked to stop, or its time is over."""
        self.beat()
        return self.asked_to_stop or time.monotonic() >= self.deadline

    def keep(self, update: int, weights: Weights) -> None:
        """Keep the weights of an update, for measuring or for the average."""
        self.claim.check()
        write_atomically(self._kept(update), with_digest_prefix(safetensors.save(weights)))

    def weights_of(self, update: int) -> Weights:
        """The kept weights of an update; raises Damaged where they are not as they were kept."""
        return safetensors.load(read_digest_prefixed(self._kept(update)))

    def kept(self) -> Iterator[tuple[str, bytes]]:
        """Name and content of a file of safetensors for each update whose weights are kept.

        Raises:
            Damaged: one is not as it was kept.
        """
        for path in sorted((self.folder / "kept").glob("step-*")):
            if path.name not in self._dropped:
                yield path.name, read_digest_prefixed(path)

    def drop(self, update: int) -> None:
        """Leave the weights of an update out of the result.

        The file goes when the result is there: whoever is killed before needs it again.
        """
        self._dropped.add(self._kept(update).name)

    def record(self, rows: list[HistoryRow]) -> None:
        """Append the newest row to the history that can be watched."""
        with (self.folder / "history.jsonl").open("w" if len(rows) == 1 else "a") as stream:
            stream.write(json.dumps(rows[-1]) + "\n")

    def _kept(self, update: int) -> Path:
        return self.folder / "kept" / f"step-{update}.safetensors"

    def _states(self) -> list[Path]:
        return sorted(self.folder.glob("state-*.pt"))


def _read(path: Path) -> TrainingState:
    """Read a state file; raise Damaged where it is none."""
    content = io.BytesIO(read_digest_prefixed(path))
    try:
        state: TrainingState = torch.load(content, map_location="cpu", weights_only=True)
    except UnpicklingError:
        raise Damaged(path, f"{path} may hold code, was not loaded") from None
    return state
