"""The stack grammar against slow loops, enumeration of all sequences, and Monte Carlo."""

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.datasets.folders import assert_chances
from workflow.datasets.grammars.stack_grammar import (
    CLOSE,
    DIGIT,
    OPEN,
    WEIGHTS,
    Grammar,
    depths,
    entropy_floor,
    illegal,
    sample,
    span_starts,
)

grammars = st.builds(
    Grammar,
    weights=st.sampled_from(list(WEIGHTS.values())),
    balanced=st.booleans(),
    max_depth=st.integers(1, 6),
    length=st.integers(1, 24),
)


def symbol_names(grammar: Grammar) -> list[str]:
    """The symbols in the order of their numbers."""
    return ["(", ")", *map(str, range(grammar.max_depth + 1))]


def choices(grammar: Grammar, position: int, depth: int) -> dict[str, float]:
    """The rules, written once more: the legal symbols' chances after `position` symbols."""
    digit, opening, closing = (grammar.weights[choice] for choice in (DIGIT, OPEN, CLOSE))
    left = grammar.length - position - 1
    options = {}
    if not grammar.balanced or depth <= left:
        options[str(depth)] = digit
    if depth < grammar.max_depth and (not grammar.balanced or depth + 1 <= left):
        options["("] = opening
    if depth > 0:
        options[")"] = closing
    total = sum(options.values())
    return {symbol: weight / total for symbol, weight in options.items()}


def enumerate_all(
    grammar: Grammar, prefix: tuple[str, ...] = (), depth: int = 0, chance: float = 1.0
) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield every sequence of the language with its probability."""
    if len(prefix) == grammar.length:
        yield prefix, chance
        return
    for symbol, p in choices(grammar, len(prefix), depth).items():
        moved = depth + {"(": 1, ")": -1}.get(symbol, 0)
        yield from enumerate_all(grammar, (*prefix, symbol), moved, chance * p)


@pytest.mark.parametrize(
    ("weights", "balanced", "expected"),
    [
        ("uniform", False, 0.9595),
        ("uniform", True, 0.8841),
        ("half_digits", False, 0.8854),
        ("half_digits", True, 0.8149),
    ],
)
def test_entropy_floor_of_the_papers_language(weights, balanced, expected):
    grammar = Grammar(WEIGHTS[weights], balanced, max_depth=4, length=30)
    assert entropy_floor(grammar) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("max_depth", [1, 3])
def test_entropy_floor_equals_that_of_all_sequences(weights, balanced, max_depth):
    grammar = Grammar(WEIGHTS[weights], balanced, max_depth, length=8)
    chances = [chance for _, chance in enumerate_all(grammar)]
    assert sum(chances) == pytest.approx(1.0)
    entropy = -sum(chance * math.log(chance) for chance in chances)
    assert entropy_floor(grammar) == pytest.approx(entropy / grammar.length, rel=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("balanced", [False, True])
def test_samples_follow_the_exact_distribution(weights, balanced):
    grammar = Grammar(WEIGHTS[weights], balanced, max_depth=2, length=5)
    expected = dict(enumerate_all(grammar))
    symbols = sample(grammar, 40_000, np.random.default_rng(1))
    written = np.array(symbol_names(grammar), dtype=object)[symbols].tolist()
    assert_chances(Counter(map(tuple, written)), expected)


@given(grammars, st.integers(0, 2**32))
@settings(max_examples=60)
def test_every_sample_obeys_the_grammar(grammar, seed):
    symbols = sample(grammar, 20, np.random.default_rng(seed))
    names = symbol_names(grammar)
    assert symbols.shape == (20, grammar.length)
    assert not illegal(grammar, symbols).any()
    for row, in_depth in zip(symbols, depths(symbols), strict=True):
        depth = 0
        for symbol, counted in zip(row, in_depth[:-1], strict=True):
            assert counted == depth
            name = names[symbol]
            if name == "(":
                depth += 1
            elif name == ")":
                depth -= 1
            else:
                assert int(name) == depth
            assert 0 <= depth <= grammar.max_depth
        assert in_depth[-1] == depth
        if grammar.balanced:
            assert depth == 0


@given(grammars, st.data())
@settings(max_examples=100)
def test_illegal_marks_what_the_rules_forbid(grammar, data):
    names = symbol_names(grammar)
    row = data.draw(
        st.lists(st.integers(0, len(names) - 1), min_size=grammar.length, max_size=grammar.length)
    )
    marks = illegal(grammar, np.array([row]))[0]
    depth = 0
    for position, symbol in enumerate(row):
        allowed = choices(grammar, position, depth)
        assert marks[position] == (names[symbol] not in allowed)
        if marks[position]:
            break  # what follows an illegal symbol has no right or wrong
        depth += {"(": 1, ")": -1}.get(names[symbol], 0)


@given(grammars, st.integers(0, 2**32))
@settings(max_examples=40)
def test_span_starts_equal_a_slow_search(grammar, seed):
    symbols = sample(grammar, 5, np.random.default_rng(seed))
    names = symbol_names(grammar)
    starts = span_starts(symbols)
    for row, found in zip(symbols, starts, strict=True):
        for t in range(grammar.length):
            digits = [j for j in range(t + 1) if names[row[j]].isdigit()]
            assert found[t] == (digits[-1] if digits else 0)
