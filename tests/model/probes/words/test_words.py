"""Words, sub-words and tags of a side, by hand and by slow loops."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.probes.words import subwords as words
from model.probes.words.subwords import (
    SubWords,
    english_side,
    frequent_words,
    moses_form,
    plain,
    unigram_tags,
    vocabulary,
    word_counts,
)
from tests.model.parallel import write_parallel, write_tagged

PAIRS = [("a b a", "x y"), ("b c@@ d", "x a"), ("a", "b y y")]


def test_each_side_is_counted_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(words, "CHUNK", 2)  # so that the last part is a smaller one
    corpus = write_parallel(tmp_path / "c", {"train": PAIRS})
    symbols = vocabulary(corpus, "source")
    for side in (0, 1):
        words_of = " | ".join(pair[side] for pair in PAIRS).replace("@@ ", "@@").split()
        expected = Counter(word for word in words_of if "@@" not in word and word != "|")
        expected["<eos>"] = len(PAIRS)
        found = word_counts(corpus.split("train"), ("source", "target")[side], symbols)
        assert {s: n for s, n in zip(symbols, found.tolist(), strict=True) if n} == expected


def test_frequent_words_are_whole_and_of_their_side(tmp_path):
    corpus = write_parallel(tmp_path / "c", {"train": PAIRS})
    symbols = vocabulary(corpus, "source")
    assert [symbols[i] for i in frequent_words(corpus, "source")] == ["a", "b"]
    assert [symbols[i] for i in frequent_words(corpus, "target")] == ["y", "x", "a", "b"]


def test_separate_vocabularies(tmp_path):
    words = ["d", "c@@", "b", "a"]
    corpus = write_parallel(tmp_path / "c", {"train": PAIRS}, source_vocabulary=words)
    assert vocabulary(corpus, "source")[4:] == ["d", "c@@", "b", "a"]
    assert vocabulary(corpus, "target")[4:] == ["a", "b", "x", "y"]
    found = [vocabulary(corpus, "source")[i] for i in frequent_words(corpus, "source")]
    assert found == ["a", "b"]


def test_the_english_side(tmp_path):
    for languages, side in ((("en", "de"), "source"), (("de", "en"), "target")):
        corpus = write_parallel(tmp_path / side, {"train": PAIRS}, languages)
        assert english_side(corpus) == side
    corpus = write_parallel(tmp_path / "none", {"train": PAIRS}, ("de", "fi"))
    with pytest.raises(ValueError, match=r"none: no side of this corpus is English"):
        english_side(corpus)


@given(st.lists(st.text("ab@", min_size=1, max_size=4).filter(lambda w: not w.endswith("@"))))
def test_sub_words_are_put_together(texts):
    pieces = [piece for word in texts for piece in [*(f"{it}@@" for it in word[:-1]), word[-1]]]
    assert plain(pieces) == " ".join(texts)


def test_a_word_that_is_cut_off_keeps_no_mark():
    assert plain(["fo@@"]) == "fo"
    assert plain([]) == ""


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("``", "&quot;"), ("''", "&quot;"), ("'s", "&apos;s"), ("AT&T", "AT&amp;T"),
        ("-LRB-", "("), ("1\\/2", "1/2"), ("\\*", "*"), ("<", "&lt;"), ("film", "film"),
    ],
)  # fmt: skip
def test_words_in_the_form_of_moses(word, expected):
    assert moses_form(word) == expected


def test_moses_forms_are_what_moses_writes():
    """Words that Moses leaves whole: its tokeniser only escapes them."""
    sacremoses = pytest.importorskip("sacremoses")
    moses = sacremoses.MosesTokenizer(lang="en")
    for word in ("&", '"', "(", "[", "]", "|", "<", ">", "year-old", ".", "%"):
        assert moses.tokenize(word, return_str=True) == moses_form(word)


def test_words_are_split_by_the_merges_of_the_corpus(tmp_path):
    merges = ["l o", "lo w</w>", "n e", "w est</w>", "e s", "es t</w>"]
    vocabulary = ["low", "lo@@", "l@@", "o@@", "w@@", "ne@@", "est", "e@@", "s", "&apos;s", "r"]
    corpus = write_parallel(tmp_path / "c", {"train": [("low", "low")]}, merges=merges,
                            vocabulary=vocabulary)  # fmt: skip
    subwords = SubWords(corpus, "source")
    assert subwords.lowercase
    ids = {word: 4 + vocabulary.index(word) for word in vocabulary}
    assert subwords.ids("LOW") == [ids["low"]]
    assert subwords.ids("lower") == [ids["lo@@"], ids["w@@"], ids["e@@"], ids["r"]]
    assert subwords.ids("newest") == [ids["ne@@"], ids["w@@"], ids["est"]]
    assert subwords.ids("x") == [words.UNKNOWN]


@pytest.mark.parametrize(("lowercase", "form"), [(True, "the"), (False, "The")])
def test_the_manifest_says_whether_case_counts(tmp_path, lowercase, form):
    """In the vocabulary SentencePiece writes capitals of its own, as for `tm` of a trade mark."""
    corpus = write_parallel(tmp_path / "c", {"train": [("TM a", "x")]}, lowercase=lowercase)
    assert SubWords(corpus, "source").form("The") == form


def test_a_manifest_without_the_case_is_named(tmp_path):
    corpus = write_parallel(tmp_path / "c", {"train": PAIRS})
    del corpus.manifest["lowercase"]
    with pytest.raises(ValueError, match="has no 'lowercase': delete the folder"):
        SubWords(corpus, "source")


def test_missing_merges_are_named(tmp_path):
    corpus = write_parallel(tmp_path / "c", {"train": PAIRS})
    (corpus.folder / "codes.txt").unlink()
    with pytest.raises(ValueError, match="holds no merges of its words"):
        SubWords(corpus, "source")


def test_the_most_frequent_tag_of_each_word(tmp_path):
    corpus = write_parallel(tmp_path / "c", {"train": [("run dog", "x")]})
    tagged = write_tagged(
        tmp_path / "t",
        {
            "train": [[("Run", "VB", "O"), ("dog", "NN", "O"), ("fast", "RB", "O")]],
            "test": [[("run", "NN", "O"), ("run", "NN", "O"), ("fast", "JJ", "O")]],
        },
    )
    found = unigram_tags(tagged, SubWords(corpus, "source"))
    assert found == {"run": "NN", "dog": "NN", "fast": "JJ"}


def test_a_corpus_without_tags_is_refused(tmp_path):
    corpus = write_parallel(tmp_path / "c", {"train": PAIRS})
    with pytest.raises(ValueError, match="no names of 'pos': name a tagged corpus"):
        unigram_tags(corpus, SubWords(corpus, "source"))


def test_reserved_ids_are_those_of_the_sampler():
    from model.batches.batching import BOS, PAD
    from model.batches.pairs import EOS

    assert sorted({PAD, BOS, EOS, words.UNKNOWN}) == list(range(words.RESERVED))
