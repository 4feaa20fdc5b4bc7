"""Arithmetic expressions modulo 5: sampled, written in two notations, parsed and evaluated.

An expression is a number from 0 to 4 or an operation on two expressions (kinley2020
section 5.2). A number has height 0, an operation one more than the higher of its sides. The depth
of an operation is its nesting inside the outermost parentheses: its height less one.
"""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

MODULUS = 5
OPERATORS = ("+", "*")
SYMBOLS = ("(", ")", *OPERATORS, *(str(number) for number in range(MODULUS)))
HIGHEST = 50
"""Largest height that is read; an expression as high as that is too long for any use."""


class Operation(NamedTuple):
    """A sum or a product."""

    operator: str
    left: "Expression"
    right: "Expression"


Expression = int | Operation


def height(expression: Expression) -> int:
    """Return the number of operations on the longest way from the top down to a number."""
    if isinstance(expression, int):
        return 0
    return 1 + max(height(expression.left), height(expression.right))


def value(expression: Expression) -> int:
    """Return the expression's value modulo 5."""
    if isinstance(expression, int):
        return expression
    left, right = value(expression.left), value(expression.right)
    return (left + right if expression.operator == "+" else left * right) % MODULUS


def spine(height: int, random: Random) -> Expression:
    """Draw an expression: one side has height - 1, the other any lower height, all alike likely.

    Which side is which, the operators and the numbers are drawn uniformly too.
    """
    if height == 0:
        return random.randrange(MODULUS)
    operator = random.choice(OPERATORS)
    high = spine(height - 1, random)
    other = spine(random.randrange(height), random)
    left, right = (high, other) if random.random() < 0.5 else (other, high)
    return Operation(operator, left, right)


def chain(height: int, random: Random) -> Expression:
    """Draw an expression that is computed from left to right: every right side is a number."""
    if height == 0:
        return random.randrange(MODULUS)
    operator = random.choice(OPERATORS)
    return Operation(operator, chain(height - 1, random), random.randrange(MODULUS))


SAMPLERS: dict[str, Callable[[int, Random], Expression]] = {"spine": spine, "chain": chain}


def infix(expression: Expression) -> str:
    """Write an operation as `( 4 + 1 ) * 3`, without the outermost parentheses."""
    if isinstance(expression, int):
        return str(expression)
    left, right = (
        str(side) if isinstance(side, int) else f"( {infix(side)} )"
        for side in (expression.left, expression.right)
    )
    return f"{left} {expression.operator} {right}"


def prefix(expression: Expression) -> str:
    """Write an operation as `( * ( + 4 1 ) 3 )`, with the outermost parentheses."""
    if isinstance(expression, int):
        return str(expression)
    return f"( {expression.operator} {prefix(expression.left)} {prefix(expression.right)} )"


def parse_infix(text: str) -> Operation:
    """Return the operation that `infix` wrote; raise ValueError saying what is wrong."""
    return _parse(f"( {text} )", operator_at=1)


def parse_prefix(text: str) -> Operation:
    """Return the operation that `prefix` wrote; raise ValueError saying what is wrong."""
    return _parse(text, operator_at=0)


def _parse(text: str, operator_at: int) -> Operation:
    """Return the operation in `text`, the operator being symbol `operator_at` in parentheses.

    A closing parenthesis replaces the four symbols `( a + b` or `( + a b` before it.
    """
    read: list[Expression | str] = []
    for symbol in text.split(" "):
        if symbol not in SYMBOLS:
            raise ValueError(f"{symbol!r} is none of the symbols {' '.join(SYMBOLS)}")
        if symbol != ")":
            read.append(int(symbol) if symbol.isdigit() else symbol)
            if read.count("(") > HIGHEST:
                raise ValueError(f"more than {HIGHEST} parentheses are open at once")
            continue
        parts = read[-3:]
        operator = parts.pop(operator_at) if len(parts) == 3 else None
        sides = [part for part in parts if not isinstance(part, str)]
        if read[-4:-3] != ["("] or operator not in OPERATORS or len(sides) != 2:
            raise ValueError("a pair of parentheses does not hold one operator and its two sides")
        read[-4:] = [Operation(operator, *sides)]
    if len(read) != 1 or not isinstance(read[0], Operation):
        raise ValueError("it is not one operation in parentheses")
    return read[0]
