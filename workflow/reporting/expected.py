"""The papers' numbers: `expected.csv` of a paper, where each of them stands once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workflow.reporting.files import ReportingError, read_csv
from workflow.reporting.verdict import Printed

COLUMNS = ("source", "table", "row", "column", "metric", "value", "std", "unit", "flag", "note")
Place = tuple[str, str, str, str, str]
"""(source, table, row, column, metric), in the paper's own words."""


@dataclass(frozen=True)
class Expected:
    """A paper's number, its unit, a flag (disputed, misprint, inferred, not printed) and a note."""

    source: str
    printed: Printed
    unit: str
    flag: str
    note: str


class ExpectedValues:
    """The numbers of one paper by their place."""

    def __init__(self, path: Path) -> None:
        """Read `expected.csv`; ReportingError for a wrong header or a number that stands twice."""
        self.path = path
        self.values: dict[Place, Expected] = {}
        for line, record in enumerate(read_csv(path), start=2):
            if tuple(record) != COLUMNS:
                raise ReportingError(f"{path}: the header must be {','.join(COLUMNS)}.")
            source, table, row, column, metric = (record[key] for key in COLUMNS[:5])
            place = (source, table, row, column, metric)
            if place in self.values:
                raise ReportingError(f"{path}, line {line}: {place} stands twice; keep one.")
            std = float(record["std"]) if record["std"] else None
            self.values[place] = Expected(
                record["source"],
                Printed(record["value"], std),
                record["unit"],
                record["flag"],
                record["note"],
            )

    def at(self, place: Mapping[str, str], metric: str) -> Expected:
        """Return the number at {source, table, row, column}; ReportingError if there is none."""
        key = (place["source"], place["table"], place["row"], place["column"], metric)
        if key not in self.values:
            raise ReportingError(
                f"{self.path}: no number at {', '.join(key)}; correct the place in the definition."
            )
        return self.values[key]

    def all_at(self, places: Sequence[Mapping[str, str]], metric: str) -> list[Expected]:
        """Return the numbers at several places (one per text that prints it)."""
        return [self.at(place, metric) for place in places]
