"""What a schema can't check in a paper's definitions: names that refer to others or to numbers.

Planning runs these checks, so only the standard library is used.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from string import Formatter
from typing import Any

from workflow.planning.errors import InputError, unknown
from workflow.reporting import needs

Printed = tuple[str, Mapping[str, str], str]
"""Where a definition asks for a paper's number, the number's place, and its metric."""


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
        _once(at, "row", [needs.row_name(row) for row in table["rows"]])
        for part in (table, *table["rows"], *table["columns"]):
            here = at if part is table else f"{at}, {part['id']}"
            places = [text for place in part.get("printed", []) for text in place.values()]
            for template in [part.get("variant", ""), *places]:
                _known(here, "part", _fields(template, here), ["row", "column"])
        for part in (*table["rows"], *table["columns"]):
            shown = part.get("metrics", [])
            _known(f"{at}, {part['id']}", "metric", shown, tables["metrics"])
            _known(f"{at}, {part['id']}", "row", part.get("rows", []), rows)
            if "format" in part:
                here = f"{at}, {part['id']}"
                _known(here, "metric", _fields(part["format"], here), shown)


def check_claims(claims: Mapping[str, Any], where: str) -> None:
    """Raise InputError for two claims with one id."""
    _once(where, "claim", [claim["id"] for claim in claims["claims"]])


def table_places(tables: Mapping[str, Any]) -> Iterator[Printed]:
    """Yield every place at which the cells of `tables.yaml` look for a number."""
    for name, table in tables["tables"].items():
        for row, column in needs.cells(table):
            for metric in needs.metrics_of(row, column):
                printed = tables["metrics"][metric].get("printed")
                for place in needs.printed_places(table, row, column) if printed else ():
                    yield f"tables.{name}, {row['id']}, {column['id']}", place, printed


def figure_places(figures: Mapping[str, Any]) -> Iterator[Printed]:
    """Yield every place at which the series of `figures.yaml` look for a number."""
    for name, figure in figures["figures"].items():
        for panel in figure["panels"]:
            for series in panel["series"]:
                if "printed" in series:
                    where = f"figures.{name}, {panel['label']}, {series['label']}"
                    yield where, series["printed"], series["printed"]["metric"]


def claim_places(claims: Mapping[str, Any]) -> Iterator[Printed]:
    """Yield every place at which the claims of `claims.yaml` look for a number."""
    for claim in claims["claims"]:
        printed = claim.get("printed", {})
        for side in ("left", "right"):
            if side in printed:
                yield f"claim {claim['id']}, {side}", printed[side], printed["metric"]


PLACES: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Printed]]] = {
    "tables": table_places,
    "figures": figure_places,
    "claims": claim_places,
}


def _fields(template: str, where: str) -> list[str]:
    try:
        return [field for _, field, _, _ in Formatter().parse(template) if field is not None]
    except ValueError as error:
        raise InputError(f'{where}: "{template}" is not a template: {error}') from None


def _known(where: str, kind: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    for name in names:
        if name not in known:
            raise unknown(where, kind, name, known)


def _once(where: str, kind: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f'{where}: two {kind}s are called "{name}"; rename one')
