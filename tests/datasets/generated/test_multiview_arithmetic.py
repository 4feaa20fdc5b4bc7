"""Multiview arithmetic from its recipe to its arrays."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.datasets.folders import decoded, names, records
from tests.datasets.grammars.test_arithmetic_expressions import nesting
from workflow.datasets.io.checksums import read_manifest
from workflow.datasets.io.dataset_files import SPLITS
from workflow.datasets.kinds.recipe import files
from workflow.runtime.errors import DataError

SMALL = {"dataset": "multiview_arithmetic", "train": 90, "dev": 30, "test": 12}
VIEWS = ("infix", "prefix", "both")


def written(out: Path, split: str, notation: str) -> list[str]:
    """Return the generated expressions of a split."""
    return (out / "raw" / f"{split}.{notation}.txt").read_text(encoding="utf-8").splitlines()


def column(out: Path, split: str, name: str) -> list[int]:
    """Return a column of a split, one value for each expression."""
    array = np.load(out / "encoded" / f"{split}.{name}.npy")
    assert array.dtype == np.int32
    return array.tolist()


def statistics(out: Path) -> dict[str, Any]:
    """Return the statistics in the manifest."""
    return read_manifest(out / "encoded")["statistics"]


def as_infix(prefix: list[str]) -> str:
    """Write a prefix expression as infix with all parentheses, consuming its symbols."""
    symbol = prefix.pop(0)
    if symbol != "(":
        return symbol
    operator, left, right = prefix.pop(0), as_infix(prefix), as_infix(prefix)
    assert prefix.pop(0) == ")"
    return f"( {left} {operator} {right} )"


@pytest.mark.parametrize("sampler", ["spine", "chain"])
def test_the_notations_are_parallel_and_the_labels_pythons(build, sampler):
    out = build({**SMALL, "sampler": sampler})
    for split in SPLITS:
        infix, prefix = (written(out, split, notation) for notation in ("infix", "prefix"))
        assert len(infix) == len(prefix) == SMALL[split]
        assert [as_infix(text.split(" ")) for text in prefix] == [f"( {text} )" for text in infix]
        labels, depths = [eval(text) % 5 for text in infix], [nesting(text) for text in infix]
        assert column(out, split, "label") == labels and column(out, split, "depth") == depths
        assert records(out, split) == [
            {"text": text, "prefix": other, "label": label, "depth": depth}
            for text, other, label, depth in zip(infix, prefix, labels, depths, strict=True)
        ]


@pytest.mark.parametrize("view", VIEWS)
def test_the_tokens_are_those_of_the_view(build, view):
    recipe = {**SMALL, "view": view}
    out = build(recipe)
    assert {path.name for path in (out / "encoded").iterdir()} == {*files(recipe)["encoded"]}
    assert names(out / "encoded") == ["<pad>", "<bos>", "<unk>", *"()+*01234"]
    for split in SPLITS:
        infix, prefix = (
            [text.split(" ") for text in written(out, split, notation)]
            for notation in ("infix", "prefix")
        )
        both = [a + b for a, b in zip(infix, prefix, strict=True)]
        expected = {"infix": infix, "prefix": prefix, "both": both}[view]
        assert decoded(out / "encoded", split) == expected
        if view == "both":
            assert column(out, split, "infix_length") == [len(text) for text in infix]
            assert all(len(b) == len(a) + 2 for a, b in zip(infix, prefix, strict=True))


def test_the_expressions_do_not_depend_on_the_view(build):
    built = [build({**SMALL, "view": view}, view) for view in VIEWS]
    for stage in ("raw", "prepared"):
        for path in (built[0] / stage).iterdir():
            for other in built[1:]:
                assert path.read_bytes() == (other / stage / path.name).read_bytes()
    for split in SPLITS:
        for name in ("label", "depth", "seen"):
            first, *others = (column(out, split, name) for out in built)
            assert others == [first, first]
        infix, prefix, both = (decoded(out / "encoded", split) for out in built)
        assert both == [a + b for a, b in zip(infix, prefix, strict=True)]
    assert statistics(built[0]) == statistics(built[1]) == statistics(built[2])


def test_every_depth_has_as_many_expressions_in_mixed_order(build, capsys):
    out = build(SMALL)
    assert capsys.readouterr() == ("", "")
    for split in SPLITS:
        depths = column(out, split, "depth")
        assert Counter(depths) == dict.fromkeys((1, 2, 3), SMALL[split] // 3)
        assert depths != sorted(depths)
        counts = statistics(out)["examples_per_depth"][split]
        assert counts == dict.fromkeys("123", SMALL[split] // 3)


def test_the_first_depths_have_one_more_where_a_size_does_not_divide(build, capsys):
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


def test_chains_are_computed_from_left_to_right(build):
    chains = written(build({**SMALL, "sampler": "chain"}), "train", "infix")
    for text in chains:
        depth = nesting(text)
        assert text.startswith("( " * depth) and text.split(" ")[depth + 1] in "+*"
        assert text.count(" )") == text.count("(") == depth
    spines = written(build(SMALL), "train", "infix")
    assert any(not text.startswith("( " * nesting(text)) for text in spines)


@pytest.mark.parametrize("sampler", ["spine", "chain"])
def test_seen_marks_what_train_has(build, sampler):
    out = build({**SMALL, "min_depth": 0, "train": 360, "dev": 200, "sampler": sampler})
    train = written(out, "train", "infix")
    expected = {
        "train": [int(text in train[:i]) for i, text in enumerate(train)],
        "dev": [int(text in train) for text in written(out, "dev", "infix")],
        "test": [int(text in train) for text in written(out, "test", "infix")],
    }
    for split in SPLITS:
        assert column(out, split, "seen") == expected[split]
        pairs = zip(expected[split], column(out, split, "depth"), strict=True)
        counts = Counter(depth for seen, depth in pairs if seen)
        repeated = {str(depth): counts[depth] for depth in range(4)}
        assert statistics(out)["duplicates"][split] == repeated
    for split in ("train", "dev"):
        assert 0 < sum(expected[split]) < len(expected[split])


EXAMPLE = ("( ( 4 + 1 ) * 3 ) + ( 2 + 4 )", "( + ( * ( + 4 1 ) 3 ) ( + 2 4 ) )")


def raw(*pairs: tuple[str, str], lines: int = 12) -> dict[str, bytes]:
    """Return the files of sound splits, that of test beginning with these pairs."""
    tested = [*pairs, *[EXAMPLE] * (lines - len(pairs))]
    rows = {"train": [EXAMPLE] * 90, "dev": [EXAMPLE] * 30, "test": tested}
    return {
        f"{split}.{notation}.txt": "".join(f"{row[side]}\n" for row in rows[split]).encode()
        for split in SPLITS
        for side, notation in enumerate(("infix", "prefix"))
    }


def test_the_example_of_the_thesis_is_prepared(take, tmp_path):
    take(SMALL, raw())
    record = {"text": EXAMPLE[0], "prefix": EXAMPLE[1], "label": 1, "depth": 2}
    assert records(tmp_path / "data", "test") == [record] * 12


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
        (
            ("4 + 1", "( + 4 1 )"),
            "test.infix.txt, line 3: '4 + 1' has depth 0, but the recipe has depths 1 to 3; delete",
        ),
        (
            ("( ( ( ( 1 + 1 ) + 1 ) + 1 ) + 1 ) + 1", "( + ( + ( + ( + ( + 1 1 ) 1 ) 1 ) 1 ) 1 )"),
            "has depth 4, but the recipe has depths 1 to 3",
        ),
    ],
)
def test_a_wrong_pair_is_refused(take, tmp_path, pair, sentence):
    with pytest.raises(DataError, match=re.escape(sentence)):
        take(SMALL, raw(EXAMPLE, EXAMPLE, pair))
    assert not (tmp_path / "data" / "prepared" / "test.jsonl").exists()


@pytest.mark.parametrize("notation", ["infix", "prefix"])
@pytest.mark.parametrize("lines", [11, 13])
def test_a_file_with_another_number_of_lines_is_refused(take, notation, lines):
    name = f"test.{notation}.txt"
    sentence = f"{name}: expected 12 expressions, found {lines}; delete the file and generate it a"
    with pytest.raises(DataError, match=sentence):
        take(SMALL, {**raw(), name: raw(lines=lines)[name]})
