"""Checks of the names in a definition: known, each given once, in templates that fit."""

from collections.abc import Iterable
from string import Formatter

from workflow.runtime.errors import InputError, unknown

Runs = list[tuple[str, str]]
"""(experiment, variant) pairs, each once, in the order of the definition."""


def fields(template: str, where: str) -> list[str]:
    """Return the fields of a format string; InputError when it is none."""
    try:
        return [field for _, field, _, _ in Formatter().parse(template) if field is not None]
    except ValueError as error:
        raise InputError(f'{where}: "{template}" is not a template: {error}') from None


def require_known(where: str, kind: str, names: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise InputError for the first of `names` that is not allowed."""
    allowed = list(allowed)
    for name in names:
        if name not in allowed:
            raise unknown(where, kind, name, allowed)


def require_unique(where: str, kind: str, names: list[str]) -> None:
    """Raise InputError for the first name that stands twice."""
    for name in names:
        if names.count(name) > 1:
            raise InputError(f'{where}: two {kind}s are called "{name}"; rename one')
