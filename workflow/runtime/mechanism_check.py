"""Before training: what an attention mechanism has to be, tried on scores.

`docs/own_mechanism.md` has the rules.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from model.batches.corpus import Corpus
from model.batches.pairs import pair_lengths
from model.build import Node, build, locate
from workflow.runtime.mechanism_repeats import (
    CHANGES,
    Repeated,
    after_takes_states,
    called,
    others,
    same,
    saved,
)
from workflow.runtime.process_state import ProcessState

SHAPES = ((2, 5, 7), (3, 1, 1), (2, 40, 40))
"""B, T and S of the scores that a mechanism is tried on; H is the model's."""
MOST = 2**20
"""Most scores of a text that it is tried on in the lengths of its run."""
OPEN = 4
"""The keys that the second text of a batch has; the others are masked."""
CPU = torch.device("cpu")

SUMS = {"one": (1.0, 1.0), "at most one": (-math.inf, 1.0), "free": (-math.inf, math.inf)}
"""What a mechanism's `sum` may state, with the least and the largest sum of a row."""
SIGNS = ("positive", "any")
"""What its `sign` may state."""
INFERENCE = "it computes in torch.inference_mode, which training can't go through; leave that out"
LARGEST = torch.finfo(torch.float32).max ** 0.5
SQUARED = "its square, which the optimizer keeps, is infinite; bound the gradient"
READER = "model.architectures.context_transformer:ContextTransformer"
READER_OF_STATES = "model.architectures.state_transformer:StateTransformer"


def check_mechanisms(model: Node, device: torch.device = CPU, corpus: Corpus | None = None) -> None:
    """Try every normalizer that a model's node names, as it is in training and afterwards.

    What its rows are, it may state as attributes: `sum`, one of `SUMS` and "one" by default, and
    `sign`, one of `SIGNS` and "positive" by default. It may have a method `after`, from what is
    read with its weights, (B, H, T, K), to as much, with the queries' states, (B, T, D), as a
    second argument if it takes one; and a method `before`, from scores and the states of queries
    and keys, to as many scores.

    Args:
        model: the node, with arguments; `heads` and `width` stand beside `normalizer`, or the
            normalizer of one place, such as `cross_normalizer`. A model without `heads` has one.
        device: to try them on.
        corpus: with it they are tried in its lengths, too, and where its texts have no label no
            query may know of later ones, but for those of an `encoder_normalizer`.

    Raises:
        ValueError: a normalizer can't be built or returns no attention weights, or a row depends
            on what it must not; the sentence names it.
    """
    for name, node, place in _normalizers(model):
        labelled = corpus is None or "label" in corpus.split("train").columns
        causal = not labelled and name != "encoder_normalizer"
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(0)
            fault = _first_fault(node, place, causal, _lengths(corpus), device)
        if fault:
            raise ValueError(
                f"{node['path']} is no attention mechanism: {fault}. It maps scores "
                f"(B, H, T, S), masked keys at -inf, to weights (docs/own_mechanism.md)."
            )


def _normalizers(node: Any) -> Iterator[tuple[str, Node, Node]]:
    """Yield the normalizers anywhere below a node, each with its name and where it stands."""
    if isinstance(node, Mapping):
        for name, value in node.items():
            if name.endswith("normalizer") and isinstance(value, Mapping):
                yield name, value, node
            yield from _normalizers(value)


def _lengths(corpus: Corpus | None) -> tuple[int, int]:
    """T and S of the longest texts of a corpus; (1, 1) without one."""
    if corpus is None:
        return 1, 1
    split = corpus.split("train")
    if "source" in split.columns:
        source, target = pair_lengths(split).max(axis=0)
        return int(target), int(source)
    longest = int(split.lengths.max())
    return longest, longest


def _first_fault(
    node: Node, place: Node, causal: bool, lengths: tuple[int, int], device: torch.device
) -> str:
    """Say what is wrong with a mechanism, and with which scores; empty where nothing is."""
    state = ProcessState()
    try:
        return _tried(node, place, causal, lengths, device, state)
    finally:
        state.restore()


def _tried(
    node: Node,
    place: Node,
    causal: bool,
    lengths: tuple[int, int],
    device: torch.device,
    state: ProcessState,
) -> str:
    """Say what is wrong, as `_first_fault`; `state` is what the process's has to be."""
    when = ""
    heads = place.get("heads", 1)
    most = math.isqrt(MOST // heads)
    shapes: list[tuple[int, ...]] = [*SHAPES]
    if max(lengths) > max(SHAPES[-1]):
        shapes.append((2, *(min(length, most) for length in lengths)))
    try:
        part, mechanism = locate(node["path"]), build(node)
        stated = [getattr(part, name, None) for name in ("sum", "sign")]
        for name, value, allowed in zip(("sum", "sign"), stated, (SUMS, SIGNS), strict=True):
            if value is not None and value not in allowed:
                return f"its {name} is {value!r}; state one of {', '.join(map(repr, allowed))}"
        if any(map(is_lazy, mechanism.parameters() if isinstance(mechanism, nn.Module) else ())):
            return "its parameters have no size before it is called; build them with their sizes"
        when = "copied for each layer, "
        copy.deepcopy(mechanism)
        when = ""
        steps = [step for step in ("before", "after") if hasattr(mechanism, step)]
        reader = locate(place["path"]) if steps else None
        if "before" in steps or after_takes_states(mechanism):
            if not getattr(reader, "reads_states", False):
                return (
                    f"it has a step that takes states, which {place['path']} does not give; use "
                    f"{READER_OF_STATES}"
                )
        elif steps and not getattr(reader, "reads_after", False):
            return f"it has a step after reading, which {place['path']} leaves out; use {READER}"
        for (batch, queries, keys), training in product(shapes, (True, False)):
            if isinstance(mechanism, nn.Module):
                mechanism.to(device).train(training)
            before_call = saved(mechanism)
            scores = torch.randn(batch, heads, queries, keys, device=device)
            when = f"given scores {tuple(scores.shape)} {'in' if training else 'after'} training, "
            fault = _fault(mechanism, scores, training, *stated)
            if getattr(mechanism, "training", training) != training:
                fault = "it switches training on or off (train, eval); leave that to the run"
            fault = state.change() or fault
            if fault:
                return when + fault
            if causal and queries == keys:
                scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)
            fault = Repeated(node, mechanism, "__call__", training).fault(scores, causal)
            fault = state.change() or fault
            if fault:
                return when + fault
            for step in steps:
                width = place.get("width", heads) // heads
                context = torch.randn(batch, heads, queries, width, device=device)
                context[:, :, -1] = 0  # of a query that attends to nothing
                fault = _fault_of_step(mechanism, step, context.clone()) or Repeated(
                    node, mechanism, step, training
                ).fault(context, causal)
                fault = state.change() or fault
                if fault:
                    what = "what is read" if step == "after" else "states of"
                    return f"given {what} {tuple(context.shape)}, {fault}"
            if not training and not same(before_call, saved(mechanism)):
                return when + CHANGES
    except (Exception, SystemExit) as error:
        if str(error).startswith("CUDA"):  # the GPU's fault, which another attempt may not meet
            raise
        return f"{when}it fails with {type(error).__name__}: {error}".splitlines()[0].rstrip(".: ")
    return ""


def _fault(
    mechanism: Callable[[Tensor], Any],
    scores: Tensor,
    training: bool,
    total: str | None,
    sign: str | None,
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
    if weights.dtype != scores.dtype:
        return f"its weights are {weights.dtype}, and those of {scores.dtype} are read"
    finite = weights.isfinite().all(-1)
    if not finite.all():
        if finite[1].any():
            return (
                "some rows are not finite: a query of padding may have no key that the mechanism "
                "lets it see; give it weights of 0"
            )
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
    if weights.is_inference():
        return INFERENCE
    learned = [*mechanism.parameters()] if isinstance(mechanism, nn.Module) else []
    if any(all(leaf is not one for one in (scores, *learned)) for leaf in _leaves(weights)):
        return (
            "it learns a parameter that is none of its own, which is neither trained nor saved; "
            "make it an attribute of its class (nn.Parameter, nn.ParameterList)"
        )
    largest = _largest_gradient(mechanism, weights, scores, ~masked) if weights.requires_grad else 0
    if not math.isfinite(largest):
        return "the gradient of its weights is not finite; mind the -inf of masked keys"
    if largest > LARGEST:
        return f"the gradient of its weights reaches {largest:.0e}; {SQUARED}"
    reached = scores.grad.any() if scores.grad is not None else bool(learned)
    lost = not weights.requires_grad or not reached
    if training and lost and _depends(mechanism, scores.detach()):
        return (
            "its weights change with the scores and pass no gradient to them, so what makes the "
            "scores is not trained; leave out no_grad and detach, or add a soft form whose "
            "gradient passes: hard + soft - soft.detach()"
        )
    return ""


def _leaves(tensor: Tensor) -> Iterator[Tensor]:
    """Yield the tensors that were not computed and that a gradient of `tensor` reaches."""
    if tensor.requires_grad and tensor.grad_fn is None:
        yield tensor
    waiting, seen = [tensor.grad_fn], set()
    while waiting:
        step = waiting.pop()
        if step is None or step in seen:
            continue
        seen.add(step)
        if hasattr(step, "variable"):
            yield step.variable
        waiting += [before for before, _ in step.next_functions]


def _fault_of_step(mechanism: Callable[[Tensor], Any], step: str, context: Tensor) -> str:
    """Say what is wrong with a mechanism's step, `before` or `after`; empty where nothing is."""
    context.requires_grad_()
    answer = called(mechanism, step, context.clone())
    queries = context.shape[2]
    shape = context.shape if step == "after" else (*context.shape[:3], queries)
    if not isinstance(answer, Tensor) or answer.shape != shape:
        return f"its `{step}` returns {tuple(getattr(answer, 'shape', ()))}; return as much"
    if answer.is_inference():
        return f"its `{step}`: {INFERENCE}"
    if step == "before":
        later = torch.ones(queries, queries, dtype=torch.bool, device=context.device).triu(1)
        if (answer[..., later] != -torch.inf).any():
            return "its `before` lets a query see masked keys; leave their scores at -inf"
        answer = answer.masked_fill(answer == -torch.inf, 0)
    everything = torch.ones_like(context, dtype=torch.bool)
    finite = bool(answer.isfinite().all())
    learned = answer.requires_grad
    largest = _largest_gradient(mechanism, answer, context, everything) if learned else 0
    if not finite or not math.isfinite(largest):
        mind = "a query that reads nothing" if step == "after" else "the -inf of masked keys"
        return f"its `{step}` is not finite, or its gradient is not; mind {mind}"
    return f"the gradient of its `{step}` reaches {largest:.0e}; {SQUARED}" * (largest > LARGEST)


def _depends(mechanism: Callable[[Tensor], Tensor], scores: Tensor) -> bool:
    """Whether other scores (B, H, T, S) get other weights, with the same random numbers."""
    other, answers = others(scores, 1), []
    for tried in (scores, other):
        torch.manual_seed(1)
        answers.append(mechanism(tried.clone()))
    return not torch.equal(*answers)


def _largest_gradient(mechanism: object, answer: Tensor, values: Tensor, where: Tensor) -> float:
    """The largest gradient of what was found, to parameters and to what was given."""
    (answer * torch.randn_like(answer)).sum().backward()
    learned = mechanism.parameters() if isinstance(mechanism, nn.Module) else ()
    gradients = [parameter.grad for parameter in learned]
    gradients += [values.grad[where] if values.grad is not None else None]
    sizes = [float(one.abs().max()) for one in gradients if one is not None and one.numel()]
    return math.nan if any(map(math.isnan, sizes)) else max(sizes, default=0.0)
