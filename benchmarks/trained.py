"""A trained run as what races: its model, its test set, and the BLEU of its translations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.batches.corpus import Corpus, read_lines
from model.batches.pairs import PairBatch, pairs_in_order
from model.build import build
from model.probes.quality.translation_scores import as_written, scores
from model.probes.words.subwords import plain

SPLIT = "test"
TOKENS = 4096
"""The most of a batch, on the longer side."""
MADE_OF = ("width", "hidden", "layers", "heads")


def trained_shape(run: Path) -> dict[str, int]:
    """What `SHAPES` says of a shape, of the model of a run."""
    node = _model(run)
    return {name: node[name] for name in MADE_OF}


def trained_model(run: Path, data: Path) -> EncoderDecoder:
    """The model of a run with its weights."""
    model: EncoderDecoder = build(_model(run), vocabulary_size=len(Corpus(data).vocabulary))
    model.load_state_dict(load_file(run / "weights.safetensors"))
    return model


def trained_batches(data: Path) -> list[PairBatch]:
    """The test set, batches of like lengths."""
    return list(pairs_in_order(Corpus(data).split(SPLIT), TOKENS, torch.device("cpu")))


def bleu(data: Path, texts: list[list[int]]) -> float:
    """sacrebleu's BLEU, in %, of the translation of each source, in the order of the batches."""
    corpus = Corpus(data)
    found = dict(zip(_examples(data), texts, strict=True))
    lines = [plain([corpus.vocabulary[word] for word in found[one]]) for one in sorted(found)]
    references = read_lines(corpus, SPLIT, "reference")
    written = as_written(corpus, SPLIT, references)
    return float(scores(corpus, lines, references, written)[0]["sacrebleu"]["value"])


def _examples(data: Path) -> list[int]:
    return [int(one) for batch in trained_batches(data) for one in batch.examples]


def _model(run: Path) -> Mapping[str, Any]:
    node: Mapping[str, Any] = json.loads((run / "spec.json").read_text())["model"]
    return node
