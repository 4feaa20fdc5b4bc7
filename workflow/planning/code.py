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
from workflow.runtime.errors import InputError

DefinitionKey = tuple[str, str]
"""Module and name of a definition."""
DefinitionText = list[str | DefinitionKey]
"""What a definition does; where another is meant, its key stands."""

REST = ""
"""In the place of a name: what a module does when it is imported, beyond defining names."""
_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IGNORED = frozenset({"ctx", "kind", "type_comment", "type_ignores", "annotation", "returns"})
_FIELDS = ("ClassVar", "InitVar", "KW_ONLY")
"""Annotations that a dataclass heeds."""


def module_file(module: str, root: Path) -> Path | None:
    """Return the file under `root` that defines `module`, or None for any other module."""
    stem = root.joinpath(*module.split("."))
    paths = (stem.with_name(f"{stem.name}.py"), stem / "__init__.py")
    return next((path for path in paths if path.is_file()), None)


def parse(path: Path) -> ast.Module:
    """Return the syntax tree of a Python file; InputError when it is not valid Python."""
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except SyntaxError as error:
        raise InputError(f"{path}, line {error.lineno}: not valid Python: {error.msg}") from None


class Project:
    """The code of a project as it is now: each file is read once.

    Args:
        root: the project's folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._modules: dict[str, _Module | None] = {}
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

        first = [one if isinstance(one, str) else number(one) for one in map(self.find, roots)]
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

    def module(self, name: str) -> "_Module | None":
        """Return a module of the project, None for another."""
        if name not in self._modules:
            path = module_file(name, self.root)
            self._modules[name] = _Module(name, path) if path else None
        return self._modules[name]

    def text(self, key: DefinitionKey) -> DefinitionText:
        """Return what a definition does."""
        if key not in self._texts:
            module = self.module(key[0])
            assert module is not None, key
            text = DefinitionText()
            statements, module.defined[key[1]] = module.defined[key[1]], []  # trees are large
            for statement in statements:
                _Writer(self, *key, statement).write(statement, frozenset(), text)
            if key[1] != REST and REST in module.defined:
                text.append((key[0], REST))
            self._texts[key] = _joined(text)
        return self._texts[key]


class _Module:
    """What the names of a module mean.

    Attributes:
        defined: the statements that define each name; under `REST` those that define none.
        imported: module and name behind each imported name, the latter None for a whole module.
    """

    def __init__(self, name: str, path: Path) -> None:
        tree = parse(path)
        package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        self.defined: dict[str, list[ast.stmt]] = {}
        self.imported: dict[str, tuple[str, str | None]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    whole = alias.name if alias.asname else alias.name.partition(".")[0]
                    self.imported[alias.asname or whole] = (whole, None)
            elif isinstance(node, ast.ImportFrom):
                above = package[: len(package) - node.level + 1] if node.level else []
                origin = ".".join([*above, *filter(None, [node.module])])
                for alias in node.names:
                    if alias.name == "*" and origin != "__future__":
                        where = f"{path}, line {node.lineno}"
                        raise InputError(f"{where}: import * hides what is used; import it by name")
                    self.imported[alias.asname or alias.name] = (origin, alias.name)
        for statement in _code_of(tree.body):
            for bound in _defines(statement):
                self.defined.setdefault(bound, []).append(statement)


def _defines(statement: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines; `REST` where it does more."""
    match statement:
        case ast.Import() | ast.ImportFrom() | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return []
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
    names = [node.id for node in _targets(statement) if isinstance(node, ast.Name)]
    return names if len(names) == len(_targets(statement)) > 0 else [REST]


def _targets(statement: ast.stmt) -> list[ast.expr]:
    """Return what a statement assigns to, tuples taken apart."""
    match statement:
        case ast.Assign(targets=targets):
            waiting: list[ast.expr] = [*targets]
        case ast.AnnAssign(target=annotated):
            waiting = [annotated]
        case _:
            waiting = []
    flat: list[ast.expr] = []
    while waiting:
        target = waiting.pop()
        inner = target.elts if isinstance(target, ast.Tuple | ast.List) else []
        waiting += inner
        flat += [] if inner else [target]
    return flat


class _Writer:
    """Writes what a definition does, with keys in the place of names of definitions."""

    def __init__(self, project: Project, module: str, name: str, statement: ast.stmt) -> None:
        self.project, self.module, self.name = project, module, name
        self.targets = {id(target) for target in _targets(statement)}

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
        inner = local | _bound(node)
        if isinstance(node, _COMPREHENSIONS):  # what it goes through is not its own
            self.write(node.generators[0].iter, local, to)
        for name, part in ast.iter_fields(node):
            if isinstance(node, ast.JoinedStr):  # Python 3.12 adds empty texts to some
                part = [one for one in part if getattr(one, "value", None) != ""]
            if name == "body" and isinstance(part, list):
                part = _code_of(part)
            if name == "name" and part == self.name and isinstance(node, _DEFINITIONS):
                part = None
            if name in _IGNORED:
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


def _bound(node: ast.AST) -> frozenset[str]:
    """Return the names that a function or a comprehension binds for itself and what is in it."""
    if isinstance(node, _COMPREHENSIONS):
        targets = [one.target for one in node.generators]
        return frozenset(
            n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)
        )
    if not isinstance(node, _FUNCTIONS):
        return frozenset()
    names = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    waiting: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
    while waiting:
        part = waiting.pop()
        if isinstance(part, _DEFINITIONS):
            names.add(part.name)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            names.add(part.id)
        elif (isinstance(part, ast.ExceptHandler) and part.name) or (
            isinstance(part, ast.MatchAs | ast.MatchStar) and part.name
        ):
            names.add(part.name)
        if not isinstance(part, (*_DEFINITIONS, ast.Lambda, *_COMPREHENSIONS)):
            waiting += ast.iter_child_nodes(part)
    return frozenset(names)


def _joined(text: DefinitionText) -> DefinitionText:
    """Return the same with texts that follow each other in one."""
    joined: DefinitionText = []
    for plain, pieces in itertools.groupby(text, lambda piece: isinstance(piece, str)):
        group = [*pieces]
        joined += ["".join(map(str, group))] if plain else group
    return joined


def _code_of(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements without texts that stand alone, which document."""
    return [
        one
        for one in body
        if not (isinstance(one, ast.Expr) and isinstance(getattr(one.value, "value", None), str))
    ]


def _field_kind(annotation: ast.expr | None) -> str | None:
    """Return what a dataclass heeds of an annotation, None for nothing."""
    names = {getattr(node, "id", "") for node in ast.walk(annotation)} if annotation else set()
    return next((name for name in _FIELDS if name in names), None)
