"""Which first-party modules a job of data or of reporting can reach, and a hash of what they do.

The code of runs and measures is told more closely, by `workflow.planning.code`. Only the standard
library is used: a training job imports this file without Snakemake or YAML.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from workflow.errors import InputError

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_IGNORED_FIELDS = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


def closure(modules: Iterable[str], root: Path) -> dict[str, Path]:
    """Return the first-party modules reachable by import from `modules`, with their files.

    A module is first-party when its file lies under `root`. Imports inside functions count, and
    so does the `__init__` of every package on the way, because importing a module runs it.

    Raises InputError when one of `modules` has no file under `root`, or a file is not valid Python.
    """
    found: dict[str, Path] = {}
    seen: set[str] = set()
    waiting = []
    for module in modules:
        if module_file(module, root) is None:
            raise InputError(
                f'module "{module}" has no file {module.replace(".", "/")}.py in the project'
            )
        waiting.append(module)
    while waiting:
        for name in _with_packages(waiting.pop()):
            if name in seen:
                continue
            seen.add(name)
            path = module_file(name, root)
            if path is not None:
                found[name] = path
                waiting.extend(_parsed(path).imports(name))
    return dict(sorted(found.items()))


def code_hash(modules: Iterable[str], root: Path) -> str:
    """Return 16 hex digits that change exactly when code in the closure of `modules` does.

    Comments, docstrings, layout and the version of Python (3.11 to 3.14) do not count.
    """
    total = hashlib.sha256()
    for name, path in closure(modules, root).items():
        total.update(f"{name}\n{_parsed(path).digest}\n".encode())
    return total.hexdigest()[:16]


def module_file(module: str, root: Path) -> Path | None:
    """Return the file under `root` that defines `module`, or None for any other module."""
    stem = root.joinpath(*module.split("."))
    for path in (stem.with_name(stem.name + ".py"), stem / "__init__.py"):
        if path.is_file():
            return path
    return None


def _with_packages(module: str) -> list[str]:
    """Return `a`, `a.b` and `a.b.c` for `a.b.c`."""
    names = module.split(".")
    return [".".join(names[: end + 1]) for end in range(len(names))]


class _Parsed:
    """One source file: the digest of its code and the names it imports."""

    def __init__(self, path: Path, tree: ast.Module) -> None:
        self._is_package = path.name == "__init__.py"
        self._nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
        self.digest = hashlib.sha256("".join(_serialise(tree)).encode()).hexdigest()

    def imports(self, module: str) -> Iterator[str]:
        """Yield the dotted names that this file, known as `module`, imports or may import."""
        package = module if self._is_package else module.rpartition(".")[0]
        for node in self._nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
                continue
            base = node.module or ""
            if node.level:
                anchor = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*anchor, base] if base else anchor)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _parsed(path: Path) -> _Parsed:
    status = path.stat()
    return _parse(path, status.st_mtime_ns, status.st_size)


@cache
def _parse(path: Path, mtime_ns: int, size: int) -> _Parsed:
    """Parse a file once for each state it is seen in."""
    return _Parsed(path, parse(path))


def parse(path: Path) -> ast.Module:
    """Return the syntax tree of a Python file.

    Raises InputError when it is not valid Python.
    """
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except SyntaxError as error:
        raise InputError(f"{path}, line {error.lineno}: not valid Python: {error.msg}") from None


def _serialise(value: object) -> Iterator[str]:
    """Yield a text of a syntax tree without docstrings, positions and empty fields.

    `ast.dump` differs between versions of Python (new empty fields); this text does not.
    """
    if isinstance(value, ast.AST):
        yield f"({type(value).__name__}"
        for name, field in ast.iter_fields(value):
            if name == "body" and isinstance(value, _DOCUMENTED):
                field = _without_docstring(field)
            if isinstance(value, ast.JoinedStr):
                field = [part for part in field if not is_empty_text(part)]
            if name in _IGNORED_FIELDS or field is None or field == []:
                continue
            yield f" {name}="
            yield from _serialise(field)
        yield ")"
    elif isinstance(value, list):
        yield "["
        for item in value:
            yield from _serialise(item)
            yield ","
        yield "]"
    else:
        yield f"{type(value).__name__}:{value!r}"


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return body


def is_empty_text(part: ast.expr) -> bool:
    """Whether this part of an f-string is the empty text that only Python 3.12 puts there."""
    return isinstance(part, ast.Constant) and part.value == ""
