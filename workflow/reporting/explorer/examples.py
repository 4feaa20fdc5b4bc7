"""Examples to begin with: the first of the test split that the page has room and words for."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from model.batches.corpus import Corpus, Split
from model.objectives.multiview import VIEWS
from workflow.definitions.explorer import Task
from workflow.reporting.explorer.words import Words

FITS = 60
"""Most tokens of an example, in each view."""

PageExample = dict[str, Any]
"""`tokens`, page's numbers without BOS, in task of views by view; `label`; `truth` where known."""


def examples(task: Task, corpus: Corpus, words: Words, longest: int) -> list[PageExample]:
    """Return the examples of a task, as many as it has, of at most `longest` tokens."""
    split = corpus.split("test")
    fitting = _fitting(task, corpus, words, min(longest, FITS))
    return [
        {"tokens": tokens, "label": _label(split, number)} | _truth(task, split, number)
        for number, tokens in islice(fitting, task["examples"])
    ]


def _fitting(
    task: Task, corpus: Corpus, words: Words, most: int
) -> Iterator[tuple[int, list[int] | Mapping[str, list[int]]]]:
    """Yield number and tokens of the examples that fit."""
    split = corpus.split("test")
    for number in range(len(split)):
        tokens = words.numbers(split.tokens[split.offsets[number] : split.offsets[number + 1]])
        if tokens is None:
            continue
        views = views_of(corpus, split, number, tokens) if task["kind"] == "views" else {"": tokens}
        if max(map(len, views.values())) <= most:
            yield number, views if task["kind"] == "views" else tokens


def views_of(
    corpus: Corpus, split: Split, number: int, tokens: list[int]
) -> Mapping[str, list[int]]:
    """Return the tokens of an example by view; both stand one after the other."""
    view = corpus.manifest["options"]["view"]
    if view != "both":
        return {view: tokens}
    first = int(split.columns["infix_length"][number])
    return dict(zip(VIEWS, (tokens[:first], tokens[first:]), strict=True))


def _label(split: Split, number: int) -> int | None:
    return int(split.columns["label"][number]) if "label" in split.columns else None


def _truth(task: Task, split: Split, number: int) -> dict[str, list[int]]:
    """Return where the true dependency of each prediction starts, counted without BOS."""
    if task["kind"] != "next" or "span_start" not in split.columns:
        return {}
    start, end = split.offsets[number], split.offsets[number + 1]
    return {"truth": split.columns["span_start"][start:end].tolist()}
