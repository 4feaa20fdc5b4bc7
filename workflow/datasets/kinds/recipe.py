"""Recipes: what a dataset is made from, checked without loading any data (standard library only).

A recipe is a mapping {"dataset": name, option: value, ...}.
"""

import difflib
import importlib
import typing
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from workflow.datasets.kinds.dataset import Dataset
from workflow.errors import RecipeError

Recipe = Mapping[str, Any]


@cache
def datasets() -> list[str]:
    """Return the names of all datasets: the modules of this package that define `Data`."""
    modules = Path(__file__).parents[1].glob("*.py")
    return sorted(one.stem for one in modules if "\nclass Data(" in one.read_text(encoding="utf-8"))


def load(values: Recipe) -> Dataset:
    """Return the dataset that a recipe tells of; raise RecipeError with one sentence otherwise."""
    name = values.get("dataset") if isinstance(values, Mapping) else None
    if not isinstance(name, str):
        raise RecipeError(f"A recipe needs the key `dataset`, one of: {', '.join(datasets())}.")
    if name not in datasets():
        raise RecipeError(
            f"Unknown dataset `{name}`{_nearest(name, datasets())}; docs/own_experiment.md "
            "says how to add one."
        )
    module = importlib.import_module(f"workflow.datasets.{name}")
    return _build(module.Data, name, {key: v for key, v in values.items() if key != "dataset"})


def complete(values: Recipe) -> dict[str, object]:
    """Return the recipe with every option that applies written out, whatever `values` left out."""
    dataset = load(values)
    return {"dataset": dataset.name, **dataset.options}


def files(values: Recipe) -> dict[str, list[str]]:
    """Return the file names of every stage of a recipe: sources, raw, prepared and encoded.

    `sources` are to be fetched, `raw` are generated; a recipe has the one or the other. `features`
    is the index of features of images, where the recipe has these.
    """
    dataset = load(values)
    stages = ("sources", "features", "raw", "prepared", "encoded")
    return {stage: list(getattr(dataset, stage)) for stage in stages}


def threads(values: Recipe) -> int:
    """Return how many cores `prepare` and `encode` of a recipe make use of."""
    return load(values).threads


def _build(cls: type[Dataset], dataset: str, given: Recipe) -> Dataset:
    """Build a dataset from plain values, checked against the annotations of its fields."""
    hints = typing.get_type_hints(cls)
    names = [field.name for field in fields(cls)]
    for name in given:
        if name not in names:
            raise RecipeError(
                f"Dataset `{dataset}` has no option `{name}`{_nearest(str(name), names)}."
            )
    checked = {
        name: _check(f"Option `{name}` of dataset `{dataset}`", hints[name], value)
        for name, value in given.items()
    }
    return cls(**checked)


def _check(what: str, hint: Any, value: Any) -> Any:
    """Return `value` as the type of `hint` (bool, int, `int | None` or Literal), or raise."""
    optional = type(None) in typing.get_args(hint)
    if typing.get_origin(hint) is typing.Literal:
        allowed = typing.get_args(hint)
        if value in allowed:
            return value
        raise RecipeError(f"{what} is {value!r}{_nearest(str(value), allowed)}.")
    if hint is bool:
        if isinstance(value, bool):
            return value
        raise RecipeError(f"{what} is {value!r}; it must be true or false.")
    if value is None and optional:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise RecipeError(f"{what} is {value!r}; it must be a whole number.")
    return value


def _nearest(word: str, allowed: Iterable[str]) -> str:
    """Return the second half of a sentence: the allowed names and the one most like `word`."""
    names = list(allowed)
    close = difflib.get_close_matches(word, names, n=1)
    suggestion = f" (did you mean `{close[0]}`?)" if close else ""
    return f"{suggestion}; allowed: {', '.join(names)}"
