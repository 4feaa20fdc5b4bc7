"""What `make run` made of published tables, beside what is published, as `reproduce` compares."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from workflow import PUBLISHED
from workflow.definitions.cells import row_name
from workflow.definitions.paper import Paper
from workflow.planning.plan import Plan
from workflow.reporting.measures import Measures
from workflow.reporting.publication.reproduction import AddressedRow, compare
from workflow.reporting.publication.results import measured, published

SHOWN = 20
"""How many numbers are shown; those outside come first."""


def beside_published(plan: Plan, tables: Iterable[str]) -> list[str]:
    """Return a line for each number of some tables, by their files, that is published too."""
    results = published(PUBLISHED / plan.scale).values()
    before = Measures(it.measure for it in results if not it.stale)
    if not before.groups:
        return []
    files = {Path(file).with_suffix("").parts[-2:] for file in tables}
    lines = [
        pair
        for paper in Paper.all(plan.mechanisms)
        for table in paper.items("tables")
        if (paper.name, table) in files
        for pair in _of_table(plan, paper, table, before)
    ]
    if not lines:
        return []
    lines.sort(key=lambda pair: pair[0] != "outside")
    outside = sum(word == "outside" for word, _ in lines)
    more = [f"  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return [
        f"Published: {len(lines)} numbers of these tables, {outside} outside the 95 % interval of "
        "the published seeds",
        *(line for _, line in lines[:SHOWN]),
        *more,
    ]


def _of_table(plan: Plan, paper: Paper, table: str, before: Measures) -> Iterator[tuple[str, str]]:
    """Yield word and line of each number that is published and was made."""
    definition = paper.definition("tables", table)
    columns = {column["id"]: column["label"] for column in definition["columns"]}
    for stated in definition["rows"]:
        row = AddressedRow(paper, table, stated["id"])
        metrics = {cell: metric for cell, _, metric in row.cells()}
        labels = Counter(metric["label"] for metric in metrics.values())
        pairs = dict.fromkeys(pair for _, pair, _ in row.cells())
        runs = [run for name, variant in pairs for run in plan.runs(name, [variant])]
        own = Measures(it.measure for run in runs if (it := measured(plan, run.key)))
        for number in compare(row, before, own):
            if not number.is_text:
                label = metrics[number.cell]["label"]
                column = [columns[number.cell.partition("/")[0]]] if labels[label] > 1 else []
                place = ", ".join([table, row_name(stated), *column])
                yield (
                    number.word,
                    f"  {place}: {label} {number.rounded(metrics[number.cell]['digits'])}",
                )
