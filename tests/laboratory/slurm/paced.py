"""An objective that takes its time, so that a small run lasts as long as a case needs.

Waiting costs no CPU. Where the folder `$SACCADE_PACE` is set, its file `pace` says how many seconds
each update takes, and its file `wants`, where there is one, how many bytes of memory; each update
adds a line to its file `updates`. Elsewhere nothing differs from `LanguageModelling`.
"""

import os
import time
from pathlib import Path

from model.architectures.language_model import LanguageModel
from model.batches.batching import Batch
from model.objectives.language_modelling import LanguageModelling
from model.objectives.loss import Loss


class Paced(LanguageModelling):
    """Negative log-likelihood per token, after a while."""

    def loss(self, model: LanguageModel, batch: Batch, epoch: float) -> Loss:
        """Loss of a batch of sequences; metric `loss` (nats per token)."""
        folder = os.environ.get("SACCADE_PACE")
        if folder and model.training:
            time.sleep(float(Path(folder, "pace").read_text()))
            if Path(folder, "wants").exists():
                _ = b"x" * int(Path(folder, "wants").read_text())
            with Path(folder, "updates").open("a") as stream:
                stream.write(f"{time.time()} {os.getpid()} {os.environ.get('SLURM_JOB_ID')}\n")
        return super().loss(model, batch, epoch)
