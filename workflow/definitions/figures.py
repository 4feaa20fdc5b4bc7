"""What `figures.yaml` may say, and the runs that a figure is made of."""

from collections.abc import Iterator
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from workflow.definitions.names import Runs
from workflow.definitions.values import Name, Number, Options, Place, closed


@closed
class PrintedNumber(Place):
    """Where expected.csv has the paper's number."""

    metric: str


@closed
class SeriesDefinition(TypedDict):
    """One variant in a panel."""

    variant: str
    label: str
    x: NotRequired[Number]
    """the setting's value in a sweep"""
    array: NotRequired[str]
    """which array to draw, named as the function asks for it"""
    printed: NotRequired[PrintedNumber]


@closed
class PanelDefinition(TypedDict):
    """One pair of axes."""

    label: str
    experiment: NotRequired[str]
    """of its runs, if not the figure's"""
    series: Annotated[list[SeriesDefinition], Field(min_length=1, max_length=24)]


Function = Annotated[
    str,
    Field(
        description='a function of this project as "package.module:name"',
        pattern="^[a-z_][a-z0-9_.]*:[a-z_][a-z0-9_]*$",
    ),
]


@closed
class Finding(TypedDict):
    """The sentence that the data say."""

    path: Function
    options: NotRequired[Options]
    """arguments of the function beside the panels"""


@closed
class Figure(TypedDict):
    """One figure."""

    title: str
    """what it shows, where the data say nothing"""
    caption: str
    experiment: str
    path: Function
    options: NotRequired[Options]
    """arguments of the function"""
    any_device: NotRequired[bool]
    """whether runs of one series may be of several devices"""
    finding: NotRequired[Finding]
    """makes the title of the data"""
    panels: Annotated[list[PanelDefinition], Field(min_length=1)]


@closed
class Figures(TypedDict):
    """The figures of a paper."""

    figures: Annotated[dict[Name, Figure], Field(min_length=1)]


def figure_runs(figure: Figure) -> Runs:
    """Return the runs behind a figure."""
    return list(
        dict.fromkeys(
            (panel.get("experiment", figure["experiment"]), one["variant"])
            for panel in figure["panels"]
            for one in panel["series"]
        )
    )


def figure_places(figures: Figures) -> Iterator[tuple[str, Place, str]]:
    """Yield every place at which series look for a number: where it is said, and the metric."""
    for name, figure in figures["figures"].items():
        for panel in figure["panels"]:
            for series in panel["series"]:
                if "printed" in series:
                    where = f"figures.{name}, {panel['label']}, {series['label']}"
                    yield where, series["printed"], series["printed"]["metric"]
