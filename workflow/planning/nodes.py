"""Check the parts that an experiment names: each path exists and takes the arguments given.

The signature is read from the source, so planning imports neither the part nor torch.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from workflow.planning.modules import module_file, parse
from workflow.runtime.errors import InputError, nearest, unknown
from workflow.validation import written


@dataclass(frozen=True)
class Signature:
    """The arguments that can be named in a node of this part."""

    names: tuple[str, ...]
    open: bool
    """Whether it takes any keyword (`**kwargs`)."""
    required: tuple[str, ...] = ()
    """Those without a default, but for the first of a function: what it is called on."""
    modules: tuple[str, ...] = ()
    """Those that are parts of a model: `nn.Module`s, each a node."""


def is_node(value: object) -> bool:
    """Return whether a value of settings names a part."""
    return isinstance(value, Mapping) and "path" in value


class Parts:
    """The parts of a project that nodes name; the signature of each is read once.

    Args:
        root: the project's folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._signatures: dict[str, Signature] = {}

    def check(self, value: Any, where: str) -> None:
        """Check every node in `value` (a mapping with the key `path`) and everything below it.

        Raises InputError when a path names nothing, or a part does not take one of the arguments.
        """
        if isinstance(value, list):
            for index, item in enumerate(value):
                self.check(item, f"{where}.{index}")
        if not isinstance(value, Mapping):
            return
        if isinstance(path := value.get("path"), str):
            part = self.signature(path, where)
            for name in value:
                if name != "path" and name not in part.names and not part.open:
                    raise unknown(f"{where} ({path})", "argument", name, part.names)
            for name in part.modules:
                if name not in value and name in part.required:
                    raise InputError(f'{where} ({path}): the key "{name}" is missing')
                if name in value and not is_node(value[name]):
                    raise InputError(
                        f"{where}.{name}: expected a mapping with the path of a part, "
                        f'"package.module:Name", and its arguments, found {written(value[name])}'
                    )
        for name, item in value.items():
            self.check(item, f"{where}.{name}")

    def signature(self, path: str, where: str) -> Signature:
        """Return the signature of what `package.module:Name` names.

        Raises InputError when the module has no file in the project or defines no such name.
        """
        if path not in self._signatures:
            self._signatures[path] = _read(path, where, self.root)
        return self._signatures[path]

    def has_method(self, path: str, method: str) -> bool:
        """Return whether `package.module:Name`, which exists, is a class with a method.

        Bases in the project count, too.
        """
        module, _, name = path.partition(":")
        file = module_file(module, self.root)
        if file is None:
            return False
        node = _definitions(file, file.stat().st_mtime_ns).get(name)
        if node is None:
            origin = _imported(file, file.stat().st_mtime_ns).get(name)
            return origin is not None and self.has_method(f"{origin}:{name}", method)
        if not isinstance(node, ast.ClassDef):
            return False
        if any(isinstance(one, ast.FunctionDef) and one.name == method for one in node.body):
            return True
        bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
        return any(self.has_method(f"{module}:{base}", method) for base in bases)


def _read(path: str, where: str, root: Path) -> Signature:
    """Return the signature of what `package.module:Name` names, from its source."""
    module, _, name = path.partition(":")
    file = module_file(module, root)
    if file is None:
        raise InputError(
            f'{where}.path: there is no module "{module}"{nearest(module, _siblings(module, root))}'
        )
    definitions = _definitions(file, file.stat().st_mtime_ns)
    if name not in definitions:
        public = [known for known in definitions if not known.startswith("_")]
        raise unknown(f"{where}.path", f"name in {module}", name, public)
    return _signature(name, file, root)


def _siblings(module: str, root: Path) -> list[str]:
    """Return the modules that stand beside where `module` was looked for."""
    package = module.rpartition(".")[0]
    folder = root.joinpath(*package.split(".")) if package else root
    prefix = f"{package}." if package else ""
    return [f"{prefix}{file.stem}" for file in sorted(folder.glob("*.py")) if file.stem[0] != "_"]


_Definition = ast.ClassDef | ast.FunctionDef


@cache
def _definitions(file: Path, mtime_ns: int) -> dict[str, _Definition]:
    """Return the classes and functions at the top level of a file, once per state of the file."""
    return {node.name: node for node in parse(file).body if isinstance(node, _Definition)}


@cache
def _imported(file: Path, mtime_ns: int) -> dict[str, str]:
    """Return the module that each name was imported from at the top level of a file."""
    lines = (node for node in parse(file).body if isinstance(node, ast.ImportFrom))
    return {alias.asname or alias.name: node.module or "" for node in lines for alias in node.names}


def _signature(name: str, file: Path, root: Path) -> Signature:
    """Return the arguments of a function, or of a class through its own or inherited `__init__`.

    A constructor that takes any keyword is taken to hand on those of its base classes.
    """
    node = _definitions(file, file.stat().st_mtime_ns).get(name)
    if node is None:
        origin = module_file(_imported(file, file.stat().st_mtime_ns).get(name, "."), root)
        # A base class from outside of the project takes whatever it takes.
        return _signature(name, origin, root) if origin else Signature((), True)
    if isinstance(node, ast.FunctionDef):
        taken = _arguments(node.args)
        return Signature(taken.names, taken.open, taken.required[1:], taken.modules)
    bases = [_signature(b.id, file, root) for b in node.bases if isinstance(b, ast.Name)]
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and member.name == "__init__":
            taken = _arguments(member.args)
            own_open = taken.open and not bases
            own = Signature(taken.names[1:], own_open, taken.required[1:], taken.modules)
            return _joined([own, *bases]) if taken.open else own
    own = _fields(node) if _is_dataclass(node) else Signature((), False)
    if len(bases) < len(node.bases) and not _is_dataclass(node):
        # A base such as nn.Module and no `__init__` of its own: a part without options.
        return Signature((), False)
    return _joined([*bases, own])


def _joined(parts: list[Signature]) -> Signature:
    names = dict.fromkeys(name for part in parts for name in part.names)
    required = dict.fromkeys(name for part in parts for name in part.required)
    modules = dict.fromkeys(name for part in parts for name in part.modules)
    is_open = any(part.open for part in parts)
    return Signature(tuple(names), is_open, tuple(required), tuple(modules))


def _arguments(args: ast.arguments) -> Signature:
    placed = [argument.arg for argument in args.posonlyargs + args.args]
    named = [argument.arg for argument in args.kwonlyargs]
    required = placed[: len(placed) - len(args.defaults)]
    required += [n for n, default in zip(named, args.kw_defaults, strict=True) if default is None]
    modules = [one.arg for one in args.args + args.kwonlyargs if "Module" in _kinds(one)]
    return Signature((*placed, *named), args.kwarg is not None, tuple(required), tuple(modules))


def _kinds(argument: ast.arg) -> set[str]:
    """Return the last names of the types that an argument may have."""
    text = ast.unparse(argument.annotation) if argument.annotation else ""
    return {kind.rpartition(".")[2] for kind in text.split(" | ")}


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.dump(decorator) for decorator in node.decorator_list)


def _fields(node: ast.ClassDef) -> Signature:
    fields = {
        item.target.id: item.value
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }
    required = tuple(name for name, value in fields.items() if value is None)
    return Signature(tuple(fields), False, required)
