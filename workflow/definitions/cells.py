"""What the cells of a table are made of: variants, metrics, formats and printed numbers."""

from collections.abc import Iterable, Iterator, Sequence
from string import Formatter

from workflow.definitions.corpora import CorpusTable, check_differences
from workflow.definitions.names import Runs, fields, require_known, require_unique
from workflow.definitions.tables import Column, Metric, Table, TableRow, Tables
from workflow.definitions.values import Place
from workflow.runtime.errors import InputError

KEPT = ("group", "variant", "metrics", "format")
"""What a new row of a table has of the row that it follows."""
SHOWN = ("interval", "mean", "star")
"""What may follow a metric in a format string, as in `{tau:mean}`."""


def behind_cell(table: Table, row: TableRow, column: Column) -> tuple[str, str]:
    """Return experiment and variant behind a cell: the row's own, else the table's.

    A variant is a template that is filled with both ids; a row's own is one for all columns, or a
    mapping from column to template.
    """
    own = row.get("variant", table["variant"])
    template = own if isinstance(own, str) else own.get(column["id"], table["variant"])
    variant = template.format(row=row["id"], column=column["id"])
    return row.get("experiment", table["experiment"]), variant


def cells(table: Table) -> Iterator[tuple[TableRow, Column]]:
    """Yield the (row, column) pairs of a table that exist.

    A column may name its `rows`, and a row its columns: those to which its `metrics` give a list.
    """
    for row in table["rows"]:
        for column in table["columns"]:
            if row["id"] in column.get("rows", [row["id"]]) and metrics_of(row, column):
                yield row, column


def row_name(row: TableRow) -> str:
    """Return a row's name in the long form: its group, if any, and its label."""
    return f"{row['group']}: {row['label']}" if "group" in row else row["label"]


def metrics_of(row: TableRow, column: Column) -> Sequence[str]:
    """Return the names of a cell's metrics: the row's own, else the column's.

    A row's own are one list for all columns, or a mapping from column to list; there are none in
    the columns that the mapping leaves out.
    """
    own = row.get("metrics", column["metrics"])
    return own if isinstance(own, list) else own.get(column["id"], ())


def cell_metrics(tables: Tables, row: TableRow, column: Column) -> Iterator[tuple[str, Metric]]:
    """Yield name and metric of a cell's numbers; the list of a word is that of the row's."""
    for name in metrics_of(row, column):
        metric = tables["metrics"][name]
        if "of" in metric:
            metric = {**metric, "of": metric["of"].format(row=row["id"])}
        yield name, metric


def format_of(row: TableRow, column: Column) -> str:
    """Return a cell's format string: the row's own, else the column's, else its first metric.

    A row's own is one text for all columns, or a mapping from column to text.
    """
    own = row.get("format", {})
    if isinstance(own, str):
        return own
    first = "{" + metrics_of(row, column)[0] + "}"
    return own.get(column["id"], column.get("format", first))


def why_different(
    table: Table | CorpusTable, row: str, column: str, verdict: str
) -> dict[str, str]:
    """Return what a table says of a cell as its `because`, if the verdict is that it differs."""
    for said in table.get("differs", []) if verdict == "differs" else []:
        if row in said["rows"] and column in said["columns"]:
            return {"because": said["because"]}
    return {}


def printed_places(table: Table, row: TableRow, column: Column) -> list[Place]:
    """Return where `expected.csv` has a cell's numbers: the templates filled with both labels.

    A column's `printed_label` is its header there, where ours differs.
    """
    places = column.get("printed", row.get("printed", table.get("printed", [])))
    labels = {"row": row["label"], "column": column.get("printed_label", column["label"])}
    return [
        Place(
            source=one["source"].format(**labels),
            table=one["table"].format(**labels),
            row=one["row"].format(**labels),
            column=one["column"].format(**labels),
        )
        for one in places
    ]


def table_runs(table: Table) -> Runs:
    """Return the runs behind a table; rows that the paper quotes have none."""
    pairs = [
        behind_cell(table, row, column) for row, column in cells(table) if not row.get("quoted")
    ]
    return list(dict.fromkeys(pairs))


def table_places(tables: Tables) -> Iterator[tuple[str, Place, str]]:
    """Yield every place at which cells look for a number: where it is said, and the metric."""
    for name, table in tables["tables"].items():
        for row, column in cells(table):
            for metric in metrics_of(row, column):
                printed = tables["metrics"][metric].get("printed")
                for place in printed_places(table, row, column) if printed else ():
                    yield f"tables.{name}, {row['id']}, {column['id']}", place, printed or ""


def with_rows(table: Table, own: Iterable[str]) -> Table:
    """Return a table with a row for each mechanism and each row to follow.

    A new row stands after the last one of its group. It has no printed number.
    """
    rows, columns = list(table["rows"]), list(table["columns"])
    for name in own:
        for template, followed in table.get("mechanisms", {}).items():
            (row,) = (row for row in table["rows"] if row["id"] == followed)
            new: TableRow = {
                **row,
                "id": template.format(mechanism=name),
                "label": name,
                "printed": [],
            }
            for key in {*row} - {*KEPT, "id", "label", "printed"}:
                del new[key]  # type: ignore[misc]
            last = max(at for at, one in enumerate(rows) if one.get("group") == row.get("group"))
            rows.insert(last + 1, new)
            columns = [_with_row(one, followed, new["id"]) for one in columns]
    return {**table, "rows": rows, "columns": columns}


def _with_row(column: Column, followed: str, new: str) -> Column:
    """Return the column with the new row among its rows, if it has the one to follow."""
    rows = column.get("rows", [])
    return {**column, "rows": [*rows, new]} if followed in rows else column


def check_tables(tables: Tables, where: str) -> None:
    """Raise InputError for a name (metric, row, column) that is unknown or double.

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
            require_known(f"{at}, repeats", "table", [table["repeats"]], others)
        _check_parts(table, metrics, at)
        _check_mechanisms(table, at)
        for row, column in cells(table):
            here = f"{at}, {row['id']}, {column['id']}"
            form = format_of(row, column)
            require_known(here, "metric", fields(form, here), metrics_of(row, column))
            shown = [how for _, _, how, _ in Formatter().parse(form) if how]
            require_known(here, "way to show a value", shown, SHOWN)


def _check_parts(table: Table, metrics: Iterable[str], at: str) -> None:
    rows, columns = ([one["id"] for one in table[part]] for part in ("rows", "columns"))
    require_unique(at, "row", rows)
    require_unique(at, "column", columns)
    require_unique(at, "row", [row_name(row) for row in table["rows"]])
    parts: list[Table | TableRow | Column] = [table, *table["rows"], *table["columns"]]
    for part in parts:
        here = at if part is table else f"{at}, {dict(part)['id']}"
        own = part.get("variant", "")
        by_column = own if isinstance(own, dict) else {"": str(own)}
        places = [str(text) for place in part.get("printed", []) for text in place.values()]
        for template in (*by_column.values(), *places):
            require_known(here, "part", fields(template, here), ["row", "column"])
    for row in table["rows"]:
        here, filled = f"{at}, {row['id']}", row.get("metrics", [])
        by = filled if isinstance(filled, dict) else dict.fromkeys(columns, filled)
        require_known(here, "column", by, columns)
        require_known(here, "metric", [name for one in by.values() for name in one], metrics)
        form, variant = row.get("format"), row.get("variant")
        require_known(here, "column", form if isinstance(form, dict) else (), by)
        require_known(here, "column", variant if isinstance(variant, dict) else (), columns)
    check_differences(table.get("differs", []), rows, columns, at)
    for column in table["columns"]:
        require_known(f"{at}, {column['id']}", "metric", column["metrics"], metrics)
        require_known(f"{at}, {column['id']}", "row", column.get("rows", []), rows)


def _check_mechanisms(table: Table, at: str) -> None:
    rows = {row["id"]: row for row in table["rows"]}
    for template, followed in table.get("mechanisms", {}).items():
        require_known(f"{at}, mechanisms", "row", [followed], rows)
        require_known(
            f"{at}, mechanisms", "part", fields(template, f"{at}, mechanisms"), ["mechanism"]
        )
        variant = str(rows[followed].get("variant", table["variant"]))
        for text, part in ((template, "mechanism"), (variant, "row")):
            if part not in fields(text, at):
                raise InputError(
                    f'{at}, mechanisms: "{text}" is the same for every mechanism; write {{{part}}} '
                    f"in it"
                )
