"""Recipes: what a dataset is made from, checked without loading any data (standard library only).

A recipe is a mapping {"dataset": name, option: value, ...}. Each dataset is a module of this
package with a frozen dataclass `Options` and the functions
`sources(options)`, `raw(options)`, `columns(options)`: the file names of its first and last stage,
`synthesise(options, out)`, `prepare(options, files, out)`, `encode(options, prepared, out)`.
One whose stages write other files too says so by `prepared(options)` and `texts(options)`, and one
that reads features of images names their index by `features(options)`.
"""

import difflib
import importlib
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from workflow.datasets.errors import RecipeError
from workflow.datasets.files import SPLITS

DATASETS = (
    "ag_news",
    "amazon",
    "coco",
    "conll2000",
    "enwik8",
    "flickr8k",
    "imdb",
    "iwslt14",
    "iwslt14_30",
    "iwslt15",
    "keyword_toy",
    "multi30k",
    "multiview_arithmetic",
    "news_commentary",
    "newsgroups",
    "permutation_copying",
    "repeated_text",
    "sms_spam",
    "sst",
    "stack_language",
    "wmt14",
    "wmt17",
    "yelp",
)


@dataclass(frozen=True)
class Recipe:
    """A checked recipe: the dataset's name, its module and its options."""

    dataset: str
    module: types.ModuleType
    options: Any


def load(values: Mapping[str, Any]) -> Recipe:
    """Check a recipe and build its options; raise RecipeError with one sentence otherwise."""
    dataset = values.get("dataset") if isinstance(values, Mapping) else None
    if not isinstance(dataset, str):
        raise RecipeError(f"A recipe needs the key `dataset`, one of: {', '.join(DATASETS)}.")
    if dataset not in DATASETS:
        raise RecipeError(
            f"Unknown dataset `{dataset}`{_nearest(dataset, DATASETS)}; docs/own_experiment.md "
            "says how to add one."
        )
    module = importlib.import_module(f"workflow.datasets.{dataset}")
    given = {name: value for name, value in values.items() if name != "dataset"}
    return Recipe(dataset, module, _build(module.Options, dataset, given))


def complete(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recipe with every option that applies written out, whatever `values` left out."""
    recipe = load(values)
    options = {name: value for name, value in asdict(recipe.options).items() if value is not None}
    return {"dataset": recipe.dataset, **options}


def files(values: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the file names of every stage of a recipe: sources, raw, prepared and encoded.

    `sources` are to be fetched, `raw` are generated; a recipe has the one or the other. `features`
    is the index of features of images, where the recipe has these.
    """
    recipe = load(values)
    module, options = recipe.module, recipe.options
    columns = ["tokens", "offsets", *module.columns(options)]
    splits = getattr(options, "splits", SPLITS)
    arrays = [f"{split}.{column}.npy" for split in splits for column in columns]
    prepared, texts = getattr(module, "prepared", None), getattr(module, "texts", None)
    features = getattr(module, "features", None)
    return {
        "sources": module.sources(options),
        "features": features(options) if features else [],
        "raw": module.raw(options),
        "prepared": prepared(options) if prepared else [f"{split}.jsonl" for split in SPLITS],
        "encoded": ["manifest.json", "vocabulary.txt", *arrays, *(texts(options) if texts else ())],
    }


def threads(values: Mapping[str, Any]) -> int:
    """Return how many cores `prepare` and `encode` of a recipe make use of."""
    return int(getattr(load(values).options, "threads", 1))


def require_at_least(dataset: str, minimum: int, options: Mapping[str, int]) -> None:
    """Raise RecipeError naming the first of `options` that is below `minimum`."""
    for name, value in options.items():
        if value < minimum:
            raise RecipeError(
                f"Option `{name}` of dataset `{dataset}` is {value}; it must be {minimum} or more."
            )


def check_generator(dataset: str, generated: bool, options: Mapping[str, Any], least: int) -> None:
    """Raise RecipeError unless a generator's options are given just where texts are generated.

    They are the size of each split, no smaller than `least`, and `seed`.
    """
    for name, value in options.items():
        if not generated and value is not None:
            raise RecipeError(
                f"Option `{name}` of dataset `{dataset}` is for `source: generated` only; "
                "the official files have their own size."
            )
        if generated and value is None:
            raise RecipeError(
                f"Dataset `{dataset}` with `source: generated` needs the option `{name}`."
            )
    if generated:
        for name, value in options.items():
            require_at_least(dataset, 0 if name == "seed" else least, {name: value})


def _build(cls: type, dataset: str, given: Mapping[str, Any]) -> Any:
    """Build an options dataclass from plain values, checked against its annotations."""
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
