"""What the datasets of labelled texts share: words, splits, checks, statistics."""

import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.datasets.folders import names
from workflow.datasets.io.checksums import read_manifest
from workflow.datasets.io.dataset_files import SPLITS
from workflow.datasets.io.left_out import Dropped, read_left_out
from workflow.datasets.kinds.labelled_text import (
    GenerableText,
    LabelledExample,
    LabelledText,
    at_most,
    divide,
    hold_out,
    shuffled,
    write_prepared,
)
from workflow.datasets.kinds.text_words import plain_words, tokenise, without_integers
from workflow.runtime.errors import DataError


class Toy(LabelledText):
    """Texts that are at hand."""

    files = ()

    def examples(
        self, files: Sequence[Path], left_out: Dropped
    ) -> dict[str, list[LabelledExample]]:
        return SPLITTED


class Generated(Toy, GenerableText):
    """The same, as if a generator had written them."""

    def generate(self, out: Path) -> None:
        """Write nothing: the texts are at hand."""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A fine, FINE film!!!", "a fine , fine film !"),
        ("I didn't; it's Bob's, we can\u2019t.", "i did n't ; it 's bob 's , we ca n't ."),
        ("the 'sad' dogs' day", "the ' sad ' dogs ' day"),
        ("one.<br /><br />Two<BR>three</p>", "one . two three"),
        ("a < b and c > d <3", "a < b and c > d < 3"),
        ("the world #39;s  quot;best quot; S amp;P", "the world 's \" best \" s & p"),
        ("SPLS&lt;/A&gt; &amp; co", "spls & co"),
        ("inc. &lt;A HREF=\"http://x/y?z=A\"&gt;A. &lt;/A&gt; &amp; co", "inc . a . & co"),
        ("costs #36;10 #151; now", "costs $ 10 — now"),
        (f"a &#{'9' * 5000}; #{'1' * 5000}; &#100000000;", "a \ufffd \ufffd \ufffd"),
        (f"&#{'0' * 5000}65; &#00066;c &#8364;", "a bc €"),
        ("item#39; is kept", "item # 39 ; is kept"),
        ("café naïve 1\xa01/2", "café naïve 1 1 / 2"),
        ("-----\n......", "- ."),
        (" \t\n", ""),
        ("happy \u00ad his point\u00ad. I", "happy \u00ad his point \u00ad . i"),  # as in IMDB
        ("\u2764\ufe0f\u2764\ufe0f \U0001f469\u200d\U0001f467!", "\u2764 \U0001f469 \U0001f467 !"),
        ("! \u0301a don't", "! \u0301 a do n't"),
    ],
)  # fmt: skip
def test_raw_texts_become_words_and_marks(text, words):
    assert tokenise(text) == words.split()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't <br /> a_b 1/2 É", "don t br a_b 1 2 é"),
        ("happy \u00ad his point\u00ad. I", "happy his point i"),
        ("\u0301 a", "a"),
    ],
)
def test_plain_words_are_letters_digits_and_underscores(text, words):
    assert plain_words(text) == words.split()


@given(st.text())
def test_words_are_lower_case_without_spaces_and_stay_what_they_are(text):
    words = tokenise(text)
    assert all(word and not re.search(r"\s", word) and word == word.lower() for word in words)
    assert tokenise(" ".join(words)) == words


MARKED = {
    "NFD": ("Re\u0301sume\u0301 e\u0301te\u0301", ["r\u00e9sum\u00e9", "\u00e9t\u00e9"]),
    "Hindi": ("\u0939\u093f\u0928\u094d\u0926\u0940 \u092e\u0947\u0902",) * 2,
    "Turkish": ("\u0130stanbul", ["i\u0307stanbul"]),
    "Thai": ("\u0e17\u0e35\u0e48",) * 2,
}


@pytest.mark.parametrize(("text", "words"), MARKED.values(), ids=MARKED)
def test_marks_belong_to_their_word_and_words_are_composed(text, words):
    expected = words.split() if isinstance(words, str) else words
    assert tokenise(text) == plain_words(text) == expected


UNSEEN = {
    "soft hyphen": ("co\u00adoperate", "cooperate", 1),
    "between marks": ("कि\u00adताब", "किताब", 1),
    "entity": ("co&shy;operate &#8203; it", "cooperate it", 0),
    "variation": ("葛\U000e0100城 a\ufe00b", "葛城 ab", 2),
    "Latin joiners": ("Auf\u200clage \u200dx\u200d", "auflage x", 3),
    "direction": ("\u200fשלום\u200e a\u2060b\ufeffc", "שלום abc", 4),
    "fillers": ("\u3164a\u034fb \U000e0067", "ab", 3),
    "Persian": ("می\u200cخواهم \u200cکتاب\u200c", "می\u200cخواهم کتاب", 2),
    "Hindi": ("क्\u200dष \u0930\u094d\u200c", "क्\u200dष \u0930\u094d\u200c", 0),
    "Malayalam": ("അവന്\u200d", "അവന്\u200d", 0),
    "a space without width": ("a\u200bb", "a b", 0),
}


@pytest.mark.parametrize(("text", "words", "count"), UNSEEN.values(), ids=UNSEEN)
def test_what_nobody_sees_splits_no_word_and_is_counted(tmp_path, text, words, count):
    assert tokenise(text) == words.split(" ")
    if "&" not in text:
        assert plain_words(text) == words.split(" ")
    left_out = Dropped()
    [example] = Toy().worded(text, 1, left_out)
    assert example.words == plain_words(text) and left_out.unseen == count
    left_out.write(tmp_path)
    known = {"unseen_characters": count} if count else {}
    assert read_left_out(tmp_path) == {"replaced_bytes": 0, "dropped": {}, **known}


def test_integers_of_more_digits_become_unknown():
    assert without_integers(["7", "42", "a1", "007", "½"]) == ["7", "<unk>", "a1", "<unk>", "½"]


examples = st.lists(st.integers(0, 3), min_size=1, max_size=60).map(
    lambda labels: [LabelledExample([str(n)], label) for n, label in enumerate(labels)]
)


@given(examples, st.data())
def test_a_division_keeps_proportions_order_and_every_example(whole, data):
    count = data.draw(st.integers(0, len(whole)))
    rest, taken = divide(whole, count)
    assert len(taken) == count
    assert sorted(rest + taken) == sorted(whole)
    for part in (rest, taken):
        assert part == [one for one in whole if one in part]
    labels, parts = Counter(one.label for one in whole), Counter(one.label for one in taken)
    for label, number in labels.items():
        assert abs(parts[label] - count * number / len(whole)) < 1
    assert divide(whole, count) == (rest, taken)


def test_a_division_is_random():
    whole = [LabelledExample([str(n)], n % 2) for n in range(100)]
    taken = [int(one.words[0]) for one in divide(whole, 50)[1]]
    assert taken != list(range(50)) and 5 < sum(n < 50 for n in taken) < 45


def test_shuffling_is_always_the_same():
    whole = [LabelledExample([str(n)], 0) for n in range(50)]
    assert shuffled(whole) == shuffled(iter(whole)) != whole
    assert sorted(shuffled(whole)) == sorted(whole)


def test_splits_of_a_dataset_that_has_none():
    whole = [LabelledExample([str(n)], n % 2) for n in range(40)]
    left_out = Dropped()
    splits = hold_out(whole, 20, 10, left_out)
    assert [len(splits[split]) for split in SPLITS] == [20, 10, 10]
    assert left_out.dropped == {"not in the sample": 10}
    small = hold_out(whole[:9], 20, 10, left_out)
    assert [len(small[split]) for split in SPLITS] == [6, 3, 3]
    assert sorted(small["train"] + small["dev"]) == whole[:9] and small["dev"] == small["test"]
    assert left_out.dropped == {"not in the sample": 10}


def test_at_most_counts_what_it_leaves_out():
    whole = [LabelledExample([str(n)], n % 2) for n in range(10)]
    left_out = Dropped()
    assert at_most(10, whole, left_out) == whole and not left_out.dropped
    assert len(at_most(4, whole, left_out)) == 4
    assert left_out.dropped == {"not in the sample of the test set": 6}


def test_an_empty_text_and_one_of_marks_are_counted():
    left_out = Dropped()
    assert list(Toy().worded("Good.", 1, left_out)) == [(["good"], 1)]
    assert list(Toy().worded(":-)", 1, left_out)) == []
    assert list(Toy().worded(" \t", 1, left_out)) == []
    assert left_out.dropped == {"no words": 1, "empty": 1}


def test_a_text_that_nobody_can_see_has_no_words():
    sizes = {"train": 3, "dev": 2, "test": 2, "seed": 0}
    corpus, left_out = Generated(source="generated", **sizes), Dropped()
    assert [
        *corpus.worded("\u200b \xad", 1, left_out),
        *corpus.worded("&#8203;", 1, left_out),
    ] == []
    assert left_out.dropped == {"no words": 2}
    assert list(corpus.worded("\u200b :", 1, left_out)) == [([":"], 1)]


def texts(*lines: str) -> list[LabelledExample]:
    """Return examples from `label word word ...`."""
    return [LabelledExample(line.split()[1:], int(line[0])) for line in lines]


SPLITTED = {
    "train": texts("0 a a b", "1 b c a", "1 c <unk> a"),
    "dev": texts("0 a d", "1 d e"),
    "test": texts("1 c b a b", "0 b c a"),
}


def test_statistics_by_hand(tmp_path):
    left_out = Dropped(3, Counter({"too long": 2}))
    write_prepared(tmp_path, SPLITTED, left_out)
    Toy(max_tokens=3, min_count=2).encode(tmp_path, tmp_path)
    assert names(tmp_path) == ["<pad>", "<bos>", "<unk>", "a", "b", "c"]
    assert np.load(tmp_path / "train.tokens.npy").tolist() == [3, 3, 4, 4, 5, 3, 5, 2, 3]
    assert np.load(tmp_path / "test.tokens.npy").tolist() == [5, 4, 3, 4, 5, 3]
    manifest = read_manifest(tmp_path)
    assert manifest["options"] == {"max_tokens": 3, "min_count": 2}
    assert {type(value) for value in manifest["statistics"]["median_length"].values()} == {float}
    assert manifest["statistics"] == {
        "cut_texts": 1,
        "median_length": {"train": 3, "dev": 2, "test": 3.5},
        "labels": {"train": {"0": 1, "1": 2}, "dev": {"0": 1, "1": 1}, "test": {"0": 1, "1": 1}},
        "duplicates": {"train": 0, "dev": 0, "test": 1},
        "replaced_bytes": 3,
        "dropped": {"too long": 2},
        "unknown_tokens": {"dev": 3, "test": 0},
        "unknown_texts": {"dev": 1, "test": 0},
    }


def test_a_vocabulary_without_a_word_is_refused(tmp_path):
    write_prepared(tmp_path, SPLITTED, Dropped())
    sentence = r"No word of dataset `\w+` comes 1000 times in the texts .* lower `min_count`"
    with pytest.raises(DataError, match=sentence):
        Toy(min_count=1000).encode(tmp_path, tmp_path / "encoded")
    assert not (tmp_path / "encoded").exists()
    Toy(min_count=4).encode(tmp_path, tmp_path / "encoded")  # "a" comes four times
    assert names(tmp_path / "encoded")[3:] == ["a"]


def test_salient_words_are_marked_and_cut_with_their_text(tmp_path):
    write_prepared(tmp_path, SPLITTED, Dropped(), {"c"})
    sizes = {"train": 3, "dev": 2, "test": 2, "seed": 0}
    Generated(max_tokens=2, source="generated", **sizes).encode(tmp_path, tmp_path)
    assert np.load(tmp_path / "train.salient.npy").tolist() == [0, 0, 0, 1, 1, 0]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(
    ("faulty", "sentence"),
    [
        (texts("1 a", "1 b"), "has the label 1 only; a classifier needs texts of two labels"),
        ([], "is empty; a classifier needs texts of two labels"),
    ],
)
def test_a_split_of_one_class_is_refused(tmp_path, split, faulty, sentence):
    splits: dict[str, Any] = {**SPLITTED, split: faulty}
    with pytest.raises(DataError, match=f"the split `{split}` {sentence}"):
        write_prepared(tmp_path, splits, Dropped())
    assert not list(tmp_path.iterdir())


def test_choices_do_not_touch_the_global_generator():
    random.seed(1)
    state = random.getstate()
    shuffled(SPLITTED["train"])
    divide(SPLITTED["train"], 1)
    assert random.getstate() == state
