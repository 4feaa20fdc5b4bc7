"""Before training: set the process up; try the longest text and the last checkpoint."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from model.batches.batching import Batch, Sampler, collate
from model.batches.corpus import Corpus
from model.batches.pairs import pair_lengths
from model.build import Node, Spec, accepted, build, locate
from model.training.loop import build_model

SIDES = ("source", "target")
FRAME = 2
"""Most tokens that a model reads around a text."""


def check_longest_pair(model: Node, corpus: Corpus) -> None:
    """Compare the longest sentence of all splits of a parallel corpus with `max_length`.

    Args:
        model: its node in a spec; one whose class takes no `max_length` reads any length.
        corpus: any; only a parallel one is looked at.

    Raises:
        ValueError: the sentence is too long; it names the split, the pair and the key.
    """
    parameters = accepted(locate(model["path"]))
    if "max_length" not in parameters or "source" not in corpus.split("train").columns:
        return
    longest_of = []
    for name in corpus.manifest["splits"]:
        lengths = pair_lengths(corpus.split(name))
        pair, side = np.unravel_index(lengths.argmax(), lengths.shape)
        longest_of.append((int(lengths[pair, side]), name, int(pair) + 1, SIDES[side]))
    longest, name, number, which = max(longest_of)
    limit = model.get("max_length", parameters["max_length"].default)
    if longest > limit:
        raise ValueError(
            f"{corpus.folder}: the {which} of pair {number} of '{name}' (its line in "
            f"{name}.{which}.txt) has {longest} sub-words, <eos> included, and model.max_length "
            f"is {limit}: set it to {longest} or more."
        )


def check_classes(model: Node, corpus: Corpus) -> None:
    """Compare the labels to train on with `classes`; one output tells two labels apart.

    Raises:
        ValueError: there are more labels; it names the key.
    """
    labels = corpus.split("train").columns.get("label")
    if labels is None or "classes" not in model:
        return
    found = int(labels.max()) + 1
    if found > max(2, model["classes"]):
        raise ValueError(
            f"{corpus.folder}: the texts to train on have {found} labels, and model.classes is "
            f"{model['classes']}: set it to {found}."
        )


def check_longest_text(spec: Spec, corpus: Corpus) -> None:
    """Let a model with positions read the longest text of each split, where it may be too long.

    Raises:
        ValueError: the model can't read it; it names the split, the text and the key.
    """
    limits, objective = [*_limits(spec["model"], "model")], build(spec["objective"])
    if not limits or hasattr(objective, "sampler"):  # of pairs or segments
        return
    key, limit = min(limits, key=lambda one: one[1])
    for name in corpus.manifest["splits"]:
        split = corpus.split(name)
        number = int(split.lengths.argmax())
        longest = int(split.lengths[number]) + FRAME
        batch = collate(split, np.array([number]))
        # A single position would stand for all of them.
        if limit == 1 or (longest > limit and not _reads(spec, objective, corpus, batch)):
            raise ValueError(
                f"{corpus.folder}: text {number + 1} of '{name}' has {longest} tokens with those "
                f"around it, and {key} is {limit}: set it to {longest} or more."
            )


def _reads(spec: Spec, objective: Any, corpus: Corpus, batch: Batch) -> bool:
    """Whether a run's model reads a batch."""
    try:
        with torch.no_grad():
            objective.loss(build_model(spec, corpus), batch, 0.0)
    except (RuntimeError, IndexError):
        return False
    return True


def _limits(node: Any, key: str) -> Iterator[tuple[str, int]]:
    """Yield each `max_length` below a model's node, given or left out, with its key."""
    if not isinstance(node, Mapping):
        return
    parameters = accepted(locate(node["path"])) if "path" in node else {}
    if "max_length" in parameters:
        yield f"{key}.max_length", node.get("max_length", parameters["max_length"].default)
    for name, value in node.items():
        yield from _limits(value, f"{key}.{name}")


def check_last_checkpoint(spec: Spec, corpus: Corpus) -> None:
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


_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3


def prepare_process() -> None:
    """Set up what makes a process fast, and nothing that it computes but for rounding on a GPU.

    cuDNN's attention is left alone: it plans anew for every shape of a batch, and batches of texts
    all differ. On an H200 that took 95 % of the time of training a Transformer.
    """
    keep_freed_memory()
    torch.backends.cuda.enable_cudnn_sdp(False)


def keep_freed_memory() -> None:
    """Tell glibc to reuse freed memory; elsewhere this does nothing.

    By default every tensor of some megabytes is mapped and unmapped again, and touching fresh
    pages costs as much as the arithmetic on small models: training of the stack language's model
    ran 1.4 times as fast with this on one CPU core.
    """
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return
    mallopt(_MMAP_THRESHOLD, 2**30)
    mallopt(_TRIM_THRESHOLD, 2**31 - 1)
    mallopt(_TOP_PAD, 2**26)
