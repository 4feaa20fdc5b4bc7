"""Figures: their files, what they say was not run, and that they can be read in grey."""

import re
import statistics
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import matplotlib.colors
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.reporting.synthetic import Results, lines, one_run, outcomes
from tests.sealing import put
from workflow.definitions.figures import figure_runs
from workflow.definitions.paper import Paper
from workflow.files import read_sidecar
from workflow.reporting.figures import drawing, exact_spans, histograms, receptive_fields
from workflow.reporting.figures.drawing import KINDS, plot
from workflow.reporting.figures.panels import (
    Series,
    missing,
    not_run,
    other_devices,
    panels,
    seeds,
)
from workflow.reporting.figures.style import DASHES, INK, MECHANISMS, OTHERS, looks
from workflow.reporting.measures import Measures
from workflow.reporting.tables.long_form import build
from workflow.runtime.errors import ReportingError
from workflow.runtime.integrity import read_verified

NAMES = ("figure_2", "figure_6_1", "stack_exact_spans")
DRAW = {
    "figure_2": receptive_fields.draw,
    "figure_6_1": histograms.draw,
    "stack_exact_spans": exact_spans.draw,
}


def drawn(paper: Paper, name: str, measures: Measures) -> Figure:
    definition = paper.figures["figures"][name]
    found = panels(definition, paper.expected, measures)
    return DRAW[name](found, **definition.get("options", {}))


def words(figure: Figure) -> str:
    """Return the small lines below a figure."""
    return " ".join(text.get_text() for text in figure.texts)


@pytest.mark.parametrize("name", NAMES)
def test_files_and_sidecar(paper: Paper, measures: Measures, tmp_path: Path, name: str) -> None:
    plot(paper, name, "lite", measures, tmp_path / name)
    assert min(plt.imread(tmp_path / f"{name}.png").shape[:2]) > 300
    assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    sidecar = read_sidecar(tmp_path / f"{name}.png")
    assert sidecar["schema"] == 1 and sidecar["runs"]
    for panel in sidecar["panels"]:
        seeds = 0 if panel["label"] in sidecar["not_run"] else 3
        for series in panel["series"]:
            assert len(series["runs"]) == len(series["measures"]) == seeds
            assert set(series["runs"]) <= set(sidecar["runs"])
    for run in sidecar["runs"].values():
        assert run["commit"] and run["torch"] and run["cpu"] and run["device"] and run["data"]
    first = {kind: (tmp_path / f"{name}.{kind}").read_bytes() for kind in KINDS}
    plot(paper, name, "lite", measures, tmp_path / name)
    assert first == {kind: (tmp_path / f"{name}.{kind}").read_bytes() for kind in first}


@pytest.mark.parametrize(
    ("paper", "name"), [(paper, name) for paper in Paper.all() for name in paper.items("figures")]
)
def test_without_any_run_a_figure_is_a_line_that_says_so(
    paper: Paper, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Figure] = []
    monkeypatch.setattr(drawing, "rendered", lambda figure, kind: str(made.append(figure)).encode())
    plot(paper, name, "lite", Measures([]), tmp_path / name)
    sidecar = read_sidecar(tmp_path / f"{name}.png")
    assert sidecar["not_run"] == [panel["label"] for panel in sidecar["panels"]]
    (axes,) = made[0].axes
    assert [text.get_text() for text in axes.texts] == ["not run"]
    said = " ".join(words(made[0]).split())
    assert said == f"Not run: {'; '.join(dict.fromkeys(sidecar['not_run']))}."
    assert made[0].get_size_inches()[1] < 1


def test_what_was_not_run_is_named(paper: Paper, results: Results) -> None:
    results.add("stack_language", "uniform_discrete_penalty", 0)
    results.add("text_classification", "sst_soft", 0)
    measures = Measures.read(results.measures)
    found = panels(paper.figures["figures"]["figure_2"], paper.expected, measures)
    assert missing(found) == ["soft", "soft + penalty"]
    found = panels(paper.figures["figures"]["figure_6_1"], paper.expected, measures)
    assert not_run(found) == (
        "Not run: SST, two-stream discrete; SST, single-stream discrete; IMDB; 20 News; AG News."
    )


def test_figure_2_shows_what_is_needed_read_and_missed(paper: Paper, measures: Measures) -> None:
    run = measures.of("stack_language", "uniform_soft")[0]
    figure = drawn(paper, "figure_2", measures)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["discrete + penalty", "soft", "soft + penalty"]
    axes = figure.axes[1]
    names = (f"receptive_field.example_{name}" for name in ("field", "span"))
    field, needed = (np.array(run.array(name)) for name in names)
    colors = np.asarray(axes.images[0].get_array())
    blue, orange = map(matplotlib.colors.to_rgb, (receptive_fields.NEEDED, receptive_fields.OTHER))
    assert np.allclose(colors[..., :3], np.where(needed[..., None] > 0, blue, orange))
    shades = 1 + np.log10(np.maximum(field, 1e-4)) / 4
    assert np.allclose(colors[..., 3], shades)
    missed = {(int(x), int(y)) for x, y in axes.lines[0].get_xydata()}
    assert missed == {(x, y) for y, x in np.argwhere((needed > 0) & (field <= 1e-4))}
    assert "".join(run.array("receptive_field.example_symbols")) in words(figure)


def test_figure_6_1_marks_the_papers_means(paper: Paper, measures: Measures) -> None:
    figure = drawn(paper, "figure_6_1", measures)
    (axes,) = figure.axes
    assert {0.69, 0.71} <= {line.get_xdata()[0] for line in axes.lines}
    assert re.fullmatch(r"━ soft \S+±\S+ ▼0\.69", axes.texts[0].get_text())
    assert "IMDB" in words(figure)


def test_figure_6_1_says_what_table_6_1_says(paper: Paper, results: Results) -> None:
    for seed in (0, 1):
        path = results.add("text_classification", "sst_soft", seed)
        measures = read_verified(path)
        importance = measures["evaluators"]["attention_importance"]
        taus = [-0.2, 0.2] if seed else [0.4, 1.0]  # within a seed they differ less than together
        importance["arrays"]["tau_norm"] = taus
        mean, std = statistics.mean(taus), statistics.stdev(taus)
        importance["scalars"]["tau_norm"] |= {"value": mean, "std": std, "n": 2}
        put(path, measures)
    read = Measures.read(results.measures)
    records = lines(build(paper, "table_6_1", "lite", read))
    (cell,) = (
        one
        for one in records
        if (one["row"], one["column"]) == ("gradient norm: SST", "TRANSFORMER")
        and (one["metric"], one["spread_over"]) == ("tau_norm", "examples")
    )
    (axes,) = drawn(paper, "figure_6_1", read).axes
    assert cell["mean"] == "0.35" and cell["std"][:5] == "0.360"
    assert axes.texts[0].get_text() == "━ soft 0.35±0.36 ▼0.69"


def test_figure_6_1_counts_values_beyond_its_axis_in_the_outermost_bar(
    paper: Paper, results: Results
) -> None:
    path = results.add("text_classification", "sst_soft", 0)
    measures = read_verified(path)
    taus = measures["evaluators"]["attention_importance"]["arrays"]["tau_norm"]
    taus[:2] = [-0.73, -0.5]
    put(path, measures)
    (axes,) = drawn(paper, "figure_6_1", Measures.read(results.measures)).axes
    assert axes.get_xlim() == (0, 1)
    heights = [patch.get_height() for patch in axes.patches[1:]]
    assert sum(heights) == pytest.approx(100) and heights[0] >= 200 / len(taus) - 1e-9


SEEN_AS = {
    "everyone": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        *([0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216]),
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        *([0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413]),
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        *([1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602]),
        [0.004733, 0.691367, 0.303900],
    ],
}
"""Linear RGB as the colour-blind see it: Machado, Oliveira and Fernandes (2009), severity 1."""


TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


def linear(color: str) -> np.ndarray:
    rgb = np.array(matplotlib.colors.to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(color: str, seen: list[list[float]]) -> np.ndarray:
    """Return a colour's CIELAB (D65) as it is seen."""
    xyz = np.array(TO_XYZ) @ np.clip(np.array(seen) @ linear(color), 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def luminance(color: str) -> float:
    return float(linear(color) @ TO_XYZ[1])


@pytest.mark.parametrize("page", ["#ffffff", "#0d1117"])
def test_colours_are_seen_on_a_white_and_on_a_dark_page(page: str) -> None:
    """By the contrast that WCAG 2 asks of graphics; ink is the page's own."""
    for color, _ in (*MECHANISMS.values(), *OTHERS):
        light, dark = sorted((luminance(color), luminance(page)), reverse=True)
        assert color == INK or (light + 0.05) / (dark + 0.05) > 3, color


LINES = [
    [series["label"] for series in panel["series"]]
    for paper in Paper.all()
    for definition in paper.figures["figures"].values()
    if definition["path"].endswith(("curves:draw", "exact_spans:draw", "histograms:draw"))
    for panel in definition["panels"]
]


@pytest.mark.parametrize("seen", SEEN_AS)
def test_lines_of_a_panel_differ_for_the_colour_blind_and_in_grey(seen: str) -> None:
    for labels in LINES:
        found = list(looks(labels).values())
        for one, other in combinations(found, 2):
            colors = (lab(it["color"], SEEN_AS[seen]) for it in (one, other))
            assert (
                np.linalg.norm(np.subtract(*colors)) > 15 or one["linestyle"] != other["linestyle"]
            ), labels
            marks = [(it["marker"], it["markerfacecolor"], it["linestyle"]) for it in (one, other)]
            assert marks[0] != marks[1]


def test_a_mechanism_has_one_colour_under_all_its_names() -> None:
    names = [
        "two-stream discrete",
        "soft",
        "top-k, k = 8",
        "keyword",
        "single-stream discrete",
        "softmax-1",
    ]
    found = looks(names)
    assert found == {**found, **{
        name: {"color": MECHANISMS[mechanism][0], "marker": MECHANISMS[mechanism][1],
               "markerfacecolor": MECHANISMS[mechanism][0], "linestyle": "-"}
        for name, mechanism in [("two-stream discrete", "Gumbel"), ("soft", "softmax"),
                                ("top-k, k = 8", "top-k"), ("softmax-1", "softmax-1")]
    }}  # fmt: skip
    again = found["single-stream discrete"]
    assert again["color"] == MECHANISMS["Gumbel"][0]
    assert (again["markerfacecolor"], again["linestyle"]) == ("none", DASHES[1])
    assert found["keyword"]["color"] == INK
    assert looks(["softmax", "Gumbel"])["Gumbel"] == looks(["Gumbel"])["Gumbel"]
    with pytest.raises(ReportingError, match="number 5: no look is left"):
        looks(f"number {n}" for n in range(6))
    assert len(dict(MECHANISMS.values())) == len({marker for _, marker in MECHANISMS.values()})


def test_many_seeds_in_a_row_are_written_short() -> None:
    runs = outcomes("same", [1] * 20)
    behind = (runs, runs[:5], [*runs[:6], *runs[7:9]], runs[3:4])
    together, some, gap, single = (Series("a", "same", {}, part, None) for part in behind)
    assert (together.seeds, some.seeds) == ("0 to 19", "0, 1, 2, 3, 4")
    assert gap.seeds == "0, 1, 2, 3, 4, 5, 7, 8"
    assert (seeds([together]), seeds([single])) == ("seeds 0 to 19", "seed 3")


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("figure_2", {"path": "workflow.reporting.figures.curves:none"}, "does not exist; correct"),
        ("figure_2", {"path": "workflow.reporting.none:draw"}, "does not exist; correct the path"),
        ("figure_2", {"options": {"colour": 1}}, "options do not fit draw: .*colour"),
        ("figure_2", {"finding": {"path": "workflow.reporting.none:said"}}, "does not exist"),
    ],
)
def test_a_wrong_definition_is_named(
    tmp_path: Path, measures: Measures, name: str, change: dict, sentence: str
) -> None:
    paper = Paper("discrete_transformer")
    paper.figures["figures"][name] |= change
    with pytest.raises(ReportingError, match=rf"figures\.{name}: .*{sentence}"):
        plot(paper, name, "lite", measures, tmp_path / "f")


def test_the_title_is_what_the_data_say(paper: Paper, measures: Measures, tmp_path: Path) -> None:
    definition = paper.figures["figures"]["figure_2"]
    plot(paper, "figure_2", "lite", Measures([]), tmp_path / "none")
    assert read_sidecar(tmp_path / "none.svg")["title"] == definition["title"]
    plot(paper, "figure_2", "lite", measures, tmp_path / "some")
    title = read_sidecar(tmp_path / "some.svg")["title"]
    assert title.startswith(definition["finding"]["options"]["said"])


RUNS = [
    replace(run, provenance={**run.provenance, "device": device})
    for seed, device in enumerate(["cpu", "NVIDIA H200", "cpu"])
    for run in [one_run("a", seed, {"m": 0.5})]
]
SERIES = [{"label": "a", "variant": "a"}]


def test_a_panel_may_be_of_another_experiment_and_runs_of_any_device(paper: Paper) -> None:
    both = [{"label": "p", "experiment": "toy", "series": SERIES}, {"label": "q", "series": SERIES}]
    definition = {"experiment": "other", "any_device": True, "panels": both}
    mine, other = panels(definition, paper.expected, Measures(RUNS))
    assert [run.seed for run in mine.series[0].behind] == [0, 1, 2]
    assert not other.drawn and other_devices([mine]) == ""
    assert figure_runs(definition) == [("toy", "a"), ("other", "a")]


def test_a_series_is_of_one_device_and_the_caption_counts_what_is_left_out(paper: Paper) -> None:
    definition = {"experiment": "toy", "panels": [{"label": "p", "series": SERIES}]}
    (panel,) = panels(definition, paper.expected, Measures(RUNS))
    assert [run.seed for run in panel.series[0].behind] == [0, 2]
    assert "another device: 1 on NVIDIA H200." in other_devices([panel])
    alike = panels(definition, paper.expected, Measures(RUNS[::2]))
    assert other_devices(alike) == ""
