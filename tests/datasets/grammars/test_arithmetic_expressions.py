"""Arithmetic expressions against the thesis's example, Python's own parser and exact chances."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.datasets.folders import assert_chances
from workflow.datasets.grammars.arithmetic_expressions import (
    HIGHEST,
    SAMPLERS,
    SYMBOLS,
    Expression,
    Operation,
    chain,
    height,
    infix,
    parse_infix,
    parse_prefix,
    prefix,
    spine,
    value,
)

EXAMPLE = Operation("+", Operation("*", Operation("+", 4, 1), 3), Operation("+", 2, 4))

numbers = st.integers(0, 4)
operations = st.recursive(
    numbers, lambda side: st.builds(Operation, st.sampled_from("+*"), side, side), max_leaves=20
).filter(lambda expression: not isinstance(expression, int))


def nesting(text: str) -> int:
    """Return the largest number of parentheses that are open at once."""
    opened = [text[:end].count("(") - text[:end].count(")") for end in range(len(text) + 1)]
    return max(opened)


def nodes(expression: Expression) -> list[Operation]:
    """Return every operation in an expression."""
    if isinstance(expression, int):
        return []
    return [expression, *nodes(expression.left), *nodes(expression.right)]


def leaves(expression: Expression) -> list[int]:
    """Return every number in an expression."""
    if isinstance(expression, int):
        return [expression]
    return [*leaves(expression.left), *leaves(expression.right)]


def test_the_example_of_the_thesis():
    assert infix(EXAMPLE) == "( ( 4 + 1 ) * 3 ) + ( 2 + 4 )"
    assert prefix(EXAMPLE) == "( + ( * ( + 4 1 ) 3 ) ( + 2 4 ) )"
    assert height(EXAMPLE) - 1 == 2  # "has depth 2 nesting"
    assert value(EXAMPLE) == 1
    assert parse_infix("( ( 4 + 1 ) * 3 ) + ( 2 + 4 )") == EXAMPLE
    assert parse_prefix("( + ( * ( + 4 1 ) 3 ) ( + 2 4 ) )") == EXAMPLE


@given(operations)
def test_what_is_written_is_read_back_and_means_what_python_makes_of_it(expression):
    assert parse_infix(infix(expression)) == expression
    assert parse_prefix(prefix(expression)) == expression
    assert {*infix(expression).split(" "), *prefix(expression).split(" ")} <= set(SYMBOLS)
    assert value(expression) == eval(infix(expression)) % 5
    assert height(expression) == nesting(prefix(expression)) == nesting(infix(expression)) + 1


@pytest.mark.parametrize(("parse", "write"), [(parse_infix, infix), (parse_prefix, prefix)])
@given(st.lists(st.sampled_from(SYMBOLS), max_size=9).map(" ".join))
@settings(max_examples=400)
def test_only_what_can_be_written_is_read(parse, write, text):
    try:
        expression = parse(text)
    except ValueError:
        return
    assert write(expression) == text


@given(operations, st.data())
def test_a_changed_text_is_refused_or_another_expression(expression, data):
    for parse, write in ((parse_infix, infix), (parse_prefix, prefix)):
        symbols = write(expression).split(" ")
        place = data.draw(st.integers(0, len(symbols) - 1))
        symbols[place : place + 1] = data.draw(st.lists(st.sampled_from(SYMBOLS), max_size=2))
        text = " ".join(symbols)
        try:
            found = parse(text)
        except ValueError:
            continue
        assert write(found) == text
        assert (found == expression) == (text == write(expression))


WRONG_INFIX = {
    "": "'' is none of the symbols",
    "4 + 5": r"'5' is none of the symbols \( \) \+ \* 0 1 2 3 4",
    "4 - 1": "'-' is none of the symbols",
    "4  + 1": "'' is none of the symbols",
    "4": "does not hold one operator and its two sides",
    "4 + 1 + 2": "does not hold one operator",
    "+ 4 1": "does not hold one operator",
    "( 4 + 1 )": "does not hold one operator",
    "4 + ( 1 )": "does not hold one operator",
    "( 4 + 1": "not one operation in parentheses",
    "4 + 1 ) * ( 2 + 3": "not one operation in parentheses",
    "4 + 1 ) )": "does not hold one operator",
}
WRONG_PREFIX = {
    "": "'' is none of the symbols",
    "4": "not one operation in parentheses",
    "+ 4 1": "not one operation in parentheses",
    "( 4 + 1 )": "does not hold one operator",
    "( + 4 )": "does not hold one operator",
    "( + 4 1 2 )": "does not hold one operator",
    "( + + 1 )": "does not hold one operator",
    "( + 4 1 ) ( + 4 1 )": "not one operation in parentheses",
    "( + 4 ( * 1 2 )": "not one operation in parentheses",
}


@pytest.mark.parametrize(
    ("parse", "text", "reason"),
    [(parse_infix, *row) for row in WRONG_INFIX.items()]
    + [(parse_prefix, *row) for row in WRONG_PREFIX.items()],
)
def test_what_is_wrong_gets_its_reason(parse, text, reason):
    with pytest.raises(ValueError, match=reason):
        parse(text)


def test_the_highest_expression_is_read_and_none_higher():
    highest, higher = chain(HIGHEST, Random(0)), chain(HIGHEST + 1, Random(0))
    for parse, write in ((parse_infix, infix), (parse_prefix, prefix)):
        assert parse(write(highest)) == highest
        for text in (write(higher), " ".join("(" * 100_000)):
            with pytest.raises(ValueError, match="more than 50 parentheses are open at once"):
                parse(text)


@pytest.mark.parametrize("sampler", SAMPLERS)
@given(st.integers(0, 7), st.integers(0, 2**32))
def test_samples_have_the_height_that_is_asked_for(sampler, wanted, seed):
    expression = SAMPLERS[sampler](wanted, Random(seed))
    assert height(expression) == wanted
    assert expression == SAMPLERS[sampler](wanted, Random(seed))
    for node in nodes(expression):
        sides = [height(node.left), height(node.right)]
        assert max(sides) == height(node) - 1
        if sampler == "chain":
            assert sides[1] == 0
    assert set(leaves(expression)) <= {0, 1, 2, 3, 4}


def shape(expression: Expression) -> str:
    """Return an expression without its operators and numbers."""
    if isinstance(expression, int):
        return "."
    return f"({shape(expression.left)}{shape(expression.right)})"


def shapes(high: int) -> dict[str, float]:
    """Return the chance of every shape of a spine of a height, from the rule."""
    if high == 0:
        return {".": 1.0}
    chances: Counter = Counter()
    for spine_side, first in shapes(high - 1).items():
        for other_height in range(high):
            for other_side, second in shapes(other_height).items():
                chances[f"({spine_side}{other_side})"] += first * second / high / 2
                chances[f"({other_side}{spine_side})"] += first * second / high / 2
    return dict(chances)


def test_the_shapes_of_a_spine_by_hand():
    assert shapes(2) == {"((..).)": 0.25, "(.(..))": 0.25, "((..)(..))": 0.5}


@pytest.mark.parametrize("high", [1, 2, 3])
def test_spines_have_the_shapes_of_the_rule(high):
    random = Random(1)
    counts = Counter(shape(spine(high, random)) for _ in range(8000))
    assert_chances(counts, shapes(high))


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_operators_and_numbers_are_uniform(sampler):
    random = Random(2)
    counts = Counter(infix(SAMPLERS[sampler](1, random)) for _ in range(10_000))
    written = [f"{a} {o} {b}" for a in range(5) for o in "+*" for b in range(5)]
    assert_chances(counts, dict.fromkeys(written, 1 / 50))
    high = [SAMPLERS[sampler](4, random) for _ in range(2000)]
    leaf = [number for expression in high for number in leaves(expression)]
    assert_chances(Counter(leaf), dict.fromkeys(range(5), 0.2))
    operators = [node.operator for expression in high for node in nodes(expression)]
    assert_chances(Counter(operators), {"+": 0.5, "*": 0.5})


def values(sampler: str, highest: int) -> list[list[float]]:
    """Return the exact chance of every value at heights 0 to `highest`, from the rules."""
    chances = [[0.2] * 5]
    for high in range(1, highest + 1):
        if sampler == "spine":
            other = [sum(row[v] for row in chances) / high for v in range(5)]
        else:
            other = chances[0]
        result = [0.0] * 5
        for a in range(5):
            for b in range(5):
                result[(a + b) % 5] += chances[-1][a] * other[b] / 2
                result[a * b % 5] += chances[-1][a] * other[b] / 2
        chances.append(result)
    return chances


@pytest.mark.parametrize(
    ("sampler", "majority"), [("spine", (34.9, 36.0, 38.5)), ("chain", (29.1, 31.4, 31.9))]
)
def test_values_follow_their_exact_chances(sampler, majority):
    exact = values(sampler, 4)
    random = Random(3)
    for depth, trial in enumerate(majority, start=1):
        draws = Counter(value(SAMPLERS[sampler](depth + 1, random)) for _ in range(6000))
        assert_chances(draws, dict(enumerate(exact[depth + 1])))
        # The trial drew 1000 expressions of each depth: a standard error of 1.5 points.
        assert 100 * max(exact[depth + 1]) == pytest.approx(trial, abs=2.5)
