"""Recipes: what a dataset is made from, checked without loading any data.

A recipe is a mapping {"dataset": name, option: value, ...}; each dataset has its own options.
"""

import importlib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Required, cast, get_type_hints

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from workflow.datasets.kinds.dataset import Dataset
from workflow.runtime.errors import InputError, RecipeError, unknown
from workflow.validation import check


class Recipe(TypedDict, total=False):
    """A recipe, with those of the options that are read without the dataset."""

    dataset: Required[str]
    source: str
    direction: str
    length: int
    merges: int
    vocabulary: int | None
    train: int | str | list[str]
    """number of examples to generate, or own files; `dev` and `test` likewise"""
    dev: int | str | list[str]
    test: int | str | list[str]


@cache
def _modules() -> dict[str, str]:
    """Return the module of each dataset by its name: those of this package that define `Data`."""
    package = Path(__file__).parents[1]
    paths = [*package.glob("*.py"), *package.glob("generated/*.py")]
    rooms = {
        one.stem: one.relative_to(package).parent.parts
        for one in paths
        if "\nclass Data(" in one.read_text(encoding="utf-8")
    }
    return {name: ".".join(("workflow.datasets", *rooms[name], name)) for name in sorted(rooms)}


def datasets() -> list[str]:
    """Return the names of all datasets."""
    return [*_modules()]


def root(dataset: str) -> str:
    """Return the definition of a dataset, as `module:Data`."""
    return f"{_modules()[dataset]}:Data"


def load(values: Recipe) -> Dataset:
    """Return the dataset that a recipe tells of; raise RecipeError with one sentence otherwise."""
    name = values.get("dataset") if isinstance(values, Mapping) else None
    if not isinstance(name, str):
        raise RecipeError(f"A recipe needs the key `dataset`, one of: {', '.join(datasets())}.")
    if name not in datasets():
        error = unknown("", "dataset", name, datasets())
        raise RecipeError(f"{error}; docs/own_experiment.md says how to add one.")
    cls = importlib.import_module(_modules()[name]).Data
    options = {key: _whole(value) for key, value in values.items() if key != "dataset"}
    try:
        return cls(**check(options, _options(cls), f"Dataset `{name}`"))
    except InputError as error:
        raise RecipeError(str(error)) from None


def complete(values: Recipe) -> Recipe:
    """Return the recipe with every option that applies written out, whatever `values` left out."""
    dataset = load(values)
    return cast(Recipe, {"dataset": dataset.name, **dataset.options})


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


@cache
def _options(cls: type[Dataset]) -> Any:
    """Return the type of what a recipe may say of a dataset: its fields."""
    hints = get_type_hints(cls)
    options = {field.name: hints[field.name] for field in fields(cls)}
    kind: Any = TypedDict(cls.__name__, options, total=False)  # type: ignore[misc]
    closed: Any = with_config(ConfigDict(extra="forbid", strict=True))(kind)
    return closed


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value
