"""Before training: calls of an attention mechanism again, on what may change nothing of its answer.

`docs/own_mechanism.md` has the rules.
"""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from model.build import Node, build
from model.layers.attention import causal_mask, merge_heads

LARGE = 100.0
"""The size of scores that no threshold of a mechanism is beyond."""
FUTURES = ((0.1, 10.0), (LARGE, 1.0))
"""Sizes of what later queries change to, in the two texts of a batch; one call tries a pair."""
CHANGES = (
    "it changes what it keeps, such as a buffer, so what a text gets depends on the texts before; "
    "change that in training alone (self.training)"
)


@dataclass
class Repeated:
    """Calls a mechanism, or its step after reading, again: on what may change nothing, bit for bit.

    Each call is of a copy that is built anew and takes over what is saved of the mechanism, as a
    run does that is resumed.
    """

    node: Node
    mechanism: Any
    method: str
    training: bool

    def fault(self, values: Tensor, causal: bool) -> str:
        """Say on what the rows of an answer to (B, H, T, ...) depend; empty where on nothing.

        Args:
            values: scores, or what is read; masked keys may be at -inf.
            causal: whether no query may know of later ones.
        """
        self.saved = saved(self.mechanism)
        answer, after_one = self._of_copy(values), _random_state(values.device)
        torch.manual_seed(1)
        draws = not torch.equal(after_one, _random_state(values.device))
        if draws and not self.training:
            return "it draws random numbers; do so in training alone (self.training)"
        # After training a second call has to give the same; in training a buffer may change it.
        first = self._of_copy(values, 2) if self.training else self._of(self.mechanism, values, 2)
        if torch.equal(after_one, _random_state(values.device)):
            return "it sets the seed of torch's random numbers"
        counts = {*_counts(self.mechanism)}
        second = self._of(self.mechanism, values)
        changed = {*_counts(self.mechanism)} - counts
        if changed:
            return (
                f"it keeps {min(changed)[0]}, which changes with each call and is not saved; keep "
                "that in a buffer (register_buffer), or do without"
            )
        if not self.training and not torch.equal(first, second):
            return CHANGES
        if not torch.equal(second, answer):
            return (
                "what it returns depends on earlier calls by something that is not saved; keep "
                "that in a buffer (register_buffer), or do without"
            )
        for text, size in product((0, 1), (0.1, 10)):
            other = others(values, size)
            other[text] = values[text]
            if not torch.equal(self._of_copy(other)[text], answer[text]):
                return "what a text gets changes with another text of its batch"
        if not draws and not _close(self._of_copy(values.flip(0)), answer.flip(0)):
            return "what a text gets changes with its place in the batch"
        # In training fewer texts draw other random numbers.
        if not self.training and not _close(self._of_copy(values[:1]), answer[:1]):
            return "what a text gets changes with the number of texts in its batch"
        beginnings = {1, values.shape[2] // 2 + 1} if causal and values.shape[2] > 1 else ()
        for seen, sizes in product(beginnings, FUTURES):
            other = others(values, values.new_tensor(sizes).view(-1, 1, 1, 1))
            other[:, :, :seen] = values[:, :, :seen]
            if not torch.equal(self._of_copy(other)[:, :, :seen], answer[:, :, :seen]):
                return "what a query gets changes with later ones: it sees the future"
        square = values.shape[2] == values.shape[3] > 1
        if self.method == "__call__" and square and not self.training:
            return self._fault_of_padding(values)
        return ""

    def _fault_of_padding(self, scores: Tensor) -> str:
        """Say whether a text gets other weights where padding makes it longer."""
        real = scores.shape[3] // 2
        padded = scores.clone()
        padded[1, :, real:] *= LARGE
        padded[..., real:] = -torch.inf
        answer, alone = self._of_copy(padded), self._of_copy(scores[..., :real, :real])
        if not _close(answer[..., :real, :real], alone):
            return "what a text gets changes with the padding behind it"
        return ""

    def _of_copy(self, values: Tensor, seed: int = 1) -> Tensor:
        """Return the answer of a copy that takes over what is saved."""
        fresh = build(self.node)
        if isinstance(fresh, nn.Module):
            fresh.to(values.device).load_state_dict(self.saved)
            fresh.train(self.training)
        return self._of(fresh, values, seed)

    def _of(self, mechanism: Any, values: Tensor, seed: int = 1) -> Tensor:
        """Return the answer of a mechanism, whose random numbers begin at a seed."""
        torch.manual_seed(seed)
        with torch.no_grad():
            answer: Tensor = called(mechanism, self.method, values.clone())
        return answer


def called(mechanism: Any, method: str, values: Tensor) -> Tensor:
    """Return the answer of a mechanism, or of a step of it, to (B, H, T, ...).

    A step is given what is read, (B, H, T, K); its numbers side by side are the states, (B, T, D).
    """
    if method == "before":
        scores = values.new_zeros(*values.shape[:3], values.shape[2])
        states = merge_heads(values)
        mask = causal_mask(values.shape[2], values.device)
        answer: Tensor = mechanism.before(scores + mask, states, states)
    elif method == "after":
        states_too = (merge_heads(values),) if after_takes_states(mechanism) else ()
        answer = mechanism.after(values, *states_too)
    else:
        answer = mechanism(values)
    return answer


def after_takes_states(mechanism: Any) -> bool:
    """Whether the step after reading has a second argument.

    `model.layers.steps` answers it too, which the hash of most runs does not reach.
    """
    after = getattr(mechanism, "after", None)
    return after is not None and len(inspect.signature(after).parameters) > 1


def _close(first: Tensor, second: Tensor) -> bool:
    """Whether two answers are the same but for rounding."""
    return torch.allclose(first, second, rtol=1e-3, atol=1e-4)


def saved(mechanism: object) -> dict[str, Any]:
    """A copy of what is saved of a mechanism."""
    return copy.deepcopy(mechanism.state_dict()) if isinstance(mechanism, nn.Module) else {}


def same(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether the tensors that are saved are the same; those that are no numbers stay so."""
    pairs = [(one, after.get(name)) for name, one in before.items() if isinstance(one, Tensor)]
    return before.keys() == after.keys() and all(
        isinstance(other, Tensor)
        and one.shape == other.shape
        and bool(((one == other) | ((one != one) & (other != other))).all())
        for one, other in pairs
    )


def _counts(mechanism: object) -> Iterator[tuple[str, str]]:
    """Yield numbers and words that a mechanism keeps and that are not saved, each with its name."""
    owners = mechanism.modules() if isinstance(mechanism, nn.Module) else [mechanism]
    for owner in owners:
        if type(owner).__dict__.get("get_extra_state"):  # which saves them
            continue
        part = owner.func if isinstance(owner, partial) else owner
        places = [part, *type(part).__mro__, sys.modules.get(part.__module__)]
        entries = [entry for place in places for entry in getattr(place, "__dict__", {}).items()]
        for name, value in entries:
            if isinstance(value, int | float | str):
                yield name, repr(value)


def others(values: Tensor, size: float | Tensor) -> Tensor:
    """Other numbers of a size, or a size a text, in the place of those given, and masked alike."""
    return torch.randn_like(values).mul_(size).masked_fill_(values == -torch.inf, -torch.inf)


def _random_state(device: torch.device) -> Tensor:
    return torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.get_rng_state()
