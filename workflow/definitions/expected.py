"""The papers' numbers: `expected.csv` of a paper, where each of them stands once."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workflow.definitions.values import Place
from workflow.files import read_csv
from workflow.runtime.errors import ReportingError, nearest, unknown

COLUMNS = (
    "source",
    "table",
    "row",
    "column",
    "metric",
    "value",
    "std",
    "statistic",
    "unit",
    "flag",
    "note",
)
STATISTICS = ("mean", "max", "single")
FLAGS = ("disputed", "misprint", "inferred", "starred", "quoted", "not printed")
"""What is to know of a number; `starred` ones were never exceeded in training."""
PrintedPlace = tuple[str, str, str, str, str]
"""(source, table, row, column, metric), in the paper's own words."""


@dataclass(frozen=True)
class Printed:
    """A number as a paper prints it."""

    text: str
    """The value as printed, `""` where there is none; its last digit bounds its rounding."""
    std: float | None = None
    """The spread printed with it."""
    statistic: str = "mean"
    """`mean` also stands for a single unexplained number; `max` for a best run."""

    @property
    def value(self) -> float | None:
        """The printed number, or None where there is none or it is text."""
        try:
            return float(self.text)
        except ValueError:
            return None

    @property
    def rounding(self) -> float:
        """Half a unit of the last printed digit."""
        return 0.5 * 10.0 ** -len(self.text.partition(".")[2])


@dataclass(frozen=True)
class Expected:
    """A paper's number, its unit, a note, and one of FLAGS or no flag."""

    source: str
    printed: Printed
    unit: str
    flag: str
    note: str


class ExpectedValues:
    """The numbers of one paper by their place."""

    def __init__(self, path: Path) -> None:
        """Read `expected.csv`; an empty `statistic` is `mean`.

        Raises InputError for a missing file, a wrong header, an unknown statistic or flag, or a
        doubled number.
        """
        if not path.is_file():
            raise ReportingError(
                f"{path} is missing; write it, with the header {','.join(COLUMNS)}."
            )
        self.path = path
        self.values: dict[PrintedPlace, Expected] = {}
        for line, record in enumerate(read_csv(path), start=2):
            if tuple(record) != COLUMNS:
                raise ReportingError(f"{path}: the header must be {','.join(COLUMNS)}.")
            source, table, row, column, metric = (record[key] for key in COLUMNS[:5])
            place = (source, table, row, column, metric)
            if place in self.values:
                raise ReportingError(f"{path}, line {line}: {place} stands twice; keep one.")
            statistic = record["statistic"] or "mean"
            if statistic not in STATISTICS:
                raise unknown(f"{path}, line {line}", "statistic", statistic, STATISTICS)
            # A misprint that is misspelt would be held against ours.
            if record["flag"] not in ("", *FLAGS):
                raise unknown(f"{path}, line {line}", "flag", record["flag"], FLAGS)
            self.values[place] = Expected(
                record["source"],
                Printed(record["value"], _number(record["std"], f"{path}, line {line}"), statistic),
                record["unit"],
                record["flag"],
                record["note"],
            )

    def at(self, place: Place, metric: str) -> Expected:
        """Return the number at {source, table, row, column}; ReportingError if there is none."""
        key = (place["source"], place["table"], place["row"], place["column"], metric)
        if key not in self.values:
            absent = ", ".join(key)
            hint = nearest(absent, map(", ".join, self.values)) or "; correct the place"
            raise ReportingError(f"{self.path}: no number at {absent}{hint}")
        return self.values[key]

    def all_at(self, places: Sequence[Place], metric: str) -> list[Expected]:
        """Return the numbers at several places (one per text that prints it)."""
        return [self.at(place, metric) for place in places]


def _number(text: str, where: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise ReportingError(f'{where}: std "{text}" is not a number; correct it.') from None
