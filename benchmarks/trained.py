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
from workflow.datasets.io.checksums import read_manifest
from workflow.runtime.integrity import check_files
from workflow.runtime.store import read_result

SPLIT = "test"
TOKENS = 4096
"""The most of a batch, on the longer side."""
MADE_OF = ("width", "hidden", "layers", "heads")
ALIKE = {
    "path": "model.architectures.translation.encoder_decoder:EncoderDecoder",
    "normalizer": {"path": "model.normalizers.softmax:Softmax"},
    "norm": "post",
    "positions": "sinusoidal",
    "tie": "all",
}
"""What every contender is."""


def trained_shape(run: Path, data: Path) -> dict[str, int]:
    """What `SHAPES` says of a shape, of the model of a run whose files are as they were written.

    Raises:
        Damaged: a file of the run or of its data is not.
        ValueError: the others have no model of this kind.
    """
    read_result(run)
    check_files(data, read_manifest(data)["files"])
    node = _model(run)
    for name, kind in ALIKE.items():
        if node.get(name, kind) != kind:
            raise ValueError(
                f"{run}: model.{name} is {node[name]}, which the others lack; "
                f"take a run with {kind}."
            )
    return {name: node[name] for name in MADE_OF}


def trained_model(run: Path, data: Path) -> EncoderDecoder:
    """The model of a run with its weights."""
    model: EncoderDecoder = build(_model(run), vocabulary_size=len(Corpus(data).vocabulary))
    model.load_state_dict(load_file(run / "weights.safetensors"))
    return model


def trained_batches(data: Path) -> list[PairBatch]:
    """The test set, batches of like lengths."""
    return list(pairs_in_order(Corpus(data).split(SPLIT), TOKENS, torch.device("cpu")))


def bleu(data: Path, translated: Mapping[str, list[list[int]]]) -> dict[str, float]:
    """sacrebleu's BLEU, in %, by contender.

    Args:
        data: the folder of the run's data.
        translated: by contender the translation of each source, in the order of the batches.
    """
    corpus = Corpus(data)
    order = [int(one) for batch in trained_batches(data) for one in batch.examples]
    references = read_lines(corpus, SPLIT, "reference")
    written = as_written(corpus, SPLIT, references)
    found = {}
    for name, texts in translated.items():
        by_example = dict(zip(order, texts, strict=True))
        words = ([corpus.vocabulary[word] for word in by_example[one]] for one in sorted(order))
        scalars, _ = scores(corpus, list(map(plain, words)), references, written)
        found[name] = float(scalars["sacrebleu"]["value"])
    return found


def _model(run: Path) -> Mapping[str, Any]:
    node: Mapping[str, Any] = json.loads((run / "spec.json").read_text())["model"]
    return node
