"""What a table, a figure or the claims of a paper are made of (standard library only)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

KEPT = ("group", "variant", "metrics", "format")
"""What a new row of a table has of the row that it follows."""

Runs = list[tuple[str, str]]
"""(experiment, variant) pairs, each once, in the order of the definition."""


def cell_variant(
    table: Mapping[str, Any], row: Mapping[str, Any], column: Mapping[str, Any]
) -> str:
    """Return the variant behind a cell: the row's or table's template filled with both ids.

    A row's own is one template for all columns, or a mapping from column to template.
    """
    own = row.get("variant", table["variant"])
    template = own.get(column["id"], table["variant"]) if isinstance(own, Mapping) else own
    return str(template).format(row=row["id"], column=column["id"])


def row_experiment(table: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Return the experiment behind a row: its own, else the table's."""
    return str(row.get("experiment", table["experiment"]))


def cells(table: Mapping[str, Any]) -> Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the (row, column) pairs of a table that exist.

    A column may name its `rows`, and a row its columns: those to which its `metrics` give a list.
    """
    for row in table["rows"]:
        for column in table["columns"]:
            if row["id"] in column.get("rows", [row["id"]]) and metrics_of(row, column):
                yield row, column


def row_name(row: Mapping[str, Any]) -> str:
    """Return a row's name in the long form: its group, if any, and its label."""
    return ": ".join(str(row[part]) for part in ("group", "label") if part in row)


def metrics_of(row: Mapping[str, Any], column: Mapping[str, Any]) -> Sequence[str]:
    """Return the names of a cell's metrics: the row's own, else the column's.

    A row's own are one list for all columns, or a mapping from column to list; there are none in
    the columns that the mapping leaves out.
    """
    own = row.get("metrics", column["metrics"])
    found: Sequence[str] = own.get(column["id"], ()) if isinstance(own, Mapping) else own
    return found


def format_of(row: Mapping[str, Any], column: Mapping[str, Any]) -> str:
    """Return a cell's format string: the row's own, else the column's, else its first metric.

    A row's own is one text for all columns, or a mapping from column to text.
    """
    own = row.get("format", {})
    if isinstance(own, Mapping):
        first = "{" + metrics_of(row, column)[0] + "}"
        return str(own.get(column["id"], column.get("format", first)))
    return str(own)


def printed_places(
    table: Mapping[str, Any], row: Mapping[str, Any], column: Mapping[str, Any]
) -> list[dict[str, str]]:
    """Return where `expected.csv` has a cell's numbers: the templates filled with both labels.

    A column's `printed_label` is its header there, where ours differs.
    """
    places = column.get("printed", row.get("printed", table.get("printed", [])))
    labels = {"row": row["label"], "column": column.get("printed_label", column["label"])}
    return [{key: str(text).format(**labels) for key, text in one.items()} for one in places]


def table_runs(tables: Mapping[str, Any], name: str) -> Runs:
    """Return the runs behind a table of `tables.yaml`; rows that the paper quotes have none."""
    table = tables["tables"][name]
    return _once(
        (row_experiment(table, row), cell_variant(table, row, column))
        for row, column in cells(table)
        if not row.get("quoted")
    )


def figure_runs(figures: Mapping[str, Any], name: str) -> Runs:
    """Return the runs behind a figure of `figures.yaml`."""
    figure = figures["figures"][name]
    return _once(
        (figure["experiment"], series["variant"])
        for panel in figure["panels"]
        for series in panel["series"]
    )


def claim_runs(claims: Mapping[str, Any]) -> Runs:
    """Return the runs behind all claims of `claims.yaml`."""
    return _once(
        (claim["experiment"], claim[side]["variant"])
        for claim in claims["claims"]
        for side in ("left", "right")
        if "variant" in claim.get(side, {})
    )


def _once(pairs: Iterable[tuple[str, str]]) -> Runs:
    return list(dict.fromkeys(pairs))


def with_rows(table: Mapping[str, Any], own: Iterable[str]) -> dict[str, Any]:
    """Return a table with a row for each mechanism and each row to follow.

    A new row stands after the last one of its group. It has no printed number.
    """
    made = dict(table)
    for name in own:
        for template, followed in table.get("mechanisms", {}).items():
            (row,) = (row for row in table["rows"] if row["id"] == followed)
            kept = {key: row[key] for key in KEPT if key in row}
            new = {"id": template.format(mechanism=name), "label": name, **kept, "printed": []}
            rows = list(made["rows"])
            last = max(at for at, one in enumerate(rows) if one.get("group") == row.get("group"))
            made["rows"] = [*rows[: last + 1], new, *rows[last + 1 :]]
            made["columns"] = [_with_row(one, followed, new["id"]) for one in made["columns"]]
    return made


def _with_row(column: Mapping[str, Any], followed: str, new: str) -> Mapping[str, Any]:
    """Return the column with the new row among its rows, if it has the one to follow."""
    rows = column.get("rows", [])
    return {**column, "rows": [*rows, new]} if followed in rows else column
