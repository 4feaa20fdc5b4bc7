"""Long lists of texts of published measures: a file each, a text a line, named by their contents.

Translations and their references are what BLEU and the paired bootstrap are computed from, so they
are published too. The references, which all runs on a corpus share, are kept once.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from model.store.files import write_atomically
from workflow.errors import ReportingError

FOLDER = "texts"
LEAST = 100
"""Shorter lists, such as the words of an example, stay where they are."""
KEY = "texts"


def put_apart(measures: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return measures with the name of a file in place of each long list of texts.

    Args:
        measures: of a run.
        path: that they are published at, `<scale>/measures/<experiment>/<variant>/seed-<n>.json`;
            the texts are written into `<scale>/texts`.
    """
    return _with_arrays(measures, lambda value: _put(value, path))


def put_back(measures: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return measures, read from `path`, with the lists in place of the names.

    Raises ReportingError when a file is missing or has other contents than were published.
    """
    return _with_arrays(measures, lambda value: _get(value, path))


def _with_arrays(measures: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    evaluators = {
        name: {**one, "arrays": {key: change(value) for key, value in one["arrays"].items()}}
        if "arrays" in one
        else one
        for name, one in measures["evaluators"].items()
    }
    return {**measures, "evaluators": evaluators}


def _put(value: Any, path: Path) -> Any:
    if not isinstance(value, list) or len(value) < LEAST:
        return value
    if not all(isinstance(text, str) and "\n" not in text for text in value):
        return value
    content = "".join(f"{text}\n" for text in value).encode()
    name = _name(content)
    write_atomically(_folder(path) / name, content)
    return {KEY: name}


def _get(value: Any, path: Path) -> Any:
    if not isinstance(value, dict) or set(value) != {KEY}:
        return value
    file = _folder(path) / value[KEY]
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ReportingError(f"{file}: {error.strerror}; restore it from git.") from None
    if _name(content) != file.name:
        raise ReportingError(f"{file} has been edited since it was published; restore it from git.")
    return content.decode().removesuffix("\n").split("\n")


def _folder(path: Path) -> Path:
    return path.parents[3] / FOLDER


def _name(content: bytes) -> str:
    return f"{hashlib.sha256(content).hexdigest()[:16]}.txt"
