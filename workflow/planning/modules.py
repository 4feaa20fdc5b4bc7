"""What a module of the project defines, imports and binds, by its syntax tree.

Only the standard library is used: a training job imports this file without Snakemake or YAML.
"""

import ast
from pathlib import Path

from workflow.runtime.errors import InputError

REST = ""
"""In the place of a name: what a module does when it is imported, beyond defining names."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


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


class Module:
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
        for statement in code_of(tree.body):
            for bound in _defines(statement):
                self.defined.setdefault(bound, []).append(statement)


def _defines(statement: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines; `REST` where it does more."""
    match statement:
        case ast.Import() | ast.ImportFrom() | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return []
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
    names = [node.id for node in assigned(statement) if isinstance(node, ast.Name)]
    return names if len(names) == len(assigned(statement)) > 0 else [REST]


def assigned(statement: ast.stmt) -> list[ast.expr]:
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


def bound_names(node: ast.AST) -> frozenset[str]:
    """Return the names that a function or a comprehension binds for itself and what is in it."""
    if isinstance(node, COMPREHENSIONS):
        targets = [each.target for each in node.generators]
        return frozenset(
            n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)
        )
    if not isinstance(node, FUNCTIONS):
        return frozenset()
    names = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
    waiting: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
    while waiting:
        part = waiting.pop()
        if isinstance(part, DEFINITIONS):
            names.add(part.name)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            names.add(part.id)
        elif (isinstance(part, ast.ExceptHandler) and part.name) or (
            isinstance(part, ast.MatchAs | ast.MatchStar) and part.name
        ):
            names.add(part.name)
        if not isinstance(part, (*DEFINITIONS, ast.Lambda, *COMPREHENSIONS)):
            waiting += ast.iter_child_nodes(part)
    return frozenset(names)


def code_of(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements without texts that stand alone, which document."""
    return [
        node
        for node in body
        if not (isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str))
    ]
