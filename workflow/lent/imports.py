"""The files that modules of the project import, and what else they import, by reading them."""

import ast
from collections.abc import Iterable
from pathlib import Path

from workflow.planning.modules import module_file, parse


def files(modules: Iterable[str], root: Path) -> set[Path]:
    """Return the files under `root` of modules and of all that they import."""
    waiting, found = list(modules), set[Path]()
    while waiting:
        module = waiting.pop()
        path = module_file(module, root) if module else None
        if path and path not in found:
            found.add(path)
            waiting += [*imported(module, root), module.rpartition(".")[0]]
    return found


def imported(module: str, root: Path) -> list[str]:
    """Return the modules that one under `root` imports when it runs, names in them too."""
    path = module_file(module, root)
    found: list[str] = []
    waiting: list[ast.AST] = [parse(path)] if path else []
    while waiting:
        node = waiting.pop()
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.Import(names=aliases):
                found += [alias.name for alias in aliases]
            case ast.ImportFrom(module=str(origin), names=aliases):
                found += [origin, *(f"{origin}.{alias.name}" for alias in aliases)]
        waiting += ast.iter_child_nodes(node)
    return found
