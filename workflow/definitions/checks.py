"""What a schema can't check in a paper's definitions: names that refer to others or to numbers.

Planning runs these checks, so only the standard library is used.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from string import Formatter
from typing import Any

from workflow.definitions import needs
from workflow.definitions.references import FILE, key_of
from workflow.errors import InputError, nearest, unknown

SHOWN = ("interval", "mean", "star")
"""What may follow a metric in a format string, as in `{tau:mean}`."""
Printed = tuple[str, Mapping[str, str], str]
"""Where a definition asks for a paper's number, the number's place, and its metric."""


def check_tables(tables: Mapping[str, Any], where: str) -> None:
    """Raise InputError for a name in `tables.yaml` (metric, row, column) that is unknown or double.

    `where` is the file as a person knows it.
    """
    metrics = tables["metrics"]
    for name, metric in metrics.items():
        if metric.get("proportion") and metric.get("spread_over") == "examples":
            raise InputError(f"{where}: metrics.{name}: a proportion is of runs; drop spread_over.")
    for name, table in tables["tables"].items():
        at = f"{where}: tables.{name}"
        if "repeats" in table:
            others = [other for other in tables["tables"] if other != name]
            _known(f"{at}, repeats", "table", [table["repeats"]], others)
        rows = [str(row["id"]) for row in table["rows"]]
        columns = [str(column["id"]) for column in table["columns"]]
        _once(at, "row", rows)
        _once(at, "column", columns)
        _once(at, "row", [needs.row_name(row) for row in table["rows"]])
        for part in (table, *table["rows"], *table["columns"]):
            here = at if part is table else f"{at}, {part['id']}"
            places = [text for place in part.get("printed", []) for text in place.values()]
            own = part.get("variant", "")
            variants = list(own.values()) if isinstance(own, Mapping) else [own]
            for template in [*variants, *places]:
                _known(here, "part", _fields(template, here), ["row", "column"])
        for part in (*table["rows"], *table["columns"]):
            here, own, form = f"{at}, {part['id']}", part.get("metrics", []), part.get("format")
            filled = own if isinstance(own, Mapping) else dict.fromkeys(columns, own)
            _known(here, "column", filled, columns)
            _known(here, "metric", [name for one in filled.values() for name in one], metrics)
            _known(here, "column", form if isinstance(form, Mapping) else (), filled)
            variant = part.get("variant")
            _known(here, "column", variant if isinstance(variant, Mapping) else (), columns)
            _known(here, "row", part.get("rows", []), rows)
        for template, followed in table.get("mechanisms", {}).items():
            _known(f"{at}, mechanisms", "row", [followed], rows)
            fields = _fields(template, f"{at}, mechanisms")
            _known(f"{at}, mechanisms", "part", fields, ["mechanism"])
            (row,) = (row for row in table["rows"] if row["id"] == followed)
            variant = str(row.get("variant", table["variant"]))
            for text, part in ((template, "mechanism"), (variant, "row")):
                if part not in _fields(text, at):
                    raise InputError(
                        f'{at}, mechanisms: "{text}" is the same for every mechanism; write '
                        f"{{{part}}} in it"
                    )
        for row, column in needs.cells(table):
            here = f"{at}, {row['id']}, {column['id']}"
            form = needs.format_of(row, column)
            _known(here, "metric", _fields(form, here), needs.metrics_of(row, column))
            shown = [how for _, _, how, _ in Formatter().parse(form) if how]
            _known(here, "way to show a value", shown, SHOWN)


def check_claims(claims: Mapping[str, Any], where: str) -> None:
    """Raise InputError for two claims with one id, or sides that cannot be compared."""
    _once(where, "claim", [claim["id"] for claim in claims["claims"]])
    for claim in claims["claims"]:
        if "printed" in claim["right"] and "printed" not in claim:
            raise InputError(
                f"{where}: claim {claim['id']}: the right side is a printed number; say in "
                "`printed` where it stands"
            )
        if claim["over"] == "corpora" and "variant" not in claim["right"]:
            raise InputError(
                f"{where}: claim {claim['id']}: corpora are compared with corpora; name a variant "
                "on the right, or compare runs"
            )


def check_corpora(corpora: Mapping[str, Any], where: str) -> None:
    """Raise InputError for two rows of `corpora.yaml` with one id or label."""
    for name, table in corpora["tables"].items():
        for part in ("id", "label"):
            _once(f"{where}: tables.{name}", "row", [str(row[part]) for row in table["rows"]])


def check_sources(
    keys: Collection[str], claims: Iterable[Mapping[str, Any]], expected: Any, where: str
) -> None:
    """Raise InputError for a number or a claim of a paper that `paper.yaml` does not list.

    Claims of a folder without papers are one's own.
    """
    for source in dict.fromkeys(source for source, *_ in expected.values):
        if source not in keys:
            raise unknown(f"{expected.path}, {FILE} beside it", "paper", source, keys)
    for claim in claims if keys else ():
        if key_of(claim["source"]) not in keys:
            raise unknown(f"{where}: claim {claim['id']}", "paper", key_of(claim["source"]), keys)


def check_printed_corpora(tables: Mapping[str, Any], expected: Any, where: str) -> None:
    """Raise InputError for a row of `corpora.yaml` of which the paper prints no number.

    `expected` are the paper's numbers, by place.
    """
    known = {(source, table, row) for source, table, row, _, _ in expected.values}
    for name, table in tables.items():
        for row in table["rows"]:
            place = row.get("printed", table.get("printed"))
            if place and (key := (place["source"], place["table"], row["label"])) not in known:
                said = ", ".join(key)
                raise InputError(
                    f"{where}: tables.{name}, {row['id']}: {expected.path}: no number at {said}"
                    f"{nearest(said, map(', '.join, known))}"
                )


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
                metric = printed[side].get("metric", printed["metric"])
                yield f"claim {claim['id']}, {side}", printed[side], metric


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
