"""SentencePiece's sub-words against SentencePiece on whole lines, and sizes that can't be had."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece

from model.batches.corpus import Corpus
from model.probes.words.subwords import UNKNOWN, plain
from workflow.datasets.encoded.prepared import prepared_lines
from workflow.datasets.encoded.sentence_pieces import Pieces, learn
from workflow.datasets.io.checksums import write_checksums
from workflow.datasets.kinds.recipe import complete, files
from workflow.runtime.errors import DataError

Build = Callable[..., Path]
RECIPE: dict[str, Any] = {
    **{"dataset": "multi30k", "source": "generated", "seed": 3, "lowercase": False},
    **{"train": 200, "dev": 20, "test": 20, "vocabulary": 150},
}
TEXT = ["Der Hund sieht die Katze.", "Die Katze sieht den großen Hund, der schläft."] * 3
COUNTS = Counter(word for line in TEXT for word in line.split())


@pytest.fixture
def encoded(build: Build) -> Path:
    return build(RECIPE) / "encoded"


def test_lines_are_split_as_sentencepiece_splits_them(encoded):
    model = sentencepiece.SentencePieceProcessor(str(encoded / "sentencepiece.model"))
    assert len(model) == 150
    for split in ("train", "dev", "test"):
        tokens, offsets, source = (
            np.load(encoded / f"{split}.{name}.npy") for name in ("tokens", "offsets", "source")
        )
        prepared = encoded.parent / "prepared"
        sides = (prepared_lines(prepared / f"{split}.{name}.txt") for name in ("source", "target"))
        for n, (one, two) in enumerate(zip(*sides, strict=True)):
            ids = tokens[offsets[n] : offsets[n + 1]].tolist()
            assert ids[: source[n]] == [*model.encode(one), 2]
            assert ids[source[n] :] == [*model.encode(two), 2]


def test_texts_are_read_as_they_were_written_and_can_be_put_together_again(encoded):
    corpus = Corpus(encoded)
    assert corpus.vocabulary[:4] == ["<pad>", "<bos>", "<eos>", "<unk>"]
    assert len(corpus.vocabulary) == corpus.manifest["vocabulary_size"] == 150
    split = corpus.split("dev")
    written = (encoded / "dev.raw_reference.txt").read_text().splitlines()
    assert any(text[0].isupper() and text.endswith(".") for text in written)
    whole = 0
    for n, text in enumerate(written):
        target = split.tokens[split.offsets[n] + split.columns["source"][n] : split.offsets[n + 1]]
        if UNKNOWN not in target:  # rare letters
            whole += 1
            assert plain([corpus.vocabulary[i] for i in target[:-1]]).strip() == text
    assert whole > 10


def test_lower_case_where_it_is_asked_for(build):
    out = build({**RECIPE, "lowercase": True})
    lines = list(prepared_lines(out / "prepared" / "train.target.txt"))
    assert all(line == line.lower() for line in lines) and any("." in line for line in lines)


def test_announced_files_are_written_and_byte_pairs_keep_their_recipe(encoded):
    assert {path.name for path in encoded.iterdir()} == {*files(RECIPE)["encoded"]}
    assert "vocabulary" not in complete({"dataset": "multi30k"})
    assert complete(complete(RECIPE)) == complete(RECIPE)


def test_the_model_depends_on_the_counts_alone():
    turned = dict(reversed(COUNTS.items()))
    assert learn(COUNTS, 32, "toy") == learn(turned, 32, "toy")
    whole = Pieces(learn(COUNTS, 32, "toy"))
    ids = np.frombuffer(whole.ids("Katze."), np.int32)
    assert "".join(whole.vocabulary[i] for i in ids).replace("@@", "") == " Katze."
    assert UNKNOWN in np.frombuffer(whole.ids("Ж"), np.int32)


@pytest.mark.parametrize("size", [5, 4000])
def test_a_size_that_the_texts_do_not_allow_names_the_nearest_one(size):
    bound = "allows at most" if size > 100 else "needs at least"
    with pytest.raises(DataError, match=rf"`vocabulary` of dataset `toy` is {size}, too") as caught:
        learn(COUNTS, size, "toy")
    found = re.search(rf"{bound} (\d+) entries", str(caught.value))
    assert found is not None
    assert len(Pieces(learn(COUNTS, int(found[1]), "toy")).vocabulary) == int(found[1])
    beyond = int(found[1]) + (1 if size > 100 else -1)
    with pytest.raises(DataError, match=f"{bound} {found[1]} entries"):
        learn(COUNTS, beyond, "toy")


def test_too_large_a_vocabulary_ends_the_program_with_the_sentence(build, script, tmp_path):
    out = build(RECIPE)
    write_checksums(out / "prepared")
    recipe = str({**RECIPE, "vocabulary": 8000}).replace("'", '"').replace("False", "false")
    arguments = ["--recipe", recipe, "--prepared", out / "prepared", "--out", tmp_path / "none"]
    said = script("encode", *arguments)
    assert said.returncode == 1
    assert "error: Option `vocabulary` of dataset `multi30k` is 8000, too large" in said.stderr
    assert not (tmp_path / "none" / "manifest.json").exists()
