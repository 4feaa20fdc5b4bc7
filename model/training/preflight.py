"""Before training: freed memory is kept; mechanisms, longest pair and last checkpoint are tried."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from model.batches.batching import Sampler
from model.batches.corpus import Corpus
from model.batches.pairs import pair_lengths
from model.build import Node, Spec, accepted, build, locate

SIDES = ("source", "target")

SHAPES = ((2, 5, 7), (3, 1, 1))
"""B, T and S of the scores that a mechanism is tried on; H is the model's."""
OPEN = 4
"""The keys that the second text of a batch has; the others are masked."""
CPU = torch.device("cpu")


def check_mechanisms(model: Node, device: torch.device = CPU) -> None:
    """Try every normalizer that a model's node names, as it is in training and afterwards.

    Args:
        model: the node, with arguments; `heads` stands beside `normalizer`, or the normalizer of
            one place, such as `cross_normalizer`. A model without `heads` has one.
        device: to try them on.

    Raises:
        ValueError: a normalizer can't be built or returns no attention weights; the sentence names
            it.
    """
    for node, heads in _normalizers(model):
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(0)
            fault = _first_fault(node, heads, device)
        if fault:
            raise ValueError(
                f"{node['path']} is no attention mechanism: {fault}. It maps scores "
                f"(B, H, T, S), masked keys at -inf, to weights (docs/own_mechanism.md)."
            )


def _normalizers(node: Any) -> Iterator[tuple[Node, int]]:
    """Yield the normalizers anywhere below a node, each with its number of heads."""
    if isinstance(node, Mapping):
        for name, value in node.items():
            if name.endswith("normalizer") and isinstance(value, Mapping):
                yield value, node.get("heads", 1)
            yield from _normalizers(value)


def _first_fault(node: Node, heads: int, device: torch.device) -> str:
    """Say what is wrong with a mechanism, and with which scores; empty where nothing is."""
    given = ""
    try:
        mechanism = build(node)
        for (batch, queries, keys), training in product(SHAPES, (True, False)):
            if isinstance(mechanism, nn.Module):
                mechanism.to(device).train(training)
            scores = torch.randn(batch, heads, queries, keys, device=device)
            given = f"given scores {tuple(scores.shape)} {'in' if training else 'after'} training, "
            fault = _fault(mechanism, scores)
            if fault:
                return given + fault
    except Exception as error:
        if str(error).startswith("CUDA"):  # the GPU's fault, which another attempt may not meet
            raise
        return f"{given}it fails with {type(error).__name__}: {error}".splitlines()[0].rstrip(".: ")
    return ""


def _fault(mechanism: Callable[[Tensor], Any], scores: Tensor) -> str:
    """Say what is wrong with a mechanism's weights; empty where nothing is."""
    masked = torch.zeros_like(scores, dtype=torch.bool)
    masked[1, ..., OPEN:] = True
    scores = scores.masked_fill(masked, -torch.inf).requires_grad_()
    given = scores.clone()
    weights = mechanism(given)
    if not torch.equal(given, scores):
        return "it changes the scores that it is given; compute new ones instead"
    if not isinstance(weights, Tensor):
        return f"it returns {type(weights).__name__}, no tensor"
    if weights.shape != scores.shape:
        return f"its weights have the shape {tuple(weights.shape)}"
    if not weights.isfinite().all():
        return "some weights are not finite; take the -inf of masked keys out before you multiply"
    if (weights < 0).any():
        return "some weights are negative"
    if (weights[masked] != 0).any():
        return "masked keys get a weight"
    sums = weights.detach().sum(dim=-1)
    if not torch.allclose(sums, torch.ones_like(sums), atol=1e-4):
        return f"rows sum to {float(sums.min()):.4g} to {float(sums.max()):.4g}, not to 1"
    if weights.requires_grad:
        (weights * torch.randn_like(weights)).sum().backward()
        learned = mechanism.parameters() if isinstance(mechanism, nn.Module) else ()
        gradients = [parameter.grad for parameter in learned]
        gradients += [scores.grad[~masked] if scores.grad is not None else None]
        if any(one is not None and not one.isfinite().all() for one in gradients):
            return "the gradient of its weights is not finite; mind the -inf of masked keys"
    return ""


def check_longest_pair(model: Node, corpus: Corpus) -> None:
    """Compare the longest sentence of all splits of a parallel corpus with `max_length`.

    Args:
        model: its node in a spec; one whose class takes no `max_length` reads any length.
        corpus: any; only a parallel one is looked at.

    Raises:
        ValueError: the sentence is too long; it names the split, the pair and the key.
    """
    known = accepted(locate(model["path"]))
    if "max_length" not in known or "source" not in corpus.split("train").columns:
        return
    longest_of = []
    for name in corpus.manifest["splits"]:
        lengths = pair_lengths(corpus.split(name))
        pair, side = np.unravel_index(lengths.argmax(), lengths.shape)
        longest_of.append((int(lengths[pair, side]), name, int(pair) + 1, SIDES[side]))
    longest, name, number, which = max(longest_of)
    limit = model.get("max_length", known["max_length"].default)
    if longest > limit:
        raise ValueError(
            f"{corpus.folder}: the {which} of pair {number} of '{name}' (its line in "
            f"{name}.{which}.txt) has {longest} sub-words, <eos> included, and model.max_length "
            f"is {limit}: set it to {longest} or more."
        )


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
