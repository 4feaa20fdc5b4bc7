"""Where the papers' equations are: what docstrings cite, beside what the papers number.

A reference is a paper's key, a kind of place and numbers: `kinley2020 eq. 3.1`, `snell2021 section
5.2, eq. 17, 18`. Text in backticks is code and cites nothing.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from workflow.runtime.errors import InputError, nearest

FILE = "equations.tsv"
_NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)*"
_PLACES = rf"(eq\.|section|figure|table|appendix) ({_NUMBER}(?:, {_NUMBER})*)"
_REFERENCE = re.compile(rf"\b([a-z]+\d{{4}}) ({_PLACES}(?:, {_PLACES})*)")
_OTHERS = re.compile(r"`[^`]*`|\bet al\. \(?\d{4}\)?, \w+ [\d.]+")
"""Code, and references to papers that are not reproduced."""
_KIND = r"\b(?:eqs?\.?|equations?|sections?|figures?|tables?|appendix|appendices)"
_STRAY = re.compile(rf"(?i:{_KIND} \(?){_NUMBER}\)?|\b[A-Z]\.\d+")
Citation = tuple[str, str, int]
"""Name, file and line of what has a docstring; a whole file has no name."""
Citations = Mapping[str, list[Citation]]


def places(path: Path, keys: Collection[str]) -> dict[str, list[str]]:
    """By reference, what and why absent, of an `equations.tsv`; InputError tells a wrong line."""
    places: dict[str, list[str]] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines()[1:], 2):
        reference, *row = line.split("\t")
        listed = [*_references(reference)] == [reference] and reference.split()[0] in keys
        if not listed or reference in places or len(row) != 2:
            says = f"a line has a reference of its own to {' or '.join(keys)}, and two columns more"
            raise InputError(f"{path}, line {number}: {says}.")
        places[reference] = row
    return places


def citations(root: Path, *folders: str, spelled: bool = True) -> Citations:
    """Return who cites each place; a whole file only where nothing in it cites the same.

    Raises InputError where a place is named in another spelling and should not be.
    """
    citations = defaultdict[str, list[Citation]](list)
    for path in sorted(path for folder in folders for path in (root / folder).rglob("*.py")):
        where, of_file = path.relative_to(root).as_posix(), defaultdict[str, list[Citation]](list)
        for name, line, docstring in _documented(ast.parse(path.read_bytes())):
            text = _OTHERS.sub("", " ".join(docstring.split()))
            if spelled and (stray := _STRAY.search(_REFERENCE.sub("", text))):
                says = "write it as in snell2021 eq. 3, section 3.1, table 4, appendix A.5."
                raise InputError(f'{where}, line {line}: "{stray[0]}" is no reference; {says}')
            for reference in dict.fromkeys(_references(text)):
                of_file[reference].append((name, where, line))
        for reference, cited in of_file.items():
            citations[reference] += [citation for citation in cited if citation[0]] or cited
    return citations


def check(equations: Mapping[str, list[str]], code: Citations, tests: Citations) -> None:
    """Raise InputError for what leads nowhere, or has neither code with a test nor a reason."""
    for reference, ((_, path, line), *_) in [*code.items(), *tests.items()]:
        if reference not in equations:
            hint = nearest(reference, equations)
            raise InputError(f'{path}, line {line}: {FILE} has no "{reference}"{hint}')
    for reference, (_, absent) in equations.items():
        for name, path, line in code.get(reference, ()):
            if " eq. " in reference and not name:
                says = f"cite {reference} at the definition that implements it, not at the file."
                raise InputError(f"{path}, line {line}: {says}")
        if bool(absent) is (reference in code):
            says = f"cite it where it is implemented, or else say in {FILE} why it is absent."
            raise InputError(f"{reference}: {says}")
        if " eq. " in reference and not absent and reference not in tests:
            raise InputError(f"{reference}: no test cites it; cite it in the one that checks it.")


def _references(text: str) -> Iterator[str]:
    for key, cited, *_ in _REFERENCE.findall(text):
        for kind, numbers in re.findall(_PLACES, cited):
            yield from (f"{key} {kind} {number}" for number in numbers.split(", "))


def _documented(node: ast.AST, name: str = "") -> Iterator[tuple[str, int, str]]:
    """Name, line and text of each docstring, those of attributes among them."""
    for before, one in pairwise([None, *getattr(node, "body", [])]):
        match one:
            case ast.Expr(value=ast.Constant(value=str(text))):
                owner = f"{name}.{re.split('[ :]', ast.unparse(before))[0]}" if before else name
                yield owner.strip("."), getattr(before or node, "lineno", 1), text
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _documented(one, f"{name}.{one.name}".strip("."))
