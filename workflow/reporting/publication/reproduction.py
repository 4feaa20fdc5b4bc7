"""A published row, trained once more: each number beside what one more seed should be.

The new seed is none of those published, so the 95 % prediction interval of these holds it 19 times
of 20, where their values are normal.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from workflow.definitions.cells import behind_cell, cell_metrics, cells
from workflow.definitions.expected import Printed
from workflow.definitions.names import require_known
from workflow.definitions.paper import Paper
from workflow.definitions.tables import Metric
from workflow.planning.plan import Plan, Run
from workflow.planning.run_files import RunRecord
from workflow.reporting.cells import text
from workflow.reporting.measures import EvaluatedRun, Measures
from workflow.reporting.statistics.intervals import Interval, prediction
from workflow.reporting.statistics.verdict import Ours, Tolerance
from workflow.runtime.errors import InputError

LOG = "LOG.md"
HEAD = """\
# Published rows, made anew

Each line is a row of a table at scale `lite`, trained once more with a seed that is not published.
Every number is compared with the 95 % prediction interval of the published seeds, mean ±
t·s·√(1 + 1/n) with t of n - 1 degrees of freedom: it is `within` or `outside`. One published seed
has no interval.
[Retrain a row](../provenance.md#retrain-a-row) says how a line is made.

| date | commit | row | seed | machine | torch | BLAS | within | each cell |
| --- | --- | --- | --: | --- | --- | --- | --: | --- |
"""


@dataclass(frozen=True)
class AddressedRow:
    """A row of a table, by its address in the report, `<paper>/<table>/<row>`."""

    paper: Paper
    table: str
    name: str

    @classmethod
    def at(cls, address: str, papers: Sequence[Paper]) -> "AddressedRow":
        """Find a row; InputError names the nearest part that there is."""
        parts = address.strip("/").split("/")
        if len(parts) != 3:
            raise InputError(
                f'ROW="{address}": write <paper>/<table>/<row>, as in the addresses of the report'
            )
        by_name = {one.key: paper for paper in papers for one in paper.about.references}
        by_name |= {paper.name: paper for paper in papers}
        require_known("ROW", "paper", parts[:1], by_name)
        paper = by_name[parts[0]]
        require_known(f"ROW={parts[0]}", "table", parts[1:2], paper.items("tables"))
        rows = [row["id"] for row in paper.items("tables")[parts[1]]["rows"]]
        require_known(f"ROW={parts[0]}/{parts[1]}", "row", parts[2:], rows)
        return cls(paper, *parts[1:])

    @property
    def address(self) -> str:
        """The row's address."""
        return f"{self.paper.name}/{self.table}/{self.name}"

    def cells(self) -> Iterable[tuple[str, tuple[str, str], Metric]]:
        """Yield `<column>/<metric>`, (experiment, variant) and metric of each number."""
        table = self.paper.definition("tables", self.table)
        for row, column in cells(table):
            if row["id"] == self.name and not row.get("quoted"):
                pair = behind_cell(table, row, column)
                for name, metric in cell_metrics(self.paper.tables, row, column):
                    yield f"{column['id']}/{name}", pair, metric

    def runs(self, plan: Plan, published: Measures, seed: int | None = None) -> list[Run]:
        """Return the runs that make the row anew, of the first seed that none of it has published.

        Raises InputError where the scale has none of it, nothing is published of it, or the given
        `seed` is, or is below 0.
        """
        pairs = list(dict.fromkeys(pair for _, pair, _ in self.cells()))
        here = [pair for pair in pairs if plan.runs(pair[0], [pair[1]])]
        if not here:
            raise InputError(
                f"{self.address}: scale {plan.scale} does not run it, mostly because its data is "
                "not here; docs/data.md says which files to get by hand"
            )
        seeds = {one.seed for pair in here for one in published.of(*pair)}
        if not seeds:
            raise InputError(
                f"{self.address}: nothing of it is published at scale {plan.scale}, so there is "
                "nothing to compare with; make run trains it"
            )
        if seed is not None and seed < 0:
            raise InputError(f"SEED={seed}: must be 0 or more, such as {max(seeds) + 1}")
        if seed in seeds:
            raise InputError(
                f"SEED={seed} is published of {self.address}; name another, such as "
                f"{max(seeds) + 1}"
            )
        new = max(seeds) + 1 if seed is None else seed
        return [plan.run(*pair, new) for pair in here if published.of(*pair)]


@dataclass(frozen=True)
class ReproducedNumber:
    """A number of new seeds beside that of the published ones."""

    cell: str
    """`<column>/<metric>`."""
    value: float | str
    """Of the new seed, or the mean of several."""
    published: Sequence[float | str]
    """Of each published seed, at least one."""
    tolerance: Tolerance | None = None
    """The rule of the metric, if any; it counts where one seed is published."""
    seeds: int = 1
    """How many are new."""

    @property
    def bounds(self) -> Interval | None:
        """The 95 % prediction interval of the value; None of texts, and of one published seed."""
        numbers = [one for one in self.published if not isinstance(one, str)]
        return prediction(numbers, self.seeds) if not isinstance(self.value, str) else None

    @property
    def word(self) -> str:
        """`within`, `outside`, `one seed`, `same text` or `other text`."""
        if self.is_text:
            return "same text" if self.value in self.published else "other text"
        if self.bounds is None:
            return "one seed"
        value, (low, high) = float(self.value), self.bounds
        # A mean of equal numbers may miss them by a rounding.
        inside = low <= value <= high or any(math.isclose(value, end) for end in self.bounds)
        return "within" if inside else "outside"

    @property
    def beside(self) -> str:
        """The interval, the difference or the published text."""
        if self.is_text:
            return f"as {self.published[0]}"
        if self.bounds is not None:
            low, high = self.bounds
            return f"[{text(low)}, {text(high)}]"
        difference = float(self.value) - float(self.published[0])
        said = f"difference {difference:+.3g}"
        rule = self.tolerance
        if rule is None or rule.sampling != "none" or not rule.seed_std:
            return said
        # Two trainings: the spread over trainings counts twice, and nothing is rounded.
        width = rule.width(Ours(1), Printed("")) - Printed("").rounding
        within = "within" if abs(difference) <= width else "beyond"
        return f"{said}, tolerance {width:.3g} ({within})"

    @property
    def is_text(self) -> bool:
        """Whether it is no number."""
        return isinstance(self.value, str) or isinstance(self.published[0], str)

    def __str__(self) -> str:
        return f"{self.cell} {text(self.value)} {self.word} {self.beside}"

    def rounded(self, digits: int) -> str:
        """Return a number in words: `0.93, published 0.92 ± 0.02: within`."""
        ours, theirs = float(self.value), fmean(map(float, self.published))
        half = f" ± {self.bounds[1] - theirs:.{digits}f}" if self.bounds is not None else ""
        more = "" if half else f", {self.beside}"
        return f"{ours:.{digits}f}, published {theirs:.{digits}f}{half}: {self.word}{more}"


def compare(row: AddressedRow, published: Measures, new: Measures) -> list[ReproducedNumber]:
    """Return each number of a row that both sides have; of several new seeds it is the mean."""
    found = []
    for cell, pair, metric in row.cells():
        before, made = (_values(metric, side.of(*pair)) for side in (published, new))
        if before and made:
            rule = metric.get("tolerance")
            tolerance = Tolerance.of(rule, row.name) if rule else None
            value = made[0] if isinstance(made[0], str) else fmean(map(float, made))
            found.append(ReproducedNumber(cell, value, before, tolerance, len(made)))
    return found


def _values(metric: Metric, behind: Iterable[EvaluatedRun]) -> list[float | str]:
    scalars = (measure.of_metric(metric) for measure in behind)
    return [one.value for one in scalars if one is not None]


def line(
    row: AddressedRow, found: Sequence[ReproducedNumber], run: RunRecord, date: str, blas: str
) -> str:
    """Return a line of the log.

    Args:
        row: that was made anew.
        found: its numbers.
        run: the `run.json` of one of the new runs, which says on what it ran.
        date: of the training, `2026-11-25`.
        blas: the library of linear algebra that torch calls.
    """
    counted = [one for one in found if one.word in ("within", "outside")]
    within = sum(one.word == "within" for one in counted)
    commit = f"`{str(run['commit'])[:10]}`" + (" (changed)" if run.get("dirty") else "")
    machine = f"{run['cpu']}, {run['cores']} cores ({run['device']})"
    parts = (
        date,
        commit,
        f"`{row.address}`",
        str(run["spec"]["run"]["seed"]),
        machine,
        str(run["torch"]),
        blas,
        f"{within} of {len(counted)}",
        "; ".join(map(str, found)),
    )
    return f"| {' | '.join(part.replace('|', '/') for part in parts)} |\n"


def check_appendable(log: Path) -> None:
    """Raise InputError where no line can be added to the log, before anything is trained for it."""
    try:
        log.open("a").close()
    except OSError as error:
        raise InputError(
            f"{log}: {error.strerror}, so no line can be added to it; make it a file that can be "
            "written"
        ) from None


def append(log: Path, added: str) -> None:
    """Add a line to the log, which begins with what it is."""
    with log.open("a", encoding="utf-8") as file:  # in one piece, whoever else adds a line
        file.write(added if file.tell() else HEAD + added)
