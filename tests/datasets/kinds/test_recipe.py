"""Recipes: defaults written out, and a sentence for each wrong option."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from workflow.datasets.kinds.recipe import complete, datasets, files, load
from workflow.errors import RecipeError
from workflow.planning.code import Project

ROOT = Path(__file__).parents[3]
NAMES = (
    "ag_news, amazon, coco, conll2000, enwik8, flickr8k, imdb, iwslt14, iwslt14_30, iwslt15, "
    "keyword_toy, multi30k, multiview_arithmetic, news_commentary, newsgroups, "
    "permutation_copying, repeated_text, sms_spam, sst, stack_language, wmt14, wmt17, yelp"
)
GENERATED = {"dataset": "sst", "source": "generated", "train": 9, "dev": 3, "test": 3, "seed": 0}


def test_defaults_are_written_out() -> None:
    assert complete({"dataset": "stack_language", "train": 6e4, "balanced": True}) == {
        "dataset": "stack_language",
        "grammar": "uniform",
        "balanced": True,
        "max_depth": 4,
        "length": 30,
        "train": 60000,
        "dev": 5000,
        "test": 5000,
        "seed": 0,
    }
    assert complete({"dataset": "sst"}) == {
        "dataset": "sst",
        "source": "official",
        "protocol": "jain_wallace",
        "classes": "binary",
        "max_tokens": 500,
        "min_count": 1,
    }
    assert complete({"dataset": "ag_news", "source": "subset", "min_count": 3}) == {
        "dataset": "ag_news",
        "source": "subset",
        "protocol": "jain_wallace",
        "max_tokens": 500,
        "min_count": 3,
    }
    assert complete({"dataset": "yelp"}) == {"dataset": "yelp", "max_tokens": 500, "min_count": 1}
    assert complete({"dataset": "permutation_copying", "symbols": 60}) == {
        "dataset": "permutation_copying",
        "symbols": 60,
        "sets": 1,
        "length": 40,
        "train": 25600,
        "dev": 1000,
        "test": 1000,
        "seed": 0,
    }
    assert complete({"dataset": "multiview_arithmetic", "view": "infix"}) == {
        "dataset": "multiview_arithmetic",
        "view": "infix",
        "sampler": "spine",
        "min_depth": 1,
        "max_depth": 3,
        "train": 30000,
        "dev": 3000,
        "test": 3000,
        "seed": 0,
    }


def test_a_completed_recipe_is_complete() -> None:
    generated = [
        {**GENERATED, "dataset": name} for name in ("sst", "imdb", "newsgroups", "ag_news")
    ]
    for values in (*({"dataset": dataset} for dataset in datasets()), *generated):
        assert complete(complete(values)) == complete(values)


@pytest.mark.parametrize("dataset", datasets())
def test_a_recipe_is_either_fetched_or_generated(dataset: str) -> None:
    announced = files({"dataset": dataset})
    assert bool(announced["sources"]) != bool(announced["raw"])
    assert files(GENERATED)["sources"] == []
    assert "train.salient.npy" in files(GENERATED)["encoded"]
    assert "train.salient.npy" not in files({"dataset": "sst"})["encoded"]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, f"A recipe needs the key `dataset`, one of: {NAMES}."),
        ([], f"A recipe needs the key `dataset`, one of: {NAMES}."),
        (
            {"dataset": "stack_langage"},
            f"Unknown dataset `stack_langage` (did you mean `stack_language`?); allowed: {NAMES}; "
            "docs/own_experiment.md says how to add one.",
        ),
        (
            {"dataset": "stack_language", "lenght": 3},
            "Dataset `stack_language` has no option `lenght` (did you mean `length`?); allowed: "
            "train, dev, test, seed, grammar, balanced, max_depth, length.",
        ),
        (
            {"dataset": "stack_language", "grammar": "half"},
            "Option `grammar` of dataset `stack_language` is 'half'; allowed: uniform, "
            "half_digits.",
        ),
        (
            {"dataset": "stack_language", "balanced": 1},
            "Option `balanced` of dataset `stack_language` is 1; it must be true or false.",
        ),
        (
            {"dataset": "stack_language", "train": -5},
            "Option `train` of dataset `stack_language` is -5; it must be 1 or more.",
        ),
        (
            {"dataset": "stack_language", "max_depth": 0},
            "Option `max_depth` of dataset `stack_language` is 0; it must be 1 or more.",
        ),
        (
            {"dataset": "stack_language", "length": 0},
            "Option `length` of dataset `stack_language` is 0; it must be 1 or more.",
        ),
        (
            {"dataset": "stack_language", "seed": -1},
            "Option `seed` of dataset `stack_language` is -1; it must be 0 or more.",
        ),
        (
            {"dataset": "stack_language", "test": 2.5},
            "Option `test` of dataset `stack_language` is 2.5; it must be a whole number.",
        ),
        (
            {"dataset": "stack_language", "test": True},
            "Option `test` of dataset `stack_language` is True; it must be a whole number.",
        ),
        (
            {"dataset": "stack_language", "test": None},
            "Option `test` of dataset `stack_language` is None; it must be a whole number.",
        ),
        (
            {"dataset": "sst", "max_tokens": 0},
            "Option `max_tokens` of dataset `sst` is 0; it must be 1 or more.",
        ),
        (
            {"dataset": "sst", "train": 100},
            "Option `train` of dataset `sst` is for `source: generated` only; the official files "
            "have their own size.",
        ),
        (
            {**GENERATED, "classes": "fine"},
            "Dataset `sst` with `source: generated` has two labels: set `classes: binary`.",
        ),
        (
            {**GENERATED, "dev": None},
            "Dataset `sst` with `source: generated` needs the option `dev`.",
        ),
        *(
            (
                {"dataset": dataset, "seed": 1},
                f"Option `seed` of dataset `{dataset}` is for `source: generated` only; the "
                "official files have their own size.",
            )
            for dataset in ("imdb", "newsgroups", "ag_news")
        ),
        (
            {"dataset": "ag_news", "source": "subset", "dev": 9},
            "Option `dev` of dataset `ag_news` is for `source: generated` only; the official files "
            "have their own size.",
        ),
        (
            {**GENERATED, "dataset": "imdb", "test": None},
            "Dataset `imdb` with `source: generated` needs the option `test`.",
        ),
        (
            {"dataset": "imdb", "source": "subset"},
            "Option `source` of dataset `imdb` is 'subset'; allowed: official, generated.",
        ),
        (
            {"dataset": "yelp", "min_count": 0},
            "Option `min_count` of dataset `yelp` is 0; it must be 1 or more.",
        ),
        *(
            (
                {**recipe, "protocol": "attention_learning"},
                "Dataset `sst` with `protocol: attention_learning` has two labels and is made from "
                "the official files: set `classes: binary` and `source: official`.",
            )
            for recipe in ({"dataset": "sst", "classes": "fine"}, GENERATED)
        ),
        (
            {"dataset": "permutation_copying", "length": 41},
            "Dataset `permutation_copying` has more symbols per sequence (`length` is 41) than in "
            "a set (40); lower `length` or `sets`, or raise `symbols`.",
        ),
        (
            {"dataset": "permutation_copying", "symbols": 60, "sets": 2, "length": 31},
            "Dataset `permutation_copying` has more symbols per sequence (`length` is 31) than in "
            "a set (30); lower `length` or `sets`, or raise `symbols`.",
        ),
        (
            {"dataset": "permutation_copying", "sets": 3},
            "Dataset `permutation_copying` cannot cut 40 symbols into 3 equal sets; make `symbols` "
            "a multiple of `sets`.",
        ),
        *(
            (
                {"dataset": "permutation_copying", option: 0},
                f"Option `{option}` of dataset `permutation_copying` is 0; it must be 1 or more.",
            )
            for option in ("symbols", "sets", "length", "train", "dev", "test")
        ),
        *(
            (
                {"dataset": dataset, "seed": -1},
                f"Option `seed` of dataset `{dataset}` is -1; it must be 0 or more.",
            )
            for dataset in ("permutation_copying", "multiview_arithmetic")
        ),
        *(
            (
                {"dataset": "multiview_arithmetic", "min_depth": low, "max_depth": high},
                f"Dataset `multiview_arithmetic`: no expression has a depth from {low} "
                f"(`min_depth`) to {high} (`max_depth`); set 0 <= min_depth <= max_depth.",
            )
            for low, high in ((-1, 3), (2, 1))
        ),
        (
            {"dataset": "multiview_arithmetic", "max_depth": 50},
            "Option `max_depth` of dataset `multiview_arithmetic` is 50; it must be less than 50.",
        ),
        (
            {"dataset": "multiview_arithmetic", "dev": 2},
            "Option `dev` of dataset `multiview_arithmetic` is 2; it must be 3 or more, one "
            "expression of each depth.",
        ),
        (
            {"dataset": "multiview_arithmetic", "view": "both", "sampler": "spin"},
            "Option `sampler` of dataset `multiview_arithmetic` is 'spin' (did you mean `spine`?); "
            "allowed: spine, chain.",
        ),
        (
            {**GENERATED, "dev": 0},
            "Option `dev` of dataset `sst` is 0; it must be 2 or more.",
        ),
    ],
)
def test_a_wrong_recipe_gets_its_sentence(values: Any, sentence: str) -> None:
    with pytest.raises(RecipeError) as error:
        load(values)
    assert str(error.value) == sentence


def test_planning_loads_no_numpy() -> None:
    check = (
        "import sys; from workflow.datasets.kinds.recipe import datasets, files; "
        "from workflow.datasets.fetched.sources import load; load(); "
        "[files({'dataset': name}) for name in datasets()]; "
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT).returncode == 0


def test_a_dataset_of_ones_own_is_found_and_changes_the_code_of_no_other(tmp_path: Path) -> None:
    for package in ("model", "workflow"):
        shutil.copytree(ROOT / package, tmp_path / package)
    stages = ("synthesise", "prepare", "encode")
    code = {
        (stage, name): [f"workflow.scripts.{stage}:main", f"workflow.datasets.{name}:Data"]
        for stage in stages
        for name in datasets()
    }
    project = Project(tmp_path)
    before = {key: project.hash(roots) for key, roots in code.items()}
    module = tmp_path / "workflow/datasets/reviews.py"
    shutil.copy(tmp_path / "workflow/datasets/sms_spam.py", module)
    now = Project(tmp_path)
    assert {key: now.hash(roots) for key, roots in code.items()} == before
    check = (
        "from workflow.datasets.kinds.recipe import complete, datasets; "
        "print(*datasets(), complete({'dataset': 'reviews'}))"
    )
    said = subprocess.check_output([sys.executable, "-c", check], cwd=tmp_path, text=True)
    names = [*datasets(), "reviews"]
    told = {"dataset": "reviews", "max_tokens": 500, "min_count": 1}
    assert said == f"{' '.join(sorted(names))} {told}\n"
