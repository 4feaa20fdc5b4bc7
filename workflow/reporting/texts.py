"""Long lists of texts of published measures: a line each, named by their contents.

Translations and their references are what BLEU and the paired bootstrap are computed from, so they
are published too. The references, which all runs on a corpus share, are kept once an experiment.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workflow.planning.run_files import EvaluatorRecord, MeasuresRecord
from workflow.runtime.integrity import Damaged

FOLDER = "texts"
LEAST = 100
"""Shorter lists, such as the words of an example, stay where they are."""
KEY = "texts"
Texts = dict[str, dict[str, list[str]]]
"""The values of lines: by a hash of its contents, each list under `KEY`."""


def put_apart(measures: MeasuresRecord, texts: Texts) -> MeasuresRecord:
    """Return the measures of a run with a name in place of each long list, which joins `texts`."""
    return _with_arrays(measures, lambda value: _put(value, texts))


def put_back(measures: MeasuresRecord, texts: Texts, file: Path) -> MeasuresRecord:
    """Return published measures with the lists in place of their names.

    Raises Damaged, of the `file` that the texts were read from, when a list is missing.
    """
    return _with_arrays(measures, lambda value: _get(value, texts, file))


def _with_arrays(measures: MeasuresRecord, change: Callable[[Any], Any]) -> MeasuresRecord:
    evaluators: dict[str, EvaluatorRecord] = {
        name: {**one, "arrays": {key: change(value) for key, value in one["arrays"].items()}}
        if "arrays" in one
        else one
        for name, one in measures["evaluators"].items()
    }
    return {**measures, "evaluators": evaluators}


def _put(value: Any, texts: Texts) -> Any:
    if not isinstance(value, list) or len(value) < LEAST:
        return value
    if not all(isinstance(text, str) and "\n" not in text for text in value):
        return value
    content = "".join(f"{text}\n" for text in value).encode()
    name = hashlib.sha256(content).hexdigest()[:16]
    texts[name] = {KEY: value}
    return {KEY: name}


def _get(value: Any, texts: Texts, file: Path) -> Any:
    if not isinstance(value, dict) or set(value) != {KEY}:
        return value
    if value[KEY] not in texts:
        raise Damaged(file, f"{file}: the line of {value[KEY]} is missing")
    return texts[value[KEY]][KEY]
