"""What a figure cannot draw is refused, with a sentence that names the panel, run or option."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from tests.reporting.figures import (
    test_captioned_pictures as pictures,
)
from tests.reporting.figures import (
    test_count_tables as counts,
)
from tests.reporting.figures import (
    test_outcomes as outcomes,
)
from tests.reporting.figures import (
    test_training_curves as curves,
)
from tests.reporting.figures import (
    test_word_polarity as polarity,
)
from tests.reporting.figures.test_translation_figures import EMPTY, maps, run_of, series
from tests.reporting.synthetic import one_run
from workflow.reporting.figures import (
    attention_bars,
    captioned_pictures,
    embedding_maps,
    heat_maps,
    role_classes,
)
from workflow.reporting.figures.panels import Panel, Series
from workflow.runtime.errors import ReportingError

STEPS = curves.run(0, [1, 2, 3])
TEXTS = pictures.captioned("a dog")
IMAGES = pictures.with_pictures(pictures.captioned("a dog"), [pictures.picture(1)])
OTHERS = pictures.captioned("a cat", references=["x"] * 3)
TABLE = counts.panel("small", np.eye(3), symbols=4)
MANY = {f"probe.{number}": str(number) for number in range(5)}
WORDS = {"word": ["good"], "counts": [[1, 2]]}
UNMEASURED = Panel("De-En", [series("softmax", one_run("model", 0), array="model")])


def curve(*behind: Any, array: str = "probe.accuracy", **options: Any) -> Any:
    options_of = {"array": array} if array else {}
    return curves.drawn([Panel("p", [Series("s", "same", options_of, behind, None)])], **options)


def outcome(*series: Series, measures: Mapping[str, str] = outcomes.MEASURES) -> Any:
    return outcomes.drawn([Panel("p", series)], measures)


def at(x: float | None, **values: float) -> Series:
    run = one_run("s", 3, {"learned": 1, "failed": 0, **values})
    return Series(f"std {x}", "s", {} if x is None else {"x": x}, [run], None)


def captions(*behind: Any) -> Any:
    return captioned_pictures.draw([Panel("p", [series("model", one) for one in behind])])


def word(arrays: Mapping[str, Any], **options: Any) -> Any:
    return polarity.draw([polarity.panel(arrays)], **{**polarity.ASKED, **options})


def table(**options: Any) -> Any:
    return counts.draw([TABLE], **{**counts.OPTIONS, **counts.LABELS, **options})


CASES: Sequence[tuple[Callable[[], Any], str]] = [
    (lambda: captions(IMAGES, OTHERS), "panel p: the runs were measured on other images"),
    (lambda: captions(TEXTS), "none has the array pictures.names; measure one"),
    (lambda: captions(run_of("scores")), "there is no array scores.references"),
    (table, "probe.counts is 3 by 3 for 4 symbols; measure"),
    (lambda: table(symbol="probe.names"), "no arrays probe.names and probe.counts; corr"),
    (lambda: outcome(at(0)), "p, std 0: x is missing or not above 0; give each series its"),
    (lambda: outcome(at(None)), "p, std None: x is missing or not above 0"),
    (lambda: outcome(at(1), at(1)), "p, std 1: x is twice in its panel"),
    (
        lambda: outcome(at(1), measures={"probe.lerned": "learned"}),
        "s/seed-3.json: there is no value of probe.lerned; correct the name",
    ),
    (lambda: outcome(at(1), measures=MANY), "options.measures has 5 lines, and only 4 can be told"),
    (lambda: outcome(at(1, learned=0.5)), "seed-3.json: probe.learned is 0.5"),
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
    (
        lambda: curve(STEPS, label={"p": "%", "q": "%"}),
        'options.label: "q" is the label of no panel',
    ),
    (
        lambda: curves.drawn([Panel("p", [curves.series([STEPS], name) for name in "abcde"])]),
        "panel p has 5 lines, and only 4 can be told",
    ),
    (
        lambda: attention_bars.draw(
            [Panel("De-En", [series("a", maps()), series("b", maps(source=["ein", "boot", "."]))])]
        ),
        "other sentences",
    ),
    (lambda: attention_bars.draw([UNMEASURED]), "measure the run"),
    (lambda: heat_maps.draw([UNMEASURED]), "measure the run"),
    (lambda: embedding_maps.draw([UNMEASURED], ["NN"]), "measure the run"),
    (lambda: role_classes.draw([UNMEASURED]), "measure the run again"),
    (lambda: embedding_maps.draw([EMPTY], ["NN"] * 9), "9 parts of speech; name at most 8"),
    (lambda: word({}), "there are no arrays probe.word and probe.counts"),
    (lambda: word({**WORDS, "counts": [[1, 2], [3, 4]]}), "probe.counts is 2 by 2 for 1 words"),
    (lambda: word(WORDS, labels={}), "options.labels: no entry for panel a corpus; add"),
]


@pytest.mark.parametrize(("draw", "sentence"), CASES, ids=[sentence for _, sentence in CASES])
def test_what_cannot_be_drawn_is_named(draw: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ReportingError, match=re.escape(sentence)):
        draw()
