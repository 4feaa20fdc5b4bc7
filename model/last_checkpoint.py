"""Does a run get as far as the checkpoints it is to keep? Told before it trains for hours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.batching import Sampler
from model.build import build
from model.corpus import Corpus


def check_last_checkpoint(spec: Mapping[str, Any], corpus: Corpus) -> None:
    """Compare the checkpoints of a run of so many epochs with its last update.

    Those of a run of so many updates are compared when it is planned; how many an epoch has, the
    corpus tells.

    Raises:
        ValueError: a checkpoint is beyond the last update; it names both.
    """
    training = spec["training"]
    if not spec["checkpoints"] or training.get("updates"):
        return
    sampler = getattr(build(spec["objective"]), "sampler", Sampler)
    per_epoch = sampler(corpus.split("train"), training["batch"], spec["seed"]).updates_per_epoch
    last = training["epochs"] * per_epoch
    beyond = [step for step in spec["checkpoints"] if step > last]
    if beyond:
        raise ValueError(
            f"checkpoints: {beyond[0]} is beyond the last update, {last} (training.epochs "
            f"{training['epochs']}, of {per_epoch} updates each in {corpus.folder}); take it away, "
            f"or raise training.epochs."
        )
