"""snell2021 figure 4: the table as drawn, and arrays that do not fit."""

from tests.reporting.synthetic import one_run
from workflow.reporting.figures.panels import Panel, Series
from workflow.reporting.figures.word_polarity import draw

ASKED = {"word": "probe.word", "counts": "probe.counts", "labels": {"a corpus": ["yes", "no"]}}


def panel(arrays) -> Panel:
    behind = [] if arrays is None else [one_run("words", 3, {}, arrays)]
    series = Series("words", "words", {}, behind, None)
    return Panel("a corpus", [series])


def test_every_word_is_written_with_its_counts():
    counted = {"word": ["good", "bad"], "counts": [[2, 0], [0.5, 1.004]]}
    left, right = draw([panel(counted), panel(None)], **ASKED).axes
    shown = [text.get_text() for text in left.texts]
    assert shown == ["2 (100 %)", "0 (0 %)", "0.5 (33 %)", "1 (67 %)"]
    assert [text.get_text() for text in left.get_yticklabels()] == ["good", "bad"]
    assert [text.get_text() for text in left.get_xticklabels()] == ["yes", "no"]
    assert "not run" in [text.get_text() for text in right.texts]
