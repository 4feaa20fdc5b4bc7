"""Sub-words, against subword-nmt run on running text."""

import io
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from subword_nmt.apply_bpe import BPE, read_vocabulary
from subword_nmt.get_vocab import get_vocab
from subword_nmt.learn_bpe import learn_bpe

from workflow.datasets.encoded import byte_pairs
from workflow.runtime.errors import DataError

TEXT = [
    "low low low low low lower lower newest newest newest newest newest widest widest widest",
    "the newest and the widest of the low towers is lower than the lowest of the new ones",
] * 3
COUNTS = Counter(word for line in TEXT for word in line.split())
CODES = byte_pairs.learn(COUNTS, 25)


def pieces(words: list[str], codes: str = CODES, known: set[str] | None = None) -> list[list[str]]:
    return [found for _, found in byte_pairs.split(words, codes, known)]


def test_merges_are_those_that_subword_nmt_learns_from_the_text():
    codes = io.StringIO()
    learn_bpe(io.StringIO("".join(f"{line}\n" for line in TEXT)), codes, 25)
    assert codes.getvalue() == CODES


def test_words_are_split_as_subword_nmt_splits_lines():
    applied = BPE(io.StringIO(CODES))
    lines = [" ".join(" ".join(found) for found in pieces(line.split())) for line in TEXT]
    assert lines == [applied.process_line(line) for line in TEXT]


@pytest.mark.parametrize("threshold", [2, 5, 12])
def test_rare_pieces_are_split_as_subword_nmt_splits_them(threshold):
    whole = BPE(io.StringIO(CODES))
    listed = io.StringIO()
    get_vocab(io.StringIO("".join(f"{whole.process_line(line)}\n" for line in TEXT)), listed)
    listed.seek(0)
    allowed = read_vocabulary(listed, threshold)
    applied = BPE(io.StringIO(CODES), vocab=allowed)
    for line in TEXT:
        found = " ".join(" ".join(one) for one in pieces(line.split(), CODES, allowed))
        assert found == applied.process_line(line)


@given(
    st.lists(st.text("lowest@", min_size=1, max_size=9), min_size=1), st.sets(st.integers(0, 40))
)
def test_pieces_are_split_further_as_subword_nmt_splits_them(words, kept):
    """With any vocabulary, an empty one too, and words that end in the mark of a piece."""
    every = sorted({piece for found in pieces(words) for piece in found})
    allowed = {piece for number, piece in enumerate(every) if number in kept}
    applied = BPE(io.StringIO(CODES), vocab=allowed)
    assert pieces(words, CODES, allowed) == [applied.segment_tokens([word]) for word in words]


def test_a_word_of_a_thousand_letters_is_split_without_recursion():
    """Each merge adds a letter, so that undoing them goes as deep as the word is long."""
    letters = "".join(chr(0x4E00 + n) for n in range(3000))
    merges = [f"{letters[:n]} {letters[n]}" for n in range(1, 2999)]
    codes = "\n".join([byte_pairs.HEADER, *merges, f"{letters[:2999]} {letters[2999]}</w>", ""])
    assert pieces([letters], codes) == [[letters]]
    single = [*(f"{letter}@@" for letter in letters[:-1]), letters[-1]]
    assert pieces([letters], codes, {*single}) == [single]


@given(st.lists(st.text("lowernstidé", min_size=1, max_size=12), min_size=1, max_size=5))
def test_pieces_make_up_their_word(words):
    for word, found in byte_pairs.split(words, CODES):
        assert "".join(piece.removesuffix("@@") for piece in found) == word
        assert [piece.endswith("@@") for piece in found] == [True] * (len(found) - 1) + [False]


def test_only_the_most_frequent_words_are_learned_from(monkeypatch):
    monkeypatch.setattr(byte_pairs, "LEARNED_FROM", 2)
    assert byte_pairs.most_frequent({"ef": 2, "cd": 3, "ab": 5, "aa": 3}) == {"ab": 5, "aa": 3}


def test_texts_without_a_word_to_split_are_refused():
    for counts in ({"a": 5, "b": 3}, {"ab": 1, "ba": 1}):
        with pytest.raises(DataError, match="too few to learn sub-words from, since no two lett"):
            byte_pairs.learn(counts, 9)


def test_codes_that_came_with_a_corpus(tmp_path):
    path = tmp_path / "codes.txt"
    path.write_text(CODES)
    assert byte_pairs.read_codes(path, 5) == "\n".join([*CODES.split("\n")[:6], ""])
    path.write_text(f"\ufeff{CODES}\n")  # a mark at the head, an empty line at the end
    assert byte_pairs.read_codes(path, 25) == CODES
    path.write_bytes(CODES.encode().replace(b"l o\n", b"l \xe9\n", 1))
    with pytest.raises(DataError, match=r"codes.txt, line \d+: this line is not UTF-8"):
        byte_pairs.read_codes(path, 5)
    path.write_text(CODES)
    with pytest.raises(DataError, match=r"codes.txt: there are 25 merges, fewer than `merges`: 26"):
        byte_pairs.read_codes(path, 26)
    path.write_text(CODES.replace("l o\n", "lo\n", 1))
    with pytest.raises(DataError, match=r"codes.txt, line \d+: expected two symbols, found 'lo'"):
        byte_pairs.read_codes(path, 5)
    path.write_text(CODES.partition("\n")[2])
    with pytest.raises(DataError, match=r"the first line is not `#version: 0.2`"):
        byte_pairs.read_codes(path, 5)


def test_codes_of_another_corpus_are_refused(tmp_path):
    own = {piece for found in pieces(list(COUNTS)) for piece in found}
    byte_pairs.check_codes(tmp_path / "codes.txt", CODES, own)
    other = byte_pairs.learn({"хорошо": 5, "хороший": 4, "плохо": 3, "плохой": 3}, 12)
    found = {piece for one in pieces(list(COUNTS), other) for piece in one}
    sentence = "txt: the words of this corpus use 0 of the 12 merges, so they were learned on"
    with pytest.raises(DataError, match=sentence):
        byte_pairs.check_codes(tmp_path / "codes.txt", other, found)
