"""The stack language's grammar: probabilities, samples, exact entropy and true dependencies.

A symbol is an opening parenthesis, a closing one, or the digit of the current depth (kinley2020
appendix; discrete2020 section 7.1). Symbols are numbered OPEN, CLOSE, then digit 0, 1, ...
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

OPEN, CLOSE, DIGIT = 0, 1, 2
STEP = np.array([1, -1, 0])  # change of depth by OPEN, CLOSE and a digit
WEIGHTS = {"uniform": (1.0, 1.0, 1.0), "half_digits": (0.25, 0.25, 0.5)}

Symbols = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Grammar:
    """A distribution over symbol sequences of one length, starting at depth 0."""

    weights: tuple[float, float, float]
    """Relative weights of OPEN, CLOSE and the digit, renormalised over the legal ones."""
    balanced: bool
    """Whether a sequence must end at depth 0."""
    max_depth: int
    length: int


def legal(grammar: Grammar) -> Mask:
    """Return which choices are allowed, (length, max_depth + 1, 3), by position and depth.

    A choice must keep the depth within 0 and max_depth and, in a balanced sequence, not above
    the number of symbols that are left to close with.
    """
    depth_after = np.arange(grammar.max_depth + 1)[:, None] + STEP
    allowed: Mask = (depth_after >= 0) & (depth_after <= grammar.max_depth)
    if not grammar.balanced:
        return np.broadcast_to(allowed, (grammar.length, *allowed.shape))
    symbols_left = np.arange(grammar.length)[::-1, None, None]
    closable: Mask = allowed & (depth_after <= symbols_left)
    return closable


def probabilities(grammar: Grammar) -> NDArray[np.float64]:
    """Return P(choice | position, depth), (length, max_depth + 1, 3); 0 where none is legal."""
    mass = legal(grammar) * np.array(grammar.weights)
    total = mass.sum(axis=-1, keepdims=True)
    chances: NDArray[np.float64] = mass / np.where(total > 0, total, 1.0)
    return chances


def entropy_floor(grammar: Grammar) -> float:
    """Return the entropy of a sequence in nats per token: no model's loss can be lower.

    The depth determines what may follow, so it is summed position by position over the exact
    distribution of the depth.
    """
    chances = probabilities(grammar)
    log_chances = np.log(chances, out=np.zeros_like(chances), where=chances > 0)
    entropy = -(chances * log_chances).sum(axis=-1)  # (length, depth)
    at_depth = np.zeros(grammar.max_depth + 1)
    at_depth[0] = 1.0
    total = 0.0
    for position in range(grammar.length):
        total += float(at_depth @ entropy[position])
        moved = at_depth[:, None] * chances[position]  # (depth, choice)
        at_depth = moved[:, DIGIT].copy()
        at_depth[1:] += moved[:-1, OPEN]
        at_depth[:-1] += moved[1:, CLOSE]
    return total / grammar.length


def sample(grammar: Grammar, count: int, generator: np.random.Generator) -> Symbols:
    """Draw `count` sequences, (count, length), all of them in step from left to right."""
    thresholds = probabilities(grammar).cumsum(axis=-1)
    uniform = generator.random((grammar.length, count))
    depth = np.zeros(count, dtype=np.int64)
    symbols = np.empty((count, grammar.length), dtype=np.int64)
    for position in range(grammar.length):
        limits = thresholds[position, depth]  # (count, 3), limits[:, 2] = 1
        choice = (uniform[position, :, None] >= limits[:, :2]).sum(axis=-1)
        symbols[:, position] = np.where(choice == DIGIT, DIGIT + depth, choice)
        depth += STEP[choice]
    return symbols


def depths(symbols: Symbols) -> Symbols:
    """Return the depth before each symbol and after the last one, (count, length + 1)."""
    after = STEP[np.minimum(symbols, DIGIT)].cumsum(axis=-1)
    return np.concatenate([np.zeros_like(after[:, :1]), after], axis=-1)


def illegal(grammar: Grammar, symbols: Symbols) -> Mask:
    """Return which symbols (count, length) the grammar could not have written where they stand."""
    choice = np.minimum(symbols, DIGIT)
    depth = depths(symbols)[:, :-1]
    inside = depth.clip(0, grammar.max_depth)
    allowed = legal(grammar)[np.arange(symbols.shape[1]), inside, choice] & (inside == depth)
    wrong: Mask = ~allowed | ((choice == DIGIT) & (symbols - DIGIT != depth))
    return wrong


def span_starts(symbols: Symbols) -> Symbols:
    """Return where the true dependency of the next symbol starts, (count, length).

    For position t it is the last digit at or before t, else 0: predicting symbol t + 1 depends on
    the symbols from there to t.
    """
    positions = np.arange(symbols.shape[1])
    return np.maximum.accumulate(np.where(symbols >= DIGIT, positions, 0), axis=-1)
