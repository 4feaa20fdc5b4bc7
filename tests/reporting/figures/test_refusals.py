"""What a figure cannot draw is refused, with a sentence that names the panel, run or option."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from tests.reporting.figures import (
    test_training_curves as curves,
)
from tests.reporting.figures import (
    test_word_polarity as polarity,
)
from tests.reporting.figures.test_translation_figures import maps, series
from tests.reporting.synthetic import one_run
from workflow.reporting.figures import attention_bars, heat_maps, outcomes
from workflow.reporting.figures.panels import Panel, Series
from workflow.runtime.errors import ReportingError

STEPS = curves.run(0, [1, 2, 3])
WORDS = {"word": ["good"], "counts": [[1, 2]]}
UNMEASURED = Panel("De-En", [series("softmax", one_run("model", 0), array="model")])


def curve(*behind: Any, array: str = "probe.accuracy", **options: Any) -> Any:
    options_of = {"array": array} if array else {}
    return curves.drawn([Panel("p", [Series("s", "same", options_of, behind, None)])], **options)


def outcome(name: str) -> Any:
    run = one_run("s", 3, {"learned": 1})
    return outcomes.draw([Panel("p", [Series("s", "s", {}, [run], None)])], "std", {name: "it"})


def word(arrays: Mapping[str, Any], **options: Any) -> Any:
    return polarity.draw([polarity.panel(arrays)], **{**polarity.ASKED, **options})


CASES: Sequence[tuple[Callable[[], Any], str]] = [
    (
        lambda: outcome("probe.lerned"),
        "s/seed-3.json: there is no value of probe.lerned; correct the name",
    ),
    (
        lambda: curve(curves.run(0, [1, 2], [10, 20]), curves.run(1, [1], [30])),
        "p, s: no value of probe.step is comm",
    ),
    (
        lambda: curve(curves.run(0, [1, 2])),
        "seed-0.json: probe.step and probe.accuracy have 3 and 2 values",
    ),
    (lambda: curve(one_run("same", 4)), "seed-4.json: there is no array probe.step; correct the"),
    (lambda: curve(STEPS, array=""), "series s names no array; add one"),
    (lambda: curve(STEPS, label={"q": "%"}), 'options.label: "p" is a panel of no label'),
    (lambda: curve(STEPS, label={"p": "%", "q": "%"}), 'options.label: "q" is the label of no pan'),
    (
        lambda: curves.drawn([Panel("p", [curves.series([STEPS], name) for name in "abcdeg"])]),
        "g: no look is left for it; draw fewer lines in a figure",
    ),
    (
        lambda: attention_bars.draw(
            [Panel("De-En", [series("a", maps()), series("b", maps(source=["ein", "boot", "."]))])]
        ),
        "other sentences",
    ),
    (lambda: attention_bars.draw([UNMEASURED]), "measure the run"),
    (lambda: heat_maps.draw([UNMEASURED]), "measure the run"),
    (lambda: word({}), "there are no arrays probe.word and probe.counts"),
    (lambda: word({**WORDS, "counts": [[1, 2], [3, 4]]}), "probe.counts is 2 by 2 for 1 words"),
    (lambda: word(WORDS, labels={}), "options.labels: no entry for panel a corpus; add"),
]


@pytest.mark.parametrize(("draw", "sentence"), CASES, ids=[sentence for _, sentence in CASES])
def test_what_cannot_be_drawn_is_named(draw: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ReportingError, match=re.escape(sentence)):
        draw()
