"""What a figure is drawn from: its panels, their series, and the runs behind each."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from workflow.definitions.expected import Expected, ExpectedValues
from workflow.definitions.figures import Figure, SeriesDefinition
from workflow.reporting.measures import EvaluatedRun, Measures, by_usual_device, device_of
from workflow.runtime.errors import ReportingError

MANY = 5
"""More seeds in a row than this are written by the first and the last."""


class ShownMeasure(TypedDict, total=False):
    """A measure of which a figure compares values, as its `options` say."""

    measure: str
    """`evaluator.metric`, in a ranking with `{method}` in it."""
    label: str
    """What it is called in a legend, as `axis` is below the axis."""
    axis: str
    less: bool
    """Whether less is better."""


@dataclass(frozen=True)
class Series:
    """One line, histogram or field of a panel."""

    label: str
    variant: str
    definition: SeriesDefinition
    behind: Sequence[EvaluatedRun]
    printed: Expected | None
    """The paper's number to mark, if any."""
    left_out: Sequence[EvaluatedRun] = ()
    """Runs of another device than most."""

    @property
    def seeds(self) -> str:
        """Return the seeds as text: `0, 1, 2`, or `0 to 19` for many in a row."""
        seeds = [measure.seed for measure in self.behind]
        if len(seeds) > MANY and seeds == list(range(seeds[0], seeds[-1] + 1)):
            return f"{seeds[0]} to {seeds[-1]}"
        return ", ".join(map(str, seeds))

    def arrays(self, *names: str) -> list[Any]:
        """Return the arrays `evaluator.name` of its lowest seed, which stands for the series."""
        return arrays(self.behind[0], *names)


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    label: str
    series: Sequence[Series]

    @property
    def drawn(self) -> list[Series]:
        """Return the series that have runs."""
        return [series for series in self.series if series.behind]


def panels(definition: Figure, expected: ExpectedValues, measures: Measures) -> list[Panel]:
    """Return a figure's panels with the runs behind each series.

    They are of one device, unless the figure says that any will do.
    """
    return [
        Panel(
            panel["label"],
            [
                _series(
                    one,
                    measures.of(panel.get("experiment", definition["experiment"]), one["variant"]),
                    expected,
                    definition.get("any_device", False),
                )
                for one in panel["series"]
            ],
        )
        for panel in definition["panels"]
    ]


def _series(
    told: SeriesDefinition, runs: list[EvaluatedRun], expected: ExpectedValues, any_device: bool
) -> Series:
    behind, left_out = (runs, []) if any_device else by_usual_device(runs)
    return Series(
        told["label"],
        told["variant"],
        told,
        behind,
        expected.at(told["printed"], told["printed"]["metric"]) if "printed" in told else None,
        left_out,
    )


def series_of(shown: Sequence[Panel]) -> list[Series]:
    """Return the series of all panels that have runs."""
    return [series for panel in shown for series in panel.drawn]


def seeds(drawn: Sequence[Series]) -> str:
    """Return the seeds behind the series as text, `seed 0` or `seeds 0, 1`.

    Where they differ there is a / between them, in the order in which they are drawn.
    """
    texts = list(dict.fromkeys(series.seeds for series in drawn))
    one = all(text.isdigit() for text in texts)
    return f"{'seed' if one else 'seeds'} {' / '.join(texts)}"


def lowest(drawn: Sequence[Series]) -> str:
    """Return the seeds of the runs that stand for their series, of each the lowest, as text."""
    return seeds([replace(series, behind=series.behind[:1]) for series in drawn])


def of_first(shown: Sequence[Panel]) -> str:
    """Return the sentence that says of which seeds the first series of panels are drawn."""
    return f"{lowest([panel.drawn[0] for panel in shown if panel.drawn])}.".capitalize()


def arrays(measure: EvaluatedRun, *names: str) -> list[Any]:
    """Return the arrays `evaluator.name` of a run; ReportingError where one is missing."""
    values = [measure.array(name) for name in names]
    if any(one is None for one in values):
        there, them = ("is no array", "name") if len(names) == 1 else ("are no arrays", "names")
        raise ReportingError(
            f"{measure.path}: there {there} {' and '.join(names)}; correct the {them}, or measure "
            "the run again."
        )
    return values


def other_devices(found: Sequence[Panel]) -> str:
    """Return the sentence that names the runs of other devices, which a figure leaves out."""
    left_out = [run for panel in found for one in panel.series for run in one.left_out]
    counts = Counter({run.key: device_of(run) for run in left_out}.values())
    named = ", ".join(f"{count} on {device}" for device, count in counts.items())
    return f"Left out, as most runs of a series are of another device: {named}." if named else ""


def missing(found: Sequence[Panel]) -> list[str]:
    """Return the names of what was not run: whole panels, and single series of the others."""
    names = []
    for panel in found:
        if not panel.drawn:
            names.append(panel.label)
        else:
            names += [
                f"{panel.label}, {series.label}" if len(found) > 1 else series.label
                for series in panel.series
                if not series.behind
            ]
    return names


def not_run(found: Sequence[Panel]) -> str:
    """Return the sentence that says what was not run, empty when everything was."""
    names = list(dict.fromkeys(missing(found)))
    return f"Not run: {'; '.join(names)}." if names else ""
