"""Multiview arithmetic from its recipe to its arrays."""

import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workflow.datasets.io.files import SPLITS
from workflow.datasets.kinds.recipe import files, load
from workflow.errors import DataError

SMALL = {"dataset": "multiview_arithmetic", "train": 90, "dev": 30, "test": 12}
VIEWS = ("infix", "prefix", "both")
Build = Callable[..., Path]


def written(out: Path, split: str, notation: str) -> list[str]:
    """Return the generated expressions of a split."""
    return (out / "raw" / f"{split}.{notation}.txt").read_text(encoding="utf-8").splitlines()


def column(out: Path, split: str, name: str) -> list[int]:
    """Return a column of a split, one value for each expression."""
    array = np.load(out / "encoded" / f"{split}.{name}.npy")
    assert array.dtype == np.int32
    return array.tolist()


def decoded(out: Path, split: str) -> list[list[str]]:
    """Return the tokens of every example, as symbols."""
    vocabulary = (out / "encoded" / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
    tokens = np.load(out / "encoded" / f"{split}.tokens.npy")
    offsets = np.load(out / "encoded" / f"{split}.offsets.npy")
    assert tokens.dtype == np.int32 and offsets.dtype == np.int64
    assert offsets[0] == 0 and offsets[-1] == len(tokens)
    return [[vocabulary[t] for t in tokens[start:end]] for start, end in pairwise(offsets)]


def statistics(out: Path) -> dict[str, Any]:
    """Return the statistics in the manifest."""
    manifest = json.loads((out / "encoded" / "manifest.json").read_text(encoding="utf-8"))
    return manifest["statistics"]


def nesting(text: str) -> int:
    """Return the largest number of parentheses that are open at once."""
    opened = [text[:end].count("(") - text[:end].count(")") for end in range(len(text) + 1)]
    return max(opened)


def as_infix(prefix: list[str]) -> str:
    """Write a prefix expression as infix with all parentheses, consuming its symbols."""
    symbol = prefix.pop(0)
    if symbol != "(":
        return symbol
    operator, left, right = prefix.pop(0), as_infix(prefix), as_infix(prefix)
    assert prefix.pop(0) == ")"
    return f"( {left} {operator} {right} )"


@pytest.mark.parametrize("sampler", ["spine", "chain"])
def test_the_notations_are_parallel_and_the_labels_pythons(build: Build, sampler: str) -> None:
    out = build({**SMALL, "sampler": sampler})
    for split in SPLITS:
        infix, prefix = (written(out, split, notation) for notation in ("infix", "prefix"))
        assert len(infix) == len(prefix) == SMALL[split]
        assert [as_infix(text.split(" ")) for text in prefix] == [f"( {text} )" for text in infix]
        assert column(out, split, "label") == [eval(text) % 5 for text in infix]
        assert column(out, split, "depth") == [nesting(text) for text in infix]


def test_the_records_hold_both_notations_value_and_depth(build: Build) -> None:
    out = build(SMALL)
    for split in SPLITS:
        lines = (out / "prepared" / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
        infix, prefix = (written(out, split, notation) for notation in ("infix", "prefix"))
        assert [json.loads(line) for line in lines] == [
            {"text": a, "prefix": b, "label": eval(a) % 5, "depth": nesting(a)}
            for a, b in zip(infix, prefix, strict=True)
        ]


@pytest.mark.parametrize("view", VIEWS)
def test_the_tokens_are_those_of_the_view(build: Build, view: str) -> None:
    recipe = {**SMALL, "view": view}
    out = build(recipe)
    assert {path.name for path in (out / "encoded").iterdir()} == {*files(recipe)["encoded"]}
    vocabulary = (out / "encoded" / "vocabulary.txt").read_text(encoding="utf-8").split()
    assert vocabulary == ["<pad>", "<bos>", "<unk>", *"()+*01234"]
    for split in SPLITS:
        infix, prefix = (
            [text.split(" ") for text in written(out, split, notation)]
            for notation in ("infix", "prefix")
        )
        both = [a + b for a, b in zip(infix, prefix, strict=True)]
        assert decoded(out, split) == {"infix": infix, "prefix": prefix, "both": both}[view]
        if view == "both":
            assert column(out, split, "infix_length") == [len(text) for text in infix]
            assert all(len(b) == len(a) + 2 for a, b in zip(infix, prefix, strict=True))


def test_the_expressions_do_not_depend_on_the_view(build: Build) -> None:
    built = [build({**SMALL, "view": view}, view) for view in VIEWS]
    for stage in ("raw", "prepared"):
        for path in (built[0] / stage).iterdir():
            for other in built[1:]:
                assert path.read_bytes() == (other / stage / path.name).read_bytes()
    for split in SPLITS:
        for name in ("label", "depth", "seen"):
            assert column(built[0], split, name) == column(built[1], split, name)
            assert column(built[0], split, name) == column(built[2], split, name)
        infix, prefix, both = (decoded(out, split) for out in built)
        assert both == [a + b for a, b in zip(infix, prefix, strict=True)]
    assert statistics(built[0]) == statistics(built[1]) == statistics(built[2])


def test_every_depth_has_as_many_expressions_in_mixed_order(
    build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    out = build(SMALL)
    assert capsys.readouterr() == ("", "")
    for split in SPLITS:
        depths = column(out, split, "depth")
        assert Counter(depths) == dict.fromkeys((1, 2, 3), SMALL[split] // 3)
        assert depths != sorted(depths)
        assert statistics(out)["examples_per_depth"][split] == dict.fromkeys(
            ("1", "2", "3"), SMALL[split] // 3
        )


def test_the_first_depths_have_one_more_where_a_size_does_not_divide(
    build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = {"train": 14, "dev": 8, "test": 5}
    out = build({**SMALL, **sizes, "min_depth": 0})
    expected = {"train": (4, 4, 3, 3), "dev": (2, 2, 2, 2), "test": (2, 1, 1, 1)}
    for split in SPLITS:
        assert Counter(column(out, split, "depth")) == dict(enumerate(expected[split]))
    assert statistics(out)["examples_per_depth"] == {
        split: {str(depth): n for depth, n in enumerate(expected[split])} for split in SPLITS
    }
    assert capsys.readouterr().err == (
        "multiview_arithmetic: train's 14, test's 5 expressions do not divide evenly over 4 "
        "depths, so the first depths have one more.\n"
    )


@pytest.mark.parametrize(("low", "high"), [(0, 0), (2, 2), (1, 5)])
def test_the_depths_are_those_of_the_recipe(build: Build, low: int, high: int) -> None:
    out = build({**SMALL, "min_depth": low, "max_depth": high})
    for split in SPLITS:
        found = {nesting(text) for text in written(out, split, "infix")}
        assert found == set(range(low, high + 1))


def test_chains_are_computed_from_left_to_right(build: Build) -> None:
    chains = written(build({**SMALL, "sampler": "chain"}), "train", "infix")
    for text in chains:
        depth = nesting(text)
        assert text.startswith("( " * depth) and text.split(" ")[depth + 1] in "+*"
        assert text.count(" )") == text.count("(") == depth
    spines = written(build(SMALL), "train", "infix")
    assert any(not text.startswith("( " * nesting(text)) for text in spines)


@pytest.mark.parametrize("sampler", ["spine", "chain"])
def test_seen_marks_what_train_has(build: Build, sampler: str) -> None:
    out = build({**SMALL, "min_depth": 0, "train": 360, "dev": 200, "sampler": sampler})
    train = written(out, "train", "infix")
    expected = {
        "train": [int(text in train[:i]) for i, text in enumerate(train)],
        "dev": [int(text in train) for text in written(out, "dev", "infix")],
        "test": [int(text in train) for text in written(out, "test", "infix")],
    }
    for split in SPLITS:
        assert column(out, split, "seen") == expected[split]
        depths = column(out, split, "depth")
        assert statistics(out)["duplicates"][split] == {
            str(depth): sum(
                seen for seen, at in zip(expected[split], depths, strict=True) if at == depth
            )
            for depth in range(4)
        }
    for split in ("train", "dev"):
        assert 0 < sum(expected[split]) < len(expected[split])
    distinct = len(set(train))
    assert sum(statistics(out)["duplicates"]["train"].values()) == len(train) - distinct


EXAMPLE = ("( ( 4 + 1 ) * 3 ) + ( 2 + 4 )", "( + ( * ( + 4 1 ) 3 ) ( + 2 4 ) )")


def prepared(
    tmp_path: Path, pairs: list[tuple[str, str]], recipe: dict[str, Any]
) -> Callable[[], None]:
    """Write pairs as the test set beside sound train and dev sets, and return what prepares it."""
    raw = tmp_path / "raw"
    for split in SPLITS:
        rows = pairs if split == "test" else [EXAMPLE] * recipe[split]
        for notation, lines in zip(("infix", "prefix"), zip(*rows, strict=True), strict=True):
            path = raw / f"{split}.{notation}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    dataset = load(recipe)
    paths = list(raw.iterdir())
    return lambda: dataset.prepare(paths, tmp_path / "prepared")


def test_the_example_of_the_thesis_is_prepared(tmp_path: Path) -> None:
    prepared(tmp_path, [EXAMPLE] * 12, SMALL)()
    line = (tmp_path / "prepared" / "test.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    assert json.loads(line) == {"text": EXAMPLE[0], "prefix": EXAMPLE[1], "label": 1, "depth": 2}


@pytest.mark.parametrize(
    ("pair", "sentence"),
    [
        (
            (EXAMPLE[0], "( + ( * ( + 4 1 ) 3 ) ( + 4 2 ) )"),
            "test.prefix.txt, line 3: '( + ( * ( + 4 1 ) 3 ) ( + 4 2 ) )' is another expression "
            f"than '{EXAMPLE[0]}' at ",
        ),
        (("( 4 + 7 ) * 3", EXAMPLE[1]), "test.infix.txt, line 3: '( 4 + 7 ) * 3' is no expression"),
        (
            (EXAMPLE[0], "( * ( - 4 1 ) 3 )"),
            "test.prefix.txt, line 3: '( * ( - 4 1 ) 3 )' is no expression in prefix notation: '-' "
            "is none of the symbols ( ) + * 0 1 2 3 4; delete the file and generate it again.",
        ),
        (("", EXAMPLE[1]), "test.infix.txt, line 3: '' is no expression in infix notation"),
        (("( 4 + 1 * 3", EXAMPLE[1]), "test.infix.txt, line 3: '( 4 + 1 * 3' is no expression"),
        (("( " * 3000, EXAMPLE[1]), "more than 50 parentheses are open at once"),
        (
            ("4 + 1", "( + 4 1 )"),
            "test.infix.txt, line 3: '4 + 1' has depth 0, but the recipe has depths 1 to 3; delete",
        ),
        (
            (
                "( ( ( ( 1 + 1 ) + 1 ) + 1 ) + 1 ) + 1",
                "( + ( + ( + ( + ( + 1 1 ) 1 ) 1 ) 1 ) 1 )",
            ),
            "has depth 4, but the recipe has depths 1 to 3",
        ),
    ],
)
def test_a_wrong_pair_is_refused(tmp_path: Path, pair: tuple[str, str], sentence: str) -> None:
    with pytest.raises(DataError) as error:
        prepared(tmp_path, [EXAMPLE, EXAMPLE, pair, *[EXAMPLE] * 9], SMALL)()
    assert sentence in str(error.value)
    assert not (tmp_path / "prepared" / "test.jsonl").exists()


@pytest.mark.parametrize("notation", ["infix", "prefix"])
@pytest.mark.parametrize("lines", [11, 13])
def test_a_file_with_another_number_of_lines_is_refused(
    tmp_path: Path, notation: str, lines: int
) -> None:
    prepare = prepared(tmp_path, [EXAMPLE] * 12, SMALL)
    text = EXAMPLE[notation == "prefix"]
    path = tmp_path / "raw" / f"test.{notation}.txt"
    path.write_text(f"{text}\n" * lines, encoding="utf-8")
    with pytest.raises(DataError) as error:
        prepare()
    assert str(error.value) == (
        f"{path}: expected 12 expressions, found {lines}; delete the file and generate it again."
    )


def test_each_of_the_five_outputs_is_a_target(build: Build) -> None:
    """As the note below the table of accuracies says."""
    assert set(column(build(SMALL), "train", "label")) == set(range(5))
