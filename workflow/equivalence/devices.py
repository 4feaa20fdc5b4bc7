"""Which statements a GPU alone runs: those below a test of the device.

A test may be `x.is_cuda`, `x.is_cpu`, a comparison of `device` or `device.type` with one of the
two, `torch.cuda.is_available()`, a name that is bound once, to a test, and what `and`, `or` and
`not` make of tests.
"""

import ast
import re
from collections.abc import Mapping

from workflow.planning.modules import bound_names

Names = Mapping[str, ast.expr]
"""Names that are bound once, and what they are bound to."""

_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_DEVICE = re.compile(r"(?:.+\.)?device(?:\.type)? == (?:torch\.device\()?'(cpu|cuda)'\)?")


def block_on_gpu_alone(node: ast.AST, block: str, names: Names) -> bool:
    """Return whether a GPU alone runs a block, `body` or `orelse`, of a statement.

    Args:
        node: the statement.
        block: the name of the block.
        names: those that are bound once where the statement is.
    """
    if not isinstance(node, ast.If | ast.While) or block not in ("body", "orelse"):
        return False
    return _on_gpu_alone(node.test, block == "body", names)


def rest_on_gpu_alone(node: ast.AST, names: Names) -> bool:
    """Return whether a GPU alone runs what follows a statement; arguments as before."""
    return isinstance(node, ast.If) and (
        (_leaves(node.body) and _on_gpu_alone(node.test, False, names))
        or (_leaves(node.orelse) and _on_gpu_alone(node.test, True, names))
    )


def asks(node: ast.AST, names: Names) -> bool:
    """Return whether an expression is a test of the device; arguments as before."""
    return isinstance(node, ast.expr) and any(
        _on_gpu_alone(node, outcome, names) for outcome in (True, False)
    )


def names_in(function: ast.FunctionDef | ast.AsyncFunctionDef, outer: Names) -> Names:
    """Return what a function knows of names that are bound once."""
    parts = [*ast.walk(function)]
    stored = [
        part.id
        for part in parts
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
    ]
    own = bound_names(function)
    arguments = {part.arg for part in parts if isinstance(part, ast.arg)}
    names = {name: value for name, value in outer.items() if name not in own.union(stored)}
    for part in parts:
        match part:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                name in own and stored.count(name) == 1 and name not in arguments
            ):
                names[name] = value
    return names


def _on_gpu_alone(test: ast.expr, outcome: bool, names: Names) -> bool:
    """Return whether a test has an outcome on a GPU alone.

    Args:
        test: the expression that is tested.
        outcome: whether it is true.
        names: what names are bound to that are bound once.
    """
    match test:
        case ast.Name(id=name) if name in names:
            others = {other: value for other, value in names.items() if other != name}
            return _on_gpu_alone(names[name], outcome, others)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _on_gpu_alone(operand, not outcome, names)
        case ast.BoolOp(op=op, values=values):
            enough = any if isinstance(op, ast.And) == outcome else all
            return enough(_on_gpu_alone(value, outcome, names) for value in values)
        case ast.Attribute(attr="is_cuda" | "is_cpu" as attribute):
            return (attribute == "is_cuda") == outcome
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="cuda"), attr="is_available")):
            return outcome
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[right]):
            known = names.get(right.id, right) if isinstance(right, ast.Name) else right
            found = _DEVICE.fullmatch(f"{ast.unparse(left)} == {ast.unparse(known)}")
            same = isinstance(op, ast.Eq) == outcome
            return found is not None and (found[1] == "cuda") == same
    return False


def _leaves(block: list[ast.stmt]) -> bool:
    """Return whether nothing that follows a block is run after it."""
    match block:
        case [*_, ast.If(body=body, orelse=orelse)]:
            return _leaves(body) and _leaves(orelse)
        case [*_, last]:
            return isinstance(last, _LEAVING)
    return False
