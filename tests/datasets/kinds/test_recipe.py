"""Recipes: defaults written out, and a sentence for each wrong option."""

import shutil
import subprocess
import sys
from pathlib import Path

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


def test_defaults_are_written_out():
    text = {"max_tokens": 500, "min_count": 1}
    generable = {"source": "official", "protocol": "jain_wallace", **text}
    sizes = {"train": 50000, "dev": 5000, "test": 5000, "seed": 0}
    for given, told in (
        (
            {"dataset": "stack_language", "train": 6e4, "balanced": True},
            {"grammar": "uniform", "max_depth": 4, "length": 30, **sizes, "train": 60000},
        ),
        ({"dataset": "sst"}, {**generable, "classes": "binary"}),
        ({"dataset": "ag_news", "source": "subset", "min_count": 3}, generable),
        ({"dataset": "yelp"}, text),
        ({"dataset": "conll2000"}, {"source": "official"}),
    ):
        assert complete(given) == {**told, **given}


def test_a_completed_recipe_is_complete():
    generated = [
        {**GENERATED, "dataset": name} for name in ("sst", "imdb", "newsgroups", "ag_news")
    ]
    for values in (*({"dataset": dataset} for dataset in datasets()), *generated):
        assert complete(complete(values)) == complete(values)


@pytest.mark.parametrize("dataset", datasets())
def test_a_recipe_is_either_fetched_or_generated(dataset):
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
    ],
)
def test_a_wrong_recipe_gets_its_sentence(values, sentence):
    with pytest.raises(RecipeError) as error:
        load(values)
    assert str(error.value) == sentence


UNSEEDED = {"source": "generated", "train": 9, "dev": 3, "test": 3}
PARTS = [
    ("iwslt14", {"direction": "de_fr"}, r"`direction` .* 'de_fr' \(did you mean `de_en`\?\)"),
    ("wmt17", {"direction": "en_de"}, r"`direction` .* 'en_de' \(did you mean `en_fi`\?\)"),
    ("multi30k", {"merges": 0}, "Option `merges` of dataset `multi30k` is 0; it"),
    ("wmt14", {"threshold": -1}, "Option `threshold` of dataset `wmt14` is -1;"),
    ("iwslt15", {"joint": "no"}, "Option `joint` of dataset `iwslt15` is 'no'; it"),
    ("multi30k", {"train": 10}, "`train` .* is for `source: generated` only; the official"),
    ("multi30k", UNSEEDED, "`multi30k` with `source: generated` needs the option `seed`."),
    ("multi30k", {"vocabulary": 4}, "`vocabulary` .* is 4; it must be 5 or more"),
    (
        *("multi30k", {"vocabulary": 90, "merges": 50}),
        "Option `merges` of dataset `multi30k` is for byte-pair encoding; take it away, or",
    ),
    ("iwslt14", {"vocabulary": 90, "joint": False}, "Option `joint` of dataset"),
    ("iwslt14_30", {"vocabulary": 90}, "byte-pair encoding; set `codes: learned`."),
    (
        *("news_commentary", {"merges": 8000}),
        "byte-pair encoding; take it away: this dataset is always encoded by",
    ),
    ("news_commentary", {"vocabulary": None}, "`vocabulary` .* is None; it must be a whole number"),
    ("conll2000", {"train": 5}, "`train` of dataset `conll2000` is for `source: generated` only"),
    (
        *("conll2000", {"source": "generated", "train": 5, "test": 5}),
        "`conll2000` .* needs the option `seed`",
    ),
    ("conll2000", {"dev": 5}, "`conll2000` has no option `dev`"),
    ("repeated_text", {"letters": 27}, "`letters` .* is 27; it must be 26 or less"),
    (
        "flickr8k",
        {**GENERATED, "photos": "part"},
        "'part', which is of the official files only; set",
    ),
]
"""Wrong recipes, and a part of their sentence."""


@pytest.mark.parametrize(("dataset", "options", "part"), PARTS)
def test_a_wrong_recipe_gets_a_sentence_that_says(dataset, options, part):
    with pytest.raises(RecipeError, match=part):
        load({**options, "dataset": dataset})


LEAST = {
    "stack_language": {"max_depth": 1, "length": 1, "train": 1, "dev": 1, "test": 1, "seed": 0},
    "permutation_copying": {"symbols": 1, "sets": 1, "length": 1, "train": 1, "seed": 0},
    "keyword_toy": {"words": 2, "length": 1, "test": 1, "seed": 0},
    "repeated_text": {"letters": 2, "length": 1, "dev": 1},
    "multiview_arithmetic": {"seed": 0},
    "yelp": {"max_tokens": 1, "min_count": 1},
    "sst": {"dev": 2, "seed": 0},
    "multi30k": {"dev": 1, "merges": 1, "threshold": 0},
    "conll2000": {"train": 1, "seed": 0},
}


@pytest.mark.parametrize(
    ("dataset", "option", "least"),
    [(dataset, *bound) for dataset, bounds in LEAST.items() for bound in bounds.items()],
)
def test_an_option_below_its_bound_gets_its_sentence(dataset, option, least):
    generated = {**GENERATED, "dataset": dataset}
    if dataset == "conll2000":
        del generated["dev"]
    given = generated if dataset in ("sst", "multi30k", "conll2000") else {"dataset": dataset}
    with pytest.raises(RecipeError) as error:
        load({**given, option: least - 1})
    assert str(error.value) == (
        f"Option `{option}` of dataset `{dataset}` is {least - 1}; it must be {least} or more."
    )


@pytest.mark.parametrize("value", [2**31, 10**30, 1e30])
@pytest.mark.parametrize(
    ("dataset", "option"),
    [
        ("iwslt15", "vocabulary"),
        ("iwslt15", "merges"),
        ("sst", "max_tokens"),
        ("yelp", "min_count"),
    ],
)
def test_a_number_that_no_id_can_be_gets_its_sentence(dataset, option, value):
    with pytest.raises(RecipeError, match=rf"Option `{option}` of .* must be 2147483647 or less\."):
        load({"dataset": dataset, option: value})
    assert getattr(load({"dataset": dataset, option: 2**31 - 1}), option) == 2**31 - 1
    assert load({**GENERATED, "seed": 10**30}).seed == 10**30


def test_planning_loads_no_numpy():
    check = (
        "import sys; from workflow.datasets.kinds.recipe import datasets, files; "
        "from workflow.datasets.fetched.sources import load; load(); "
        "[files({'dataset': name}) for name in datasets()]; "
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT).returncode == 0


def test_a_dataset_of_ones_own_is_found_and_changes_the_code_of_no_other(tmp_path):
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
