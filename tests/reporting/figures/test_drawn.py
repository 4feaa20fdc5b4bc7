"""A figure's numbers as they are read from what was drawn, and its slim SVG."""

import re
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np

from workflow.reporting.figures.drawn import drawn
from workflow.reporting.figures.style import rendered


def test_lines_bars_points_and_shades_are_read() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    left.set_title("left")
    left.plot([0, 1, 2], [0.12345, 2, np.pi], label="bold")
    left.plot([0, 1], [7, 7])  # a single run beside it
    left.errorbar([5, 6], [0.5, 0.25], yerr=[[0.1, 0.1], [0.1, 0.1]], label="with errors")
    left.bar([1, 2], [3, 4], label="bars")
    left.scatter([8, 9], [-1, -2], label="cloud")
    right.imshow([[1.0, 0.5], [0.25, 0.125]])
    right.imshow(np.zeros((2, 2, 3)))  # a picture
    assert drawn(figure) == [
        ("left", "bold", "0 1 2", "0.1235 2 3.142"),
        ("left", "with errors", "5 6", "0.5 0.25"),
        ("left", "bars", "1 2", "3 4"),
        ("left", "cloud", "8 9", "-1 -2"),
        ("", "", "0", "1 0.5"),
        ("", "", "1", "0.25 0.125"),
    ]


def test_lines_without_any_label_are_read() -> None:
    figure, axes = plt.subplots()
    axes.plot([1, 2], [3, 4])
    assert drawn(figure) == [("", "", "1 2", "3 4")]


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
