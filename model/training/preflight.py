"""Before training: set the process up; try mechanisms, the longest pair, the last checkpoint."""

from __future__ import annotations

import ctypes
import math
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

SUMS = {"one": (1.0, 1.0), "at most one": (-math.inf, 1.0), "free": (-math.inf, math.inf)}
"""What a mechanism's `sum` may state, with the least and the largest sum of a row."""
SIGNS = ("positive", "any")
"""What its `sign` may state."""
READER = "model.architectures.context_transformer:ContextTransformer"


def check_mechanisms(model: Node, device: torch.device = CPU) -> None:
    """Try every normalizer that a model's node names, as it is in training and afterwards.

    What its rows are, it may state as attributes: `sum`, one of `SUMS` and "one" by default, and
    `sign`, one of `SIGNS` and "positive" by default. It may have a method `after`, from what is
    read with its weights, (B, H, T, K), to as much.

    Args:
        model: the node, with arguments; `heads` and `width` stand beside `normalizer`, or the
            normalizer of one place, such as `cross_normalizer`. A model without `heads` has one.
        device: to try them on.

    Raises:
        ValueError: a normalizer can't be built or returns no attention weights; the sentence names
            it.
    """
    for node, place in _normalizers(model):
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(0)
            fault = _first_fault(node, place, device)
        if fault:
            raise ValueError(
                f"{node['path']} is no attention mechanism: {fault}. It maps scores "
                f"(B, H, T, S), masked keys at -inf, to weights (docs/own_mechanism.md)."
            )


def _normalizers(node: Any) -> Iterator[tuple[Node, Node]]:
    """Yield the normalizers anywhere below a node, each with the node that it stands in."""
    if isinstance(node, Mapping):
        for name, value in node.items():
            if name.endswith("normalizer") and isinstance(value, Mapping):
                yield value, node
            yield from _normalizers(value)


def _first_fault(node: Node, place: Node, device: torch.device) -> str:
    """Say what is wrong with a mechanism, and with which scores; empty where nothing is."""
    given = ""
    heads = place.get("heads", 1)
    try:
        part, mechanism = locate(node["path"]), build(node)
        stated = [getattr(part, name, None) for name in ("sum", "sign")]
        for name, one, known in zip(("sum", "sign"), stated, (SUMS, SIGNS), strict=True):
            if one is not None and one not in known:
                return f"its {name} is {one!r}; state one of {', '.join(map(repr, known))}"
        after = getattr(mechanism, "after", None)
        if after and not getattr(locate(place["path"]), "reads_after", False):
            return f"it has a step after reading, which {place['path']} leaves out; use {READER}"
        for (batch, queries, keys), training in product(SHAPES, (True, False)):
            if isinstance(mechanism, nn.Module):
                mechanism.to(device).train(training)
            scores = torch.randn(batch, heads, queries, keys, device=device)
            given = f"given scores {tuple(scores.shape)} {'in' if training else 'after'} training, "
            fault = _fault(mechanism, scores, *stated)
            if fault:
                return given + fault
            if after:
                width = place.get("width", heads) // heads
                context = torch.randn(batch, heads, queries, width, device=device)
                context[:, :, -1] = 0  # of a query that attends to nothing
                fault = _fault_after(mechanism, after, context)
            if fault:
                return f"given what is read {tuple(context.shape)}, {fault}"
    except Exception as error:
        if str(error).startswith("CUDA"):  # the GPU's fault, which another attempt may not meet
            raise
        return f"{given}it fails with {type(error).__name__}: {error}".splitlines()[0].rstrip(".: ")
    return ""


def _fault(
    mechanism: Callable[[Tensor], Any], scores: Tensor, total: str | None, sign: str | None
) -> str:
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
    if sign != "any" and (weights < 0).any():
        meant = "" if sign else '; where that is meant, state sign = "any" in its class'
        return f"some weights are negative{meant}"
    if (weights[masked] != 0).any():
        return "masked keys get a weight"
    sums = weights.detach().sum(dim=-1)
    least, most = SUMS[total or "one"]
    if not ((sums >= least - 1e-4) & (sums <= most + 1e-4)).all():
        what = f"rows sum to {float(sums.min()):.4g} to {float(sums.max()):.4g}, not to "
        free = "at most one" if sums.max() <= 1 + 1e-4 else "free"
        meant = "" if total else f'; where that is meant, state sum = "{free}" in its class'
        return f"{what}{'at most ' if total == 'at most one' else ''}1{meant}"
    if weights.requires_grad and not _finite_gradients(mechanism, weights, scores, ~masked):
        return "the gradient of its weights is not finite; mind the -inf of masked keys"
    return ""


def _fault_after(
    mechanism: Callable[[Tensor], Any], after: Callable[[Tensor], Any], context: Tensor
) -> str:
    """Say what is wrong with a mechanism's step after reading; empty where nothing is."""
    context.requires_grad_()
    found = after(context.clone())
    if not isinstance(found, Tensor) or found.shape != context.shape:
        return f"its `after` returns {tuple(getattr(found, 'shape', ()))}; return as much"
    everything = torch.ones_like(context, dtype=torch.bool)
    if not found.isfinite().all() or not _finite_gradients(mechanism, found, context, everything):
        return "its `after` is not finite, or its gradient is not; mind a query that reads nothing"
    return ""


def _finite_gradients(mechanism: object, found: Tensor, given: Tensor, where: Tensor) -> bool:
    """Whether the gradients of what was found are finite, in parameters and in what was given."""
    (found * torch.randn_like(found)).sum().backward()
    learned = mechanism.parameters() if isinstance(mechanism, nn.Module) else ()
    gradients = [parameter.grad for parameter in learned]
    gradients += [given.grad[where] if given.grad is not None else None]
    return all(one is None or bool(one.isfinite().all()) for one in gradients)


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
