"""A figure's numbers as they are read from what was drawn, and its slim SVG."""

import io
import re
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest

from workflow.reporting.figures.drawn import drawn
from workflow.reporting.figures.style import INK, rendered, styled


def test_lines_bars_points_and_shades_are_read() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    left.set_title("left")
    left.plot([0, 1, 2], [0.12345, 2, np.pi], label="bold")
    left.plot([0, 1], [7, 7])  # a single run beside it
    left.errorbar([5, 6], [0.5, 0.25], yerr=[[0.1, 0.1], [0.1, 0.1]], label="with errors")
    left.bar([1, 2], [3, 4], label="bars")
    left.scatter([8, 9], [-1, -2], label="cloud")
    right.plot([1, 2], [3, 4])  # without any label
    right.imshow([[1.0, 0.5], [0.25, 0.125]])
    right.imshow(np.zeros((2, 2, 3)))  # a picture
    assert drawn(figure) == [
        ("left", "bold", "0 1 2", "0.1235 2 3.142"),
        ("left", "with errors", "5 6", "0.5 0.25"),
        ("left", "bars", "1 2", "3 4"),
        ("left", "cloud", "8 9", "-1 -2"),
        ("", "", "1 2", "3 4"),
        ("", "", "0", "1 0.5"),
        ("", "", "1", "0.25 0.125"),
    ]


def test_an_svg_is_slim_and_keeps_its_texts_and_looks() -> None:
    figure, axes = plt.subplots()
    axes.plot(np.linspace(0, 1, 50), np.sin(np.linspace(0, 9, 50)), alpha=0.123)
    axes.set_title("0.754±0.093 <paper: 0.69>")
    svg = rendered(figure, "svg").decode()
    tree = ElementTree.fromstring(svg)
    texts = [node.text for node in tree.iter() if node.tag.endswith("text")]
    assert "0.754±0.093 <paper: 0.69>" in texts and "opacity: 0.123" in svg
    paths = [node.get("d", "") for node in tree.iter() if node.tag.endswith("path")]
    assert any(len(path) > 300 for path in paths)
    assert not any(re.search(r"\.\d\d", path) for path in paths)
    named = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    assert named and named <= set(re.findall(r' id="([^"]+)"', svg))


def test_an_svg_takes_its_ink_from_the_page() -> None:
    with styled():
        figure, axes = plt.subplots()
        axes.plot([1, 2], [3, 4], color=INK)
        svg = rendered(figure, "svg").decode()
        png = np.asarray(plt.imread(io.BytesIO(rendered(figure, "png"))))
    assert svg.count(INK) == 1 and "prefers-color-scheme:dark" in svg
    assert svg.count("currentColor") > 5 and "#ffffff" not in svg
    assert png[0, 0].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "text", ["a $5 bill and a $1 bill", "$$", "$\\frac{$", "a\x07\x00b\uffff", "<a & b>", "x_1^2"]
)
def test_texts_are_shown_as_they_are(text: str) -> None:
    with styled():
        figure, axes = plt.subplots()
        axes.set_title(text)
        axes.set_xticks([0], [text])
        for kind in ("pdf", "png"):
            assert rendered(figure, kind)
        svg = ElementTree.fromstring(rendered(figure, "svg"))
    plain = re.sub("[\x00\x07\uffff]", "\ufffd", text)
    assert [one for one in svg.itertext() if one.strip()].count(plain) == 2
