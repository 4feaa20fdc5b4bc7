"""The statements of definitions one by one: where each is, what it means, and who runs it.

A compound statement is its header alone; what it holds follows it. Docstrings, annotations and
comments are left out, and so is what never makes a number of a finished run: the arguments of an
exception that is raised, the message of an assertion, the texts of a call of `say`.
"""

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from workflow.equivalence.devices import (
    Names,
    asks,
    block_on_gpu_alone,
    names_in,
    rest_on_gpu_alone,
)
from workflow.planning.code import (
    DefinitionKey,
    DefinitionText,
    DefinitionWriter,
    Project,
    joined_text,
)
from workflow.planning.modules import REST, Module, assigned, bound_names, code_of, module_file
from workflow.runtime.errors import InputError

Form = tuple[str | DefinitionKey | None, ...]
"""What a statement means, to compare versions."""

_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
_LOCATED = (ast.stmt, ast.expr, ast.excepthandler, ast.pattern)


@dataclass(frozen=True, order=True)
class SourceSpan:
    """Where a statement is.

    Attributes:
        file: relative to the root of the project.
        first, last: lines; of a compound statement those of its header, with decorators.
        name: the definition of its module that it belongs to, empty for none.
    """

    file: str
    first: int
    last: int
    name: str


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement of a definition.

    Attributes:
        node: its syntax tree, without blocks and without what makes no number.
        place: where it is.
        nesting: the kinds of blocks around it, from the definition inwards.
        text: what it means, as `Project.text` writes it.
        writer: what wrote that.
        local: the names that functions around it have bound.
        function: the outermost function around it, or that it defines; empty for none.
        read_as: what stands for it where it is read, if it sets a constant or a class's attribute
            when it is imported: the constant's key, or the attribute's name after a point.
        reads: keys of definitions, and names of attributes after a point, that it reads.
        runs: keys of the definitions that it may lead to the running of: all that it names, but
            for classes that something is compared with (`isinstance`).
        gpu: whether a GPU alone runs it.
        asks: whether a part of it asks for the device, so that a CPU may not run all of it.
    """

    node: ast.AST
    place: SourceSpan
    nesting: tuple[str, ...]
    text: tuple[str | DefinitionKey, ...]
    writer: DefinitionWriter
    local: frozenset[str]
    function: str
    read_as: frozenset[str | DefinitionKey]
    reads: frozenset[str | DefinitionKey]
    runs: frozenset[DefinitionKey]
    gpu: bool
    asks: bool

    def form(
        self, known: Mapping[DefinitionKey, DefinitionKey], unknown: str | None = None
    ) -> Form:
        """Return what it means, with what stands for each definition in its place.

        Args:
            known: what stands for a definition that both versions have.
            unknown: what stands for any other.
        """
        pieces = (one if isinstance(one, str) else known.get(one, unknown) for one in self.text)
        return tuple(pieces)

    def rewritten(self, node: ast.AST) -> "Statement":
        """Return it with another syntax tree."""
        return replace(self, node=node, text=tuple(_written(self.writer, node, self.local)))


class Statements:
    """The statements of a project's definitions; each file is parsed once.

    Args:
        project: what says which names mean which definitions.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self._modules: dict[str, tuple[str, Module, Names]] = {}
        self._statements: dict[DefinitionKey, list[Statement]] = {}

    def of(self, key: DefinitionKey) -> list[Statement]:
        """Return the statements of a definition of the project, in the order of its source.

        Raises InputError where the module has no file or is not valid Python.
        """
        if key not in self._statements:
            file, module, names = self._module(key[0])
            found: list[Statement] = []
            for statement in module.defined[key[1]]:
                writer = DefinitionWriter(self.project, *key, statement)
                reader = _Reader(writer, file)
                found += reader.read([statement], _Around(names=names))
            self._statements[key] = found
        return self._statements[key]

    def _module(self, name: str) -> "tuple[str, Module, Names]":
        if name not in self._modules:
            path = module_file(name, self.project.root)
            if path is None:
                raise InputError(f'module "{name}" has no file in {self.project.root}')
            module = Module(name, path)
            names = {
                name: statements[0].value
                for name, statements in module.defined.items()
                if len(statements) == 1 and isinstance(statements[0], ast.Assign)
            }
            file = path.relative_to(self.project.root).as_posix()
            self._modules[name] = file, module, names
        return self._modules[name]


@dataclass(frozen=True)
class _Around:
    """What is around a statement: attributes are those of `Statement`."""

    names: Names
    holder: type[ast.AST] = ast.Module
    nesting: tuple[str, ...] = ()
    local: frozenset[str] = frozenset()
    function: str = ""
    gpu: bool = False


@dataclass(frozen=True)
class _Reader:
    """Takes the statements of a definition apart."""

    writer: DefinitionWriter
    file: str

    def read(self, block: list[ast.stmt], around: _Around) -> Iterator[Statement]:
        """Yield the statements of a block and of the blocks in it."""
        for node in code_of(block):
            inner = _inside(node, around)
            header = _header(node, around.holder)
            if header is not None:
                own = replace(around, function=inner.function)
                yield from self._statement(node, header, own)
            for name in _BLOCKS:
                nested = replace(inner, nesting=(*around.nesting, name))
                if block_on_gpu_alone(node, name, around.names):
                    nested = replace(nested, gpu=True)
                yield from self.read(getattr(node, name, []), nested)
            if rest_on_gpu_alone(node, around.names):
                around = replace(around, gpu=True)

    def _statement(self, node: ast.AST, header: ast.AST, around: _Around) -> Iterator[Statement]:
        """Yield a statement, unless it only imports what is followed where it is used."""
        text = _written(self.writer, header, around.local)
        parts = [*ast.walk(header)]
        if text:
            running = _Uncompared().visit(copy.deepcopy(header))
            yield Statement(
                node=header,
                place=self._place(node),
                nesting=around.nesting,
                text=tuple(text),
                writer=self.writer,
                local=around.local,
                function=around.function,
                read_as=self._read_as(node, around.holder),
                reads=frozenset(_keys(text)) | frozenset(_attributes(parts, around.holder)),
                runs=frozenset(_keys(_written(self.writer, running, around.local))),
                gpu=around.gpu,
                asks=any(asks(part, around.names) for part in parts),
            )

    def _place(self, node: ast.AST) -> SourceSpan:
        first = _first_line(node)
        blocks = [getattr(node, name, None) for name in ("body", "cases")]
        held = next((block[0] for block in blocks if block), None)
        last = getattr(node, "end_lineno", first) if held is None else _first_line(held) - 1
        return SourceSpan(self.file, first, max(first, last), self.writer.name)

    def _read_as(self, node: ast.AST, holder: type[ast.AST]) -> frozenset[str | DefinitionKey]:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            return frozenset()
        if holder is ast.Module and self.writer.name != REST:
            return frozenset({(self.writer.module, self.writer.name)})
        names = [target.id for target in assigned(node) if isinstance(target, ast.Name)]
        return frozenset(f".{name}" for name in names if holder is ast.ClassDef)


def _written(writer: DefinitionWriter, node: ast.AST, local: frozenset[str]) -> DefinitionText:
    text = DefinitionText()
    writer.write(node, local, text)
    return joined_text(text)


def _keys(text: DefinitionText) -> Iterator[DefinitionKey]:
    return (piece for piece in text if not isinstance(piece, str))


def _attributes(parts: Iterable[ast.AST], holder: type[ast.AST]) -> Iterator[str]:
    """Yield the attributes that expressions read, after a point; in a class, names are some."""
    for part in parts:
        read = part.target if isinstance(part, ast.AugAssign) else part
        loads = read is not part or isinstance(getattr(part, "ctx", None), ast.Load)
        if loads and isinstance(read, ast.Attribute):
            yield f".{read.attr}"
        elif loads and isinstance(read, ast.Name) and holder is ast.ClassDef:
            yield f".{read.id}"


def _inside(node: ast.AST, around: _Around) -> _Around:
    if isinstance(node, ast.ClassDef):
        return replace(around, holder=ast.ClassDef)
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return around
    return replace(
        around,
        holder=ast.FunctionDef,
        local=around.local | bound_names(node),
        function=around.function or f"{node.name}, line {node.lineno}",
        names=names_in(node, around.names),
    )


def _header(node: ast.AST, holder: type[ast.AST]) -> ast.AST | None:
    """Return a statement without blocks and without what makes no number, None if nothing is left.

    An annotation is left to a class, which may make a field of it.
    """
    match node:
        case ast.Raise(exc=raised):
            return ast.Raise(exc=raised.func if isinstance(raised, ast.Call) else raised)
        case ast.Assert(test=test):
            return ast.Assert(test=test)
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return None
        case ast.AnnAssign(value=None) if holder is not ast.ClassDef:
            return None
        case ast.AnnAssign(target=target, value=ast.expr() as value) if holder is not ast.ClassDef:
            return ast.copy_location(ast.Assign(targets=[target], value=value), node)
        case ast.Expr(
            value=ast.Call(
                func=ast.Name(id="say") | ast.Attribute(value=ast.Name(id="self"), attr="say")
            ) as call
        ):
            quiet = copy.copy(call)
            quiet.args = [_without_text(argument) for argument in call.args]
            return ast.Expr(value=quiet)
    header = copy.copy(node)
    for name in _BLOCKS:
        if hasattr(header, name):
            setattr(header, name, [])
    return header


class _Uncompared(ast.NodeTransformer):
    """Takes the classes out of calls of `isinstance` and `issubclass`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
            node.args = node.args[:1]
        return node


def _without_text(argument: ast.expr) -> ast.expr:
    match argument:
        case ast.Constant(value=str()):
            return ast.Constant(value="")
        case ast.JoinedStr(values=values):
            return ast.JoinedStr([part for part in values if not isinstance(part, ast.Constant)])
    return argument


def _first_line(node: ast.AST) -> int:
    own = node.pattern if isinstance(node, ast.match_case) else node
    parts: list[ast.AST] = [own, *getattr(node, "decorator_list", [])]
    return min(part.lineno for part in parts if isinstance(part, _LOCATED))
