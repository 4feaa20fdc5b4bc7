"""Recipes: defaults written out, and a sentence for each wrong option."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workflow.datasets.kinds.own_files import OWN
from workflow.datasets.kinds.recipe import complete, datasets, files, load, root
from workflow.planning.code import Project
from workflow.runtime.errors import RecipeError

ROOT = Path(__file__).parents[3]
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
    generated = [GENERATED | {"dataset": it} for it in ("sst", "imdb", "newsgroups", "ag_news")]
    for values in (*({"dataset": dataset} for dataset in datasets()), *generated):
        assert complete(complete(values)) == complete(values)


@pytest.mark.parametrize("dataset", sorted({*datasets()} - {*OWN}))
def test_a_recipe_is_either_fetched_or_generated(dataset):
    announced = files({"dataset": dataset})
    assert bool(announced["sources"]) != bool(announced["raw"])
    assert files(GENERATED)["sources"] == []
    assert "train.salient.npy" in files(GENERATED)["encoded"]
    assert "train.salient.npy" not in files({"dataset": "sst"})["encoded"]


STACK, SST = {"dataset": "stack_language"}, {"dataset": "sst"}
COPYING, VIEWS = {"dataset": "permutation_copying"}, {"dataset": "multiview_arithmetic"}
UNSEEDED = {"source": "generated", "train": 9, "dev": 3, "test": 3}


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({}, f"needs the key `dataset`, one of: {', '.join(datasets())}"),
        ([], "needs the key `dataset`"),
        (
            {"dataset": "stack_langage"},
            'unknown dataset "stack_langage" (known: ag_news, .*; did you mean "stack_language"?; '
            "docs/own_experiment.md says how",
        ),
        (STACK | {"lenght": 3}, '"lenght" (known: balanced, .*; did you mean "length"?'),
        (STACK | {"grammar": "half"}, 'grammar: "half" .* "uniform", "half_digits"'),
        (STACK | {"balanced": 1}, "balanced: expected true or false, found 1"),
        (STACK | {"test": 2.5}, "test: expected a whole number, found 2.5"),
        (STACK | {"test": True}, "test: expected a whole number, found true"),
        (STACK | {"test": None}, "test: expected a whole number, found null"),
        (STACK | {"test": "7"}, 'test: expected a whole number, found "7"'),
        (SST | {"train": 9}, "`train` .*is for `source: generated` only; the official files have"),
        (SST | {"train": 9.5}, "train: expected a whole number or null, found 9.5"),
        (GENERATED | {"classes": "fine"}, "two labels: set `classes: binary`"),
        (GENERATED | {"dev": None}, "`source: generated` needs the option `dev`"),
        (SST | {"classes": "fine", "protocol": "attention_learning"}, "set `classes: binary` and"),
        (GENERATED | {"protocol": "attention_learning"}, "set .*`source: official`"),
        ({"dataset": "ag_news", "source": "subset", "dev": 9}, "`dev` .*`source: generated` only"),
        (GENERATED | {"dataset": "imdb", "test": None}, "needs the option `test`"),
        ({"dataset": "imdb", "source": "subset"}, 'source: "subset" .* "official", "generated"'),
        (COPYING | {"length": 41}, "(`length` is 41) than in a set (40); lower `length` or `sets`"),
        (COPYING | {"symbols": 60, "sets": 2, "length": 31}, "(`length` is 31) than in a set (30)"),
        (COPYING | {"sets": 3}, "cannot cut 40 symbols into 3 equal sets; make `symbols` a multi"),
        (VIEWS | {"min_depth": -1}, "a depth from -1 (`min_depth`) to 3 (`max_depth`); set 0 <="),
        (VIEWS | {"min_depth": 2, "max_depth": 1}, "from 2 (`min_depth`) to 1 (`max_depth`)"),
        (VIEWS | {"max_depth": 50}, "`max_depth` .*is 50; it must be less than 50"),
        (VIEWS | {"dev": 2}, "`dev` .*is 2; it must be 3 or more, one expression of each depth"),
        (VIEWS | {"sampler": "spin"}, '"spin" .*"spine", "chain"); did you mean "spine"?'),
        ({"dataset": "iwslt14", "direction": "de_fr"}, '"de_fr" .* did you mean "de_en"?'),
        ({"dataset": "multi30k", "merges": 0}, "`merges` .*is 0; it"),
        ({"dataset": "wmt14", "threshold": -1}, "`threshold` .*is -1;"),
        ({"dataset": "multi30k"} | UNSEEDED, "`source: generated` needs the option `seed`"),
        ({"dataset": "multi30k", "vocabulary": 4}, "`vocabulary` .*is 4; it must be 5 or more"),
        (
            {"dataset": "multi30k", "vocabulary": 90, "merges": 50},
            "`merges` .*is for byte-pair encoding; take it away, or",
        ),
        ({"dataset": "iwslt14", "vocabulary": 90, "joint": False}, "Option `joint` of dataset"),
        ({"dataset": "iwslt14_30", "vocabulary": 90}, "byte-pair encoding; set `codes: learned`."),
        (
            {"dataset": "news_commentary", "merges": 8000},
            "byte-pair encoding; take it away: this dataset is always encoded by",
        ),
        ({"dataset": "news_commentary", "vocabulary": None}, "vocabulary: expected a whole number"),
        ({"dataset": "conll2000", "dev": 5}, 'unknown key "dev" (known: seed, source, test, train'),
        ({"dataset": "repeated_text", "letters": 27}, "`letters` .*is 27; it must be 26 or less"),
        (
            GENERATED | {"dataset": "flickr8k", "photos": "part"},
            "'part', which is of the official files only; set",
        ),
    ],
)
def test_a_wrong_recipe_gets_a_sentence_that_names_the_option(values, named):
    with pytest.raises(RecipeError, match=".*".join(map(re.escape, named.split(".*")))) as error:
        load(values)
    if "dataset" in values and values["dataset"] in datasets():
        assert f"`{values['dataset']}`" in str(error.value)


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
    ("dataset", "option"), [("iwslt15", "merges"), ("sst", "max_tokens"), ("yelp", "min_count")]
)
def test_a_number_that_no_id_can_be_gets_its_sentence(dataset, option, value):
    with pytest.raises(RecipeError, match=rf"Option `{option}` of .* must be 2147483647 or less\."):
        load({"dataset": dataset, option: value})
    assert getattr(load({"dataset": dataset, option: 2**31 - 1}), option) == 2**31 - 1
    assert load({**GENERATED, "seed": 10**30}).seed == 10**30


MOST = {
    ("iwslt15", "vocabulary"): 1_000_000,
    ("news_commentary", "vocabulary"): 1_000_000,
    ("sst", "train"): 10_000_000,
    ("stack_language", "length"): 10_000_000,
    ("keyword_toy", "words"): 10_000_000,
    ("permutation_copying", "unused"): 10_000_000,
    ("flickr8k", "pixels"): 1024,
    ("coco", "regions"): 1000,
}


@pytest.mark.parametrize(("dataset", "option", "most"), [(*key, n) for key, n in MOST.items()])
def test_a_number_that_would_take_for_ever_gets_its_sentence(dataset, option, most):
    given = {**(GENERATED if dataset == "sst" else {}), "dataset": dataset}
    assert getattr(load({**given, option: most}), option) == most
    for value in (most + 1, 2**31 - 1):
        with pytest.raises(RecipeError) as error:
            load({**given, option: value})
        assert str(error.value) == (
            f"Option `{option}` of dataset `{dataset}` is {value}; it must be {most} or less."
        )


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
        (stage, name): [f"workflow.scripts.{stage}:main", root(name)]
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
