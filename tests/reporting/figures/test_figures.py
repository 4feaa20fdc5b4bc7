"""Figures: their files, what they say was not run, and that they can be read in grey."""

import re
import statistics
import struct
import zlib
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import matplotlib.colors
import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.reporting.synthetic import Results, lines, one_run, outcomes
from tests.sealing import put
from workflow.definitions.paper import Paper
from workflow.files import read_sidecar
from workflow.reporting.figures import drawing, exact_spans, histograms, receptive_fields, sweep
from workflow.reporting.figures.drawing import KINDS, plot
from workflow.reporting.figures.panels import (
    Panel,
    Series,
    missing,
    not_run,
    other_devices,
    panels,
    seeds,
)
from workflow.reporting.figures.style import IN_GREY, LOOKS, looks_by_label
from workflow.reporting.measures import Measures
from workflow.reporting.tables.long_form import build
from workflow.runtime.errors import ReportingError
from workflow.runtime.integrity import read_verified

NAMES = ("figure_2", "figure_6_1", "stack_temperature", "stack_exact_spans")
DRAW = {
    "figure_2": receptive_fields.draw,
    "figure_6_1": histograms.draw,
    "stack_temperature": sweep.draw,
    "stack_exact_spans": exact_spans.draw,
}


def drawn(paper: Paper, name: str, measures: Measures) -> Figure:
    definition = paper.figures["figures"][name]
    found = panels(definition, paper.expected, measures)
    return DRAW[name](found, **definition.get("options", {}))


def words(figure: Figure) -> str:
    """Return the small lines below a figure."""
    return " ".join(text.get_text() for text in figure.texts)


def png_size(path: Path) -> tuple[int, int]:
    """Return width and height of a PNG whose checksums hold."""
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert zlib.crc32(content[12:29]) == struct.unpack(">I", content[29:33])[0]
    width, height = struct.unpack(">II", content[16:24])
    return width, height


@pytest.mark.parametrize("name", NAMES)
def test_files_and_sidecar(paper: Paper, measures: Measures, tmp_path: Path, name: str) -> None:
    plot(paper, name, "lite", measures, tmp_path / name)
    assert min(png_size(tmp_path / f"{name}.png")) > 300
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
    assert words(made[0]) == f"Not run: {'; '.join(dict.fromkeys(sidecar['not_run']))}."
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


def test_figure_2_shows_the_sequence_and_the_four_fields(paper: Paper, measures: Measures) -> None:
    run = measures.of("stack_language", "uniform_soft")[0]
    symbols = run.array("receptive_field.example_symbols")
    figure = drawn(paper, "figure_2", measures)
    truth, discrete, soft, penalty = figure.axes[:4]
    assert [axes.get_title() for axes in (truth, discrete, soft, penalty)] == [
        "true dependencies",
        "discrete + penalty",
        "soft",
        "soft + penalty",
    ]
    for axes in figure.axes[:4]:
        assert [label.get_text() for label in axes.get_xticklabels()] == symbols[:-1]
        assert [label.get_text() for label in axes.get_yticklabels()] == symbols[1:]
    field = soft.images[0].get_array()
    assert field.tolist() == run.array("receptive_field.example_field")
    assert truth.images[0].get_array().tolist() == run.array("receptive_field.example_span")
    assert "".join(symbols) in words(figure)
    shade = soft.images[0].norm
    assert [float(shade(entry)) for entry in (0.0001, 0.01, 1)] == pytest.approx([0, 0.5, 1])
    assert "log scale" in figure.axes[4].get_ylabel()


def test_figure_6_1_marks_the_papers_means(paper: Paper, measures: Measures) -> None:
    figure = drawn(paper, "figure_6_1", measures)
    (axes,) = figure.axes
    marked = {line.get_xdata()[0] for line in axes.lines}
    assert {0.69, 0.71} <= marked
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert re.fullmatch(r"soft: \S+±\S+ \(paper: 0\.69\)", legend[0])
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
    legend = axes.get_legend().get_texts()[0].get_text()
    assert cell["mean"] == "0.35" and cell["std"][:5] == "0.360"
    assert legend == "soft: 0.35±0.36 (paper: 0.69)"


def test_figure_6_1_widens_its_axis_rather_than_hide_values(paper: Paper, results: Results) -> None:
    path = results.add("text_classification", "sst_soft", 0)
    measures = read_verified(path)
    taus = measures["evaluators"]["attention_importance"]["arrays"]["tau_norm"]
    taus[:2] = [-0.73, -0.5]
    put(path, measures)
    figure = drawn(paper, "figure_6_1", Measures.read(results.measures))
    (axes,) = figure.axes
    low, high = axes.get_xlim()
    assert low == pytest.approx(-0.8) and high == pytest.approx(1.0)
    assert sum(patch.get_height() for patch in axes.patches[1:]) == pytest.approx(100)


def test_sweep_is_in_the_order_of_its_setting(paper: Paper, measures: Measures) -> None:
    figure = drawn(paper, "stack_temperature", measures)
    line = figure.axes[0].lines[0]
    assert list(line.get_xdata()) == [0.5, 1.0, 2.0]
    values = [
        one.number("receptive_field.precision")
        for one in measures.of("stack_language", "uniform_discrete_penalty")
    ]
    assert line.get_ydata()[1] == pytest.approx(sum(values) / 3)


@pytest.mark.parametrize("name", NAMES)
def test_axes_are_labelled(paper: Paper, measures: Measures, name: str) -> None:
    figure = drawn(paper, name, measures)
    assert any(axes.get_xlabel() for axes in figure.axes)
    assert any(axes.get_ylabel() for axes in figure.axes)


def grey(look: Mapping[str, Any]) -> float:
    red, green, blue = matplotlib.colors.to_rgb(look["color"])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_series_differ_in_grey_and_in_mark() -> None:
    for some in (LOOKS[:IN_GREY], LOOKS[IN_GREY:]):
        light = [grey(look) for look in some]
        steps = [after - before for before, after in pairwise(light)]
        assert min(steps) > 0.1
    assert len({look["linestyle"] for look in LOOKS}) == len(LOOKS)
    assert len({look["marker"] for look in LOOKS}) == len(LOOKS)


CURVES = [
    (paper.name, name)
    for paper in Paper.all()
    for name, definition in paper.figures["figures"].items()
    if definition["path"].endswith("figures.curves:draw")
]


@pytest.mark.parametrize(("name", "figure"), CURVES)
def test_lines_of_a_panel_differ_in_grey(name: str, figure: str) -> None:
    panels = Paper(name).figures["figures"][figure]["panels"]
    given = looks_by_label(series["label"] for panel in panels for series in panel["series"])
    for panel in panels:
        light = sorted(grey(given[series["label"]]) for series in panel["series"])
        assert all(after - before > 0.1 for before, after in pairwise(light))


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


def lab(color: str, seen: list[list[float]]) -> np.ndarray:
    """Return a colour's CIELAB (D65) as it is seen."""
    rgb = np.array(matplotlib.colors.to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ np.clip(np.array(seen) @ linear, 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("seen", SEEN_AS)
def test_colours_differ_for_the_colour_blind(seen: str) -> None:
    found = [lab(look["color"], SEEN_AS[seen]) for look in LOOKS]
    assert min(np.linalg.norm(one - other) for one, other in combinations(found, 2)) > 20


def test_a_fifth_line_is_refused_where_looks_tell_lines_apart(
    paper: Paper, measures: Measures
) -> None:
    behind = measures.of("text_classification", "sst_soft")
    five = [Series(f"number {at}", "sst_soft", {"x": at + 1}, behind, None) for at in range(5)]
    tau = {"measure": "attention_importance.tau_norm", "label": "tau", "low": 0.0, "high": 1.0}
    group = {"label": "fraction", "measures": {f"accuracy.{at}": str(at) for at in range(5)}}
    with pytest.raises(ReportingError, match="panel SST has 5 lines, and only 4 can be told"):
        histograms.draw([Panel("SST", five)], **tau)
    with pytest.raises(ReportingError, match="group fraction has 5 lines"):
        sweep.draw([Panel("SST", five)], "setting", [group])
    stack = measures.of("stack_language", "uniform_soft")
    with pytest.raises(ReportingError, match="panel stack has 5 lines"):
        exact_spans.draw([Panel("stack", [replace(one, behind=stack) for one in five])])
    assert histograms.draw([Panel("SST", five[:4])], **tau).axes


def test_many_seeds_in_a_row_are_written_short() -> None:
    runs = outcomes("same", [1] * 20)
    together, some = (
        Series("a", "same", {}, runs, None),
        Series("b", "same", {}, runs[:5], None),
    )
    gap = Series("c", "same", {}, [*runs[:6], *runs[7:9]], None)
    assert (together.seeds, some.seeds) == ("0 to 19", "0, 1, 2, 3, 4")
    assert gap.seeds == "0, 1, 2, 3, 4, 5, 7, 8"
    assert seeds([together]) == "seeds 0 to 19"
    assert seeds([Series("d", "same", {}, runs[3:4], None)]) == "seed 3"


FIVE = {"label": "fraction", "measures": {f"none.{number}": str(number) for number in range(5)}}


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("figure_2", {"path": "workflow.reporting.figures.sweep:none"}, "does not exist; correct"),
        ("figure_2", {"path": "workflow.reporting.none:draw"}, "does not exist; correct the path"),
        ("figure_2", {"options": {"colour": 1}}, "options do not fit draw: .*colour"),
        ("stack_temperature", {"options": {"axis": "t", "groups": [FIVE]}}, "fraction has 5 lines"),
    ],
)
def test_a_wrong_definition_is_named(
    tmp_path: Path, measures: Measures, name: str, change: dict, sentence: str
) -> None:
    paper = Paper("discrete_transformer")
    paper.figures["figures"][name] |= change
    with pytest.raises(ReportingError, match=rf"figures\.{name}: .*{sentence}"):
        plot(paper, name, "lite", measures, tmp_path / "f")


def test_a_series_is_of_one_device_and_the_caption_counts_what_is_left_out() -> None:
    runs = [
        replace(run, provenance={**run.provenance, "device": device})
        for seed, device in enumerate(["cpu", "NVIDIA H200", "cpu"])
        for run in [one_run("a", seed, {"m": 0.5})]
    ]
    definition = {
        "experiment": "toy",
        "panels": [{"label": "p", "series": [{"label": "a", "variant": "a"}]}],
    }
    (panel,) = panels(definition, Paper("discrete_transformer").expected, Measures(runs))
    assert [run.seed for run in panel.series[0].behind] == [0, 2]
    assert "another device: 1 on NVIDIA H200." in other_devices([panel])
    alike = panels(definition, Paper("discrete_transformer").expected, Measures(runs[::2]))
    assert other_devices(alike) == ""
