"""The longest sentence of a corpus, in any split and on either side, against `max_length`."""

from pathlib import Path

import pytest

from model.batches.corpus import Corpus
from model.training.preflight import check_longest_pair
from tests.model.parallel import write_parallel

ENCODER_DECODER = "model.architectures.translation.encoder_decoder:EncoderDecoder"


@pytest.mark.parametrize("split", ["train", "dev", "test"])
@pytest.mark.parametrize("side", [0, 1])
def test_it_is_found_and_named(tmp_path: Path, split: str, side: int) -> None:
    splits = {name: [("a b", "c"), ("a", "b c d")] for name in ("train", "dev", "test")}
    long = ["a", "b"]
    long[side] = "a b c d a b"
    splits[split].append((long[0], long[1]))
    corpus = write_parallel(tmp_path / "data", splits)
    check_longest_pair({"path": ENCODER_DECODER, "max_length": 7}, corpus)
    which = ("source", "target")[side]
    sentence = (
        rf"data: the {which} of pair 3 of '{split}' \(its line in {split}.{which}.txt\) has 7"
    )
    with pytest.raises(ValueError, match=sentence):
        check_longest_pair({"path": ENCODER_DECODER, "max_length": 6}, corpus)


def test_a_length_that_the_spec_leaves_out_is_that_of_the_class(tmp_path: Path) -> None:
    pair = [("a " * 1024, "a")]
    corpus = write_parallel(tmp_path / "data", {"train": pair, "dev": pair, "test": pair})
    with pytest.raises(ValueError, match=r"has 1025 sub-words, <eos> .* is 1024: set it"):
        check_longest_pair({"path": ENCODER_DECODER}, corpus)


def test_models_of_any_length_and_corpora_of_other_kinds_are_let_pass(
    tmp_path: Path, copies: Corpus
) -> None:
    pair = [("a a a", "a")]
    corpus = write_parallel(tmp_path / "data", {"train": pair, "dev": pair, "test": pair})
    check_longest_pair(
        {"path": "model.architectures.lstm_classifier:LSTMClassifier", "max_length": 1}, corpus
    )
    check_longest_pair({"path": ENCODER_DECODER, "max_length": 1}, copies)
