"""The titles that data make: each sentence from values by hand, and others from other values."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.reporting.synthetic import one_run
from workflow.definitions.paper import Paper
from workflow.reporting.figures import findings
from workflow.reporting.figures.panels import Panel, Series
from workflow.reporting.measures import EvaluatedRun

METHODS = {"one": "the first", "two": "the second"}
RANKED = [
    {"measure": "probe.true_{method}", "label": "truth"},
    {"measure": "probe.drop_{method}", "label": "a drop", "less": True},
]


def panel(label: str = "p", /, **series: Sequence[float | None]) -> Panel:
    """Return a panel of series with the values of `m` of their runs."""
    return Panel(label, [
        Series(name.replace("_", "-"), name, {}, [
            one_run(name, seed, {"m": value}) for seed, value in enumerate(values)
        ], None)
        for name, values in series.items()
    ])  # fmt: skip


def against(*panels: Panel) -> str:
    return findings.against(panels, "softmax", "probe.m", "accuracy")


def survey(*panels: Panel) -> str:
    measures = {panel.label: {"measure": "probe.m"} for panel in panels}
    return findings.survey(panels, "softmax", measures)


def along(*labels: str) -> str:
    """Return the title of panels whose series have these values at the points 1 to 5."""
    values = {
        "soft": [[1, 1, 1, 1, 1], [2, 2, 2, 2, 2]],
        "up": [[3, 3, 0, 3, 1], [3, 3, 0, 3, 2]],
        "mixed": [[0, 2, 2, 2, 2], [0, 0, 3, 3, 3]],
    }

    def run(name: str, seed: int) -> EvaluatedRun:
        return one_run(name, seed, arrays={"x": [1, 2, 3, 4, 5], "m": [*values[name][seed]]})

    series = [Series(name, name, {}, [run(name, 0), run(name, 1)], None) for name in labels]
    return findings.along([Panel("p", series)], "soft", "probe.x", "probe.m", "Exact")


def model(name: str, seeds: int, **scalars: float) -> Panel:
    runs = [one_run(name, seed, scalars) for seed in range(seeds)]
    return Panel(name, [Series(name, name, {}, runs, None)])


BEST = {"true_one": 0.9, "true_two": 0.1, "drop_one": 0.2, "drop_two": 0.5}
OTHER = {**BEST, "drop_one": 0.9}
LOW, HIGH = [1.0, 1.1, 1.2], [5.0, 5.1, 5.3]


@pytest.mark.parametrize(("said", "sentence"), [
    (findings.counts([panel("x", a=[1, 0, 1]), panel("y", b=[0, 0])], "probe.m", "It is learned"),
     "It is learned in 2 of 3 runs (x) and 0 of 2 (y)"),
    (findings.counts([panel("x", a=[1, 1], b=[0, None, 1])], "probe.m", "It is learned"),
     "It is learned in 2 of 2 runs (a) and 1 of 2 (b)"),
    (findings.counts([panel("x", a=[1], b=[1, 0])], "probe.m", "It is learned"),
     "It is learned in 1 of 2 runs (b)"),
    (findings.counts([panel("x", a=[1])], "probe.m", "It is learned"), ""),
    (findings.means([panel("x", a=[0.5, 0.25]), panel("y", b=[1, 0.5])], "probe.m", "Exact"),
     "Exact: y 75 % and x 38 %"),
    (findings.means([panel("x", a=[0.5])], "probe.m", "Exact"), ""),
    (against(panel(softmax=LOW, top_k=HIGH)), "accuracy, compared with softmax: higher with top-k"),
    (against(panel(softmax=HIGH, top_k=LOW)), "accuracy, compared with softmax: lower with top-k"),
    (against(panel(softmax=LOW, top_k=HIGH, ReLA=[9, 1, -9])),
     "accuracy, compared with softmax, corrected for 2 comparisons: higher with top-k; "
     "the others undecided"),
    (against(panel(softmax=LOW, ReLA=[9, 1, -9])),
     "accuracy, compared with softmax: undecided with ReLA"),
    (against(panel("x", softmax=LOW, a=HIGH, b=HIGH), panel("y", softmax=LOW, a=HIGH, c=LOW)),
     "accuracy, compared with softmax, corrected for 4 comparisons: higher with a and b (x); "
     "the others undecided"),
    (against(panel(softmax=[1], top_k=[5])), ""),
    (against(panel(softmax=[0, 0, 0], a=[0.1, 0.15, 0.2])),
     "accuracy, compared with softmax: higher with a"),
    (against(panel(softmax=[0, 0, 0], a=[0.1, 0.15, 0.2], b=[0.1, 0.15, 0.2])),
     "accuracy, compared with softmax, corrected for 2 comparisons: undecided with a and b"),
    (along("soft", "up", "mixed"), "Exact, every run compared with soft: more with up (1 to 2, 4) "
     "and mixed (3 to 5); fewer with up (3) and mixed (1)"),
    (along("soft"), ""),
    (along("up"), ""),
    (survey(panel(softmax=LOW, a=HIGH, b=[0, 0.2, 0.1], c=[9, 1, -9], d=[3])),
     "Of 3 comparisons with softmax, 1 are better and 1 worse, corrected for their number 1 and 1, "
     "the others undecided; better in a panel, corrected, and shown worse in none: a"),
    (survey(panel(softmax=[0, 0, 0], a=[0.1, 0.15, 0.2], b=[0.1, 0.15, 0.2])),
     "Of 2 comparisons with softmax, 2 are better and 0 worse, corrected for their number 0 and 0, "
     "the others undecided; better in a panel, corrected, and shown worse in none: none"),
    (survey(panel("x", softmax=LOW, a=HIGH, b=HIGH), panel("y", softmax=HIGH, a=LOW)),
     "Of 3 comparisons with softmax, 2 are better and 1 worse, corrected for their number 2 and 1, "
     "the others undecided; better in a panel, corrected, and shown worse in none: b"),
    (survey(panel(softmax=HIGH, a=LOW)),
     "Of 1 comparisons with softmax, 0 are better and 1 worse, corrected for their number 0 and 1, "
     "the others undecided; better in a panel, corrected, and shown worse in none: none"),
    (survey(panel(softmax=[1], a=[5])), ""),
    (findings.best([model("x", 2, **BEST), model("y", 2, **OTHER)], METHODS, RANKED),
     "The best method by truth is also the best by a drop in 1 of 2 models"),
    (findings.best([model("x", 2, **OTHER), model("y", 1, **BEST)], METHODS, RANKED),
     "The best method by truth is also the best by a drop in 0 of 1 models"),
    (findings.best([model("x", 1, **BEST)], METHODS, RANKED), ""),
])  # fmt: skip
def test_a_title_says_what_the_runs_say_and_none_of_one_run(said: str, sentence: str) -> None:
    assert said == sentence


def test_runs_of_two_devices_are_no_pair() -> None:
    (both,) = [panel("p", softmax=LOW, a=HIGH)]
    elsewhere = [
        replace(run, provenance={**run.provenance, "device": "NVIDIA H200"}) if run.seed else run
        for run in both.series[1].behind
    ]
    mixed = Panel("p", [both.series[0], replace(both.series[1], behind=elsewhere)])
    assert survey(both).startswith("Of 1 comparisons") and survey(mixed) == ""


@pytest.mark.parametrize("paper", Paper.all(), ids=lambda paper: paper.name)
def test_a_title_of_one_number_names_the_point_of_a_curve(paper: Paper) -> None:
    """One number over all points may say the contrary of what a curve shows at most of them."""
    for name, figure in paper.items("figures").items():
        path = figure.get("finding", {}).get("path", "")
        curve = figure["path"].partition(":")[0].endswith((".curves", ".exact_spans"))
        if curve and path.endswith(":against"):
            assert " at " in figure["finding"]["options"]["said"], name


@pytest.mark.parametrize("paper", Paper.all(), ids=lambda paper: paper.name)
def test_captions_are_short_and_of_every_scale(paper: Paper) -> None:
    figures: Mapping[str, Any] = paper.items("figures")
    for name, figure in figures.items():
        assert len(figure["caption"].split()) <= 40, name
        assert "demo" not in figure["caption"], name
