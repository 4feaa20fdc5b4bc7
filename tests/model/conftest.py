"""Small corpora and specs that the tests of the model share."""

from pathlib import Path

import numpy as np
import pytest
import torch

from model.batches.corpus import Corpus
from tests.model.corpora import keyword_texts, write_corpus
from tests.model.specs import CLASSIFIER, COSINE, GUMBEL, Node, part, shape, tiny

BRACKETS = 9


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """Let every test draw the same random numbers each time: torch itself starts anywhere."""
    torch.manual_seed(0)


@pytest.fixture
def copies(tmp_path: Path) -> Corpus:
    """A corpus of sequences whose second half repeats the first: a language model can learn it."""
    random = np.random.default_rng(0)

    def examples(n: int) -> list[list[int]]:
        halves = random.integers(3, BRACKETS, (n, 3))
        return np.concatenate([halves, halves], axis=1).tolist()

    splits = {"train": examples(600), "dev": examples(64), "test": examples(64)}
    return write_corpus(tmp_path / "copies", splits, BRACKETS, {"entropy_floor": 1.0})


@pytest.fixture
def keywords(tmp_path: Path) -> Corpus:
    """A corpus of texts of several lengths whose class is told by one keyword, 3 or 4."""
    sizes = {"train": 600, "dev": 80, "test": 80}
    return keyword_texts(tmp_path / "keywords", sizes, BRACKETS, shortest=2, longest=8)


@pytest.fixture
def classifier_spec() -> Node:
    """A tiny two-stream classifier's spec."""
    objective = "model.objectives.classification:Classification"
    best = {"metric": "accuracy", "mode": "max"}
    return tiny(CLASSIFIER, objective, epochs=3, batch={"tokens": 200}, select=best, **COSINE)


@pytest.fixture
def language_spec() -> Node:
    """A tiny discrete language model's spec, with the sparsity regulariser."""
    more = {"normalizer": GUMBEL, "positions": "learned", "max_length": 16}
    decoder = part("architectures.transformer:Transformer", **shape(16, 32, 2), **more)
    model = part("architectures.language_model:LanguageModel", decoder=decoder)
    path = "objectives.language_modelling:LanguageModelling"
    objective = part(path, sparsity=0.01, ramp_epochs=1)
    return tiny(model, objective, epochs=4, batch={"examples": 32}, **COSINE)
