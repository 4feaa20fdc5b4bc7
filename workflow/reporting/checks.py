"""What a schema can't check in `tables.yaml` and `claims.yaml`: names that refer to each other."""

from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any

from workflow.planning.loader import InputError, unknown


def check_tables(tables: Mapping[str, Any], where: str) -> None:
    """Raise InputError for a metric, row or id in `tables.yaml` that does not exist or is double.

    `where` is the file as a person knows it.
    """
    for name, table in tables["tables"].items():
        at = f"{where}: tables.{name}"
        rows = [str(row["id"]) for row in table["rows"]]
        columns = [str(column["id"]) for column in table["columns"]]
        _once(at, "row", rows)
        _once(at, "column", columns)
        _known(f"{at}.variant", "part", _fields(table["variant"]), ["row", "column"])
        for part in (*table["rows"], *table["columns"]):
            shown = part.get("metrics", [])
            _known(f"{at}, {part['id']}", "metric", shown, tables["metrics"])
            _known(f"{at}, {part['id']}", "row", part.get("rows", []), rows)
            if "format" in part:
                _known(f"{at}, {part['id']}", "metric", _fields(part["format"]), shown)


def check_claims(claims: Mapping[str, Any], where: str) -> None:
    """Raise InputError for two claims with one id."""
    _once(where, "claim", [claim["id"] for claim in claims["claims"]])


def _fields(template: str) -> list[str]:
    return [field for _, field, _, _ in Formatter().parse(template) if field is not None]


def _known(where: str, kind: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    for name in names:
        if name not in known:
            raise unknown(where, kind, name, known)


def _once(where: str, kind: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f'{where}: two {kind}s are called "{name}"; rename one')
