"""Heat maps of count tables: values, names and labels, and what is refused."""

import numpy as np

from tests.reporting.synthetic import one_run
from workflow.reporting.figures.count_tables import draw
from workflow.reporting.figures.panels import Panel, Series

OPTIONS = {"symbol": "probe.symbol", "counts": "probe.counts"}
LABELS = {"across": "copy", "up": "input", "label": "C"}


def panel(label: str, table: np.ndarray | None, symbols: int | None = None) -> Panel:
    """Return a panel of the table, or one that was not run."""
    if table is None:
        return Panel(label, [Series("a", "a", {}, [], None)])
    names = [str(1 + n) for n in range(len(table) if symbols is None else symbols)]
    run = one_run(label, 3, {}, {"symbol": names, "counts": table.tolist()})
    return Panel(label, [Series("a", label, {}, [run], None)])


def test_tables_stand_in_one_scale_with_their_names() -> None:
    small, large = np.eye(4) / 8, np.arange(900.0).reshape(30, 30)
    figure = draw([panel("small", small), panel("large", large)], **OPTIONS, **LABELS)
    for axes, table in zip(figure.axes[:2], (small, large), strict=True):
        (image,) = axes.images
        assert np.array_equal(image.get_array(), table)
        assert image.get_clim() == (0, 899 * 1.5)
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("copy", "input")
    few, many = ([label.get_text() for label in axes.get_xticklabels()] for axes in figure.axes[:2])
    assert few == ["1", "2", "3", "4"]
    assert many == [str(1 + n) for n in range(0, 30, 3)]
    assert list(figure.axes[1].get_yticks()) == list(range(0, 30, 3))
    assert figure.axes[2].get_ylabel() == "C"
    assert [text.get_text() for text in figure.texts] == ["Seed 3."]


def test_a_table_that_was_not_run_is_said_to_be() -> None:
    figure = draw([panel("small", np.eye(2)), panel("other", None)], **OPTIONS, **LABELS)
    assert [text.get_text() for text in figure.axes[1].texts] == ["not run"]
    assert "Not run: other." in figure.texts[0].get_text()
