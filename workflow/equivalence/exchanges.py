"""What was exchanged between two statements that are otherwise the same.

That is a constant, an operator, a comparison or a sign. Names that a function binds may differ,
too, where each is renamed alike in the whole function.
"""

import ast
import copy
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from workflow.equivalence.statements import Statement
from workflow.planning.code import IGNORED, DefinitionKey, DefinitionText
from workflow.planning.modules import DEFINITIONS, bound_names

Counterparts = Mapping[DefinitionKey, DefinitionKey]
"""What stands for a definition when two versions are compared."""
Exchange = tuple[str, str]
"""An expression of the old version and what the new one has in its place."""


class Renamed:
    """Which names of functions became which."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], set[Exchange]] = defaultdict(set)

    def agrees(self, one: Statement, other: Statement, names: Sequence[Exchange]) -> bool:
        """Return whether names of two statements fit those before, and keep them if they do."""
        known = self._names[one.function, other.function]
        both = known | {*names}
        if not all(len({*side}) == len(both) for side in zip(*both, strict=True)):
            return False
        known |= both
        return True


class _Scope(NamedTuple):
    """Names that are bound: by functions around a statement, and by expressions within it."""

    functions: frozenset[str]
    expressions: frozenset[str] = frozenset()

    def inside(self, node: ast.AST) -> "_Scope":
        """Return the names that are bound inside a node, too."""
        if isinstance(node, ast.expr):
            return self._replace(expressions=self.expressions | bound_names(node))
        return self._replace(functions=self.functions | bound_names(node))

    @property
    def all(self) -> frozenset[str]:
        return self.functions | self.expressions


@dataclass
class Comparison:
    """Compares two statements.

    Attributes:
        known: what stands for definitions of the old and of the new version.
        values: what was exchanged.
        names: the names that functions bind, of both.
    """

    known: tuple[Counterparts, Counterparts]
    values: list[Exchange] = field(default_factory=list)
    names: list[Exchange] = field(default_factory=list)

    def holds(self, one: Statement, other: Statement) -> bool:
        """Return whether two statements are the same but for values and names, and note these.

        Of an exception that is raised the type is a value.
        """
        self._writers = one.writer, other.writer
        raised = [each.node.exc for each in (one, other) if isinstance(each.node, ast.Raise)]
        if len(raised) == 2:
            if one.form(self.known[0]) != other.form(self.known[1]):
                old, new = (ast.unparse(each) if each else "" for each in raised)
                self.values.append((old, new))
            return True
        return self._same(one.node, other.node, _Scope(one.local), _Scope(other.local))

    def _same(self, one: object, other: object, scope: _Scope, other_scope: _Scope) -> bool:
        match one, other:
            case ast.UnaryOp(), ast.UnaryOp():
                return self._parts(one, other, scope, other_scope)
            case ast.UnaryOp(operand=operand), ast.expr():
                self._exchange(one, other)
                return self._same(operand, other, scope, other_scope)
            case ast.expr(), ast.UnaryOp(operand=operand):
                self._exchange(one, other)
                return self._same(one, operand, scope, other_scope)
            case ((ast.Name() | ast.Attribute()), (ast.Name() | ast.Attribute())):
                meanings = self._meaning(0, one, scope), self._meaning(1, other, other_scope)
                if meanings != (None, None):
                    return meanings[0] == meanings[1]
                if isinstance(one, ast.Name) and isinstance(other, ast.Name):
                    return self._same_name(one.id, other.id, scope, other_scope)
                return self._parts(one, other, scope, other_scope)
            case ast.Constant(), ast.Constant():
                if self._written(0, one) != self._written(1, other):
                    self._exchange(one, other)
                return True
            case ast.AST(), ast.AST():
                return self._parts(one, other, scope, other_scope)
            case list(), list():
                return len(one) == len(other) and all(
                    self._same(*pair, scope, other_scope) for pair in zip(one, other, strict=True)
                )
        return one == other

    def _parts(self, one: ast.AST, other: ast.AST, scope: _Scope, other_scope: _Scope) -> bool:
        """Compare the fields of two nodes."""
        if type(one) is not type(other):
            return False
        scope, other_scope = scope.inside(one), other_scope.inside(other)
        for name, part in ast.iter_fields(one):
            counterpart = getattr(other, name)
            if name in ("op", "ops"):
                if _kinds(part) != _kinds(counterpart):
                    self._exchange(one, other)
            elif isinstance(one, ast.arg) and name == "arg":
                if not self._same_name(part, counterpart, scope, other_scope):
                    return False
            elif name == "name" and isinstance(one, (*DEFINITIONS, ast.ExceptHandler)):
                own = part, counterpart
                outermost = own == tuple(writer.name for writer in self._writers)
                if not outermost and not self._same_name(*own, scope, other_scope):
                    return False
            elif name not in IGNORED and not self._same(part, counterpart, scope, other_scope):
                return False
        return True

    def _same_name(self, name: str, other: str, scope: _Scope, other_scope: _Scope) -> bool:
        if name not in scope.all or other not in other_scope.all:
            return name == other
        if name not in scope.expressions and other not in other_scope.expressions:
            self.names.append((name, other))
        return True

    def _exchange(self, one: ast.AST, other: ast.AST) -> None:
        self.values.append((ast.unparse(one), ast.unparse(other)))

    def _meaning(self, side: int, node: ast.expr, scope: _Scope) -> DefinitionKey | str | None:
        meaning = self._writers[side]._meaning(node, scope.all)
        return self.known[side].get(meaning, "") if isinstance(meaning, tuple) else meaning

    def _written(self, side: int, node: ast.Constant) -> list[str | DefinitionKey | None]:
        text = DefinitionText()
        self._writers[side].write(node, frozenset(), text)
        return [
            self.known[side].get(piece) if isinstance(piece, tuple) else piece for piece in text
        ]


def _kinds(operators: ast.AST | list[ast.AST]) -> list[type[ast.AST]]:
    return [type(each) for each in (operators if isinstance(operators, list) else [operators])]


def masked(statement: Statement) -> Statement:
    """Return a statement whose constants, operators, comparisons and signs are all the same."""
    return statement.rewritten(_Mask().visit(copy.deepcopy(statement.node)))


class _Mask(ast.NodeTransformer):
    """Puts one constant, operator and comparison in the place of all."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Constant(value=0)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        masked: ast.expr = self.visit(node.operand)
        return masked

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        node.op = ast.Add()
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        node.op = ast.Add()
        return self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        node.op = ast.And()
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        node.ops = [ast.Eq() for _ in node.ops]
        return self.generic_visit(node)
