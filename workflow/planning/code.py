"""The code behind a job: the definitions that its names reach, and a hash of what they do.

From functions and classes, its roots, every name is followed to the function, class or constant
that it means, in whatever file that stands. What a definition does is its syntax tree, in which the
names of other definitions are numbers, in the order of their discovery. So no file, folder, import
line or name of a definition counts, nor do comments, docstrings and annotations; and a definition
beside those that are reached disturbs none.

What a module does when it is imported, beyond defining names, counts for each of its definitions.
What is reached by `getattr` or another text than `module:Name` is not seen.

Only the standard library is used: a training job imports this file without Snakemake or YAML.
"""

import ast
import hashlib
import itertools
import re
from collections.abc import Iterable
from pathlib import Path

from workflow.planning.equivalents import Equivalents
from workflow.planning.modules import (
    COMPREHENSIONS,
    DEFINITIONS,
    REST,
    Module,
    assigned,
    bound_names,
    code_of,
    module_file,
)
from workflow.runtime.errors import InputError

DefinitionKey = tuple[str, str]
"""Module and name of a definition."""
DefinitionText = list[str | DefinitionKey]
"""What a definition does; where another is meant, its key stands."""

_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
IGNORED = frozenset({"ctx", "kind", "type_comment", "type_ignores", "annotation", "returns"})
_FIELDS = ("ClassVar", "InitVar", "KW_ONLY")
"""Annotations that a dataclass heeds."""


class Project:
    """The code of a project as it is now: each file is read once.

    Args:
        root: the project's folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._modules: dict[str, Module | None] = {}
        self._texts: dict[DefinitionKey, DefinitionText] = {}
        self._hashes: dict[tuple[str, ...], str] = {}

    def hash(self, roots: Iterable[str]) -> str:
        """Return 16 hex digits that change exactly when what the roots do does.

        Args:
            roots: each as `module:Name`, in an order that means something.

        Raises:
            InputError: a root has no definition in the project, or a file is not valid Python.
        """
        roots = tuple(roots)
        if roots not in self._hashes:
            self._hashes[roots] = self._hash(roots)
        return self._hashes[roots]

    def code(self, roots: Iterable[str]) -> str:
        """Return the hash that stands for the code of roots in specs and identities.

        It is that of the oldest code that is proven to do the same; arguments and errors are those
        of `hash`.
        """
        return Equivalents.read(self.root).representative(self.hash(roots))

    def _hash(self, roots: tuple[str, ...]) -> str:
        numbers: dict[DefinitionKey, int] = {}

        def number(key: DefinitionKey) -> str:
            return f"#{numbers.setdefault(key, len(numbers))}"

        first = [it if isinstance(it, str) else number(it) for it in map(self.find, roots)]
        total = hashlib.sha256(" ".join(first).encode())
        done = 0
        while done < len(numbers):
            text = self.text([*numbers][done])
            words = [piece if isinstance(piece, str) else number(piece) for piece in text]
            total.update(f"\n{''.join(words)}".encode())
            done += 1
        return total.hexdigest()[:16]

    def reached(self, roots: Iterable[str]) -> set[DefinitionKey]:
        """Return the definitions that roots reach; arguments and errors are those of `hash`."""
        reached: set[DefinitionKey] = set()
        waiting: DefinitionText = [self.find(path) for path in roots]
        while waiting:
            key = waiting.pop()
            if not isinstance(key, str) and key not in reached:
                reached.add(key)
                waiting += self.text(key)
        return reached

    def find(self, path: str) -> DefinitionKey | str:
        """Return what `module:Name` means, as `meaning` does, of a module of the project.

        Raises InputError where it means nothing.
        """
        module, _, name = path.partition(":")
        if self.module(module) is None:
            file = module.replace(".", "/")
            raise InputError(f'module "{module}" has no file {file}.py in the project')
        meaning = self.meaning(module, name)
        if meaning is None:
            raise InputError(f'module "{module}" defines no "{name}"')
        return meaning

    def meaning(self, module: str, name: str) -> DefinitionKey | str | None:
        """Return what a name of a module means, None for what Python itself or nobody defines.

        That is a definition, or as a text `module:Name` of a library, or `module.` for a whole one.
        """
        home, inner = self.module(module), f"{module}.{name}"
        if home and name in home.defined:
            return module, name
        if home and name in home.imported:
            origin, attribute = home.imported[name]
            return f"{origin}." if attribute is None else self.meaning(origin, attribute)
        if self.module(inner):
            return f"{inner}."
        if home is None:
            return f"{module}:{name}"
        return (module, REST) if REST in home.defined else None

    def module(self, name: str) -> "Module | None":
        """Return a module of the project, None for another."""
        if name not in self._modules:
            path = module_file(name, self.root)
            self._modules[name] = Module(name, path) if path else None
        return self._modules[name]

    def text(self, key: DefinitionKey) -> DefinitionText:
        """Return what a definition does."""
        if key not in self._texts:
            module = self.module(key[0])
            assert module is not None, key
            text = DefinitionText()
            statements, module.defined[key[1]] = module.defined[key[1]], []  # trees are large
            for statement in statements:
                DefinitionWriter(self, *key, statement).write(statement, frozenset(), text)
            if key[1] != REST and REST in module.defined:
                text.append((key[0], REST))
            self._texts[key] = joined_text(text)
        return self._texts[key]


class DefinitionWriter:
    """Writes what a definition does, with keys in the place of names of definitions."""

    def __init__(self, project: Project, module: str, name: str, statement: ast.stmt) -> None:
        self.project, self.module, self.name = project, module, name
        self.targets = {id(target) for target in assigned(statement)}

    def write(self, value: object, local: frozenset[str], to: DefinitionText) -> None:
        """Write a part of a syntax tree; `local` are the names that its functions have bound."""
        match value:
            case ast.Name(id=name) if id(value) in self.targets:
                to.append("@" if name == self.name else "_")
            case ast.Name() | ast.Attribute() if self._means(value, local, to):
                return
            case ast.ImportFrom(module=str(name)) if self.project.module(name):
                return  # what it names is followed where it is used
            case ast.Constant(value=str(path)) if _PATH.fullmatch(path) and self._finds(path, to):
                return
            case ast.AST():
                self._node(value, local, to)
            case list():
                to.append("[")
                for item in value:
                    self.write(item, local, to)
                    to.append(",")
                to.append("]")
            case _:
                to.append(f"{type(value).__name__}:{value!r}")

    def _node(self, node: ast.AST, local: frozenset[str], to: DefinitionText) -> None:
        to.append(f"({type(node).__name__}")
        inner = local | bound_names(node)
        if isinstance(node, COMPREHENSIONS):  # what it goes through is not its own
            self.write(node.generators[0].iter, local, to)
        for name, part in ast.iter_fields(node):
            if isinstance(node, ast.JoinedStr):  # Python 3.12 adds empty texts to some
                part = [text for text in part if getattr(text, "value", None) != ""]
            if name == "body" and isinstance(part, list):
                part = code_of(part)
            if name == "name" and part == self.name and isinstance(node, DEFINITIONS):
                part = None
            if name in IGNORED:
                part = _field_kind(part) if name == "annotation" else None
            if part is not None and part != []:
                outside = name in ("decorator_list", "args", "bases", "keywords")
                to.append(f" {name}=")
                self.write(part, local if outside else inner, to)
        to.append(")")

    def _means(
        self, node: ast.Name | ast.Attribute, local: frozenset[str], to: DefinitionText
    ) -> bool:
        """Write what a name, or a name of a module that it is of, means, if it is global."""
        meaning = self._meaning(node, local)
        if meaning is None:
            return False
        if isinstance(meaning, str) and meaning.endswith("."):
            module = self.project.module(meaning[:-1])
            names = module.defined if module else {}
            to += [meaning, *((meaning[:-1], name) for name in names)] if names else [meaning]
        else:
            to.append(meaning)
        return True

    def _meaning(self, node: ast.expr, local: frozenset[str]) -> DefinitionKey | str | None:
        if isinstance(node, ast.Name):
            own = node.id in local or isinstance(node.ctx, ast.Store)
            return None if own else self.project.meaning(self.module, node.id)
        if isinstance(node, ast.Attribute):
            whole = self._meaning(node.value, local)
            if isinstance(whole, str) and whole.endswith("."):
                return self.project.meaning(whole[:-1], node.attr)
        return None

    def _finds(self, path: str, to: DefinitionText) -> bool:
        """Write the definition that a text names, as `module:Name`, if it names one."""
        try:
            to.append(self.project.find(path))
        except InputError:
            return False
        return True


def joined_text(text: DefinitionText) -> DefinitionText:
    """Return the same with texts that follow each other in one."""
    joined: DefinitionText = []
    for plain, pieces in itertools.groupby(text, lambda piece: isinstance(piece, str)):
        group = [*pieces]
        joined += ["".join(map(str, group))] if plain else group
    return joined


def _field_kind(annotation: ast.expr | None) -> str | None:
    """Return what a dataclass heeds of an annotation, None for nothing."""
    names = {getattr(node, "id", "") for node in ast.walk(annotation)} if annotation else set()
    return next((name for name in _FIELDS if name in names), None)
