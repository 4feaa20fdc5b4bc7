"""Write or make a corpus in the encoded form, keep a run's state in memory, train briefly."""

import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model.batches.corpus import Corpus
from model.build import build
from model.probes.measure import Measured, Subject
from model.training.checkpointer import Checkpointer, Weights
from model.training.loop import Interrupted, Trained, build_model, load_weights, train
from tests.model.specs import Node, part
from workflow.datasets.kinds.recipe import load

CPU = torch.device("cpu")


def write_corpus(
    folder: Path,
    splits: Mapping[str, Sequence[Sequence[int]]],
    vocabulary: int | Sequence[str],
    statistics: Mapping[str, Any],
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    **manifest: Any,
) -> Corpus:
    """Write splits of token ids, and columns of each split, as `encode` would."""
    folder.mkdir(parents=True)
    for split, examples in splits.items():
        offsets = np.cumsum([0, *map(len, examples)]).astype(np.int64)
        flat = np.array([token for example in examples for token in example], np.int32)
        np.save(folder / f"{split}.tokens.npy", flat)
        np.save(folder / f"{split}.offsets.npy", offsets)
        for name, values in (columns or {}).get(split, {}).items():
            np.save(folder / f"{split}.{name}.npy", np.array(values))
    symbols = vocabulary
    if isinstance(symbols, int):
        symbols = ["<pad>", "<bos>", "<unk>", *(f"s{i}" for i in range(3, symbols))]
    (folder / "vocabulary.txt").write_text("\n".join(symbols) + "\n")
    files = {path.name: {"bytes": path.stat().st_size} for path in folder.iterdir()}
    manifest |= {"schema": 1, "digest": "d", "files": files, "statistics": dict(statistics)}
    manifest |= {"splits": {split: {} for split in splits}, "vocabulary_size": len(symbols)}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return Corpus(folder)


def keyword_texts(
    folder: Path, sizes: Mapping[str, int], vocabulary: int, shortest: int, longest: int
) -> Corpus:
    """Texts of words from 5 on, one of them replaced by a salient one: 3 for label 0, 4 for 1."""
    random = np.random.default_rng(1)
    texts: dict[str, Any] = {}
    columns: dict[str, Any] = {}
    for split, size in sizes.items():
        labels, salient, texts[split] = random.integers(0, 2, size).tolist(), [], []
        for label in labels:
            text = random.integers(5, vocabulary, random.integers(shortest, longest + 1))
            at = random.integers(len(text))
            text[at] = 3 + label
            texts[split].append(text.tolist())
            salient += [int(place == at) for place in range(len(text))]
        columns[split] = {"label": labels, "salient": salient}
    return write_corpus(folder, texts, vocabulary, {}, columns)


MARKS = ("<pad>", "<bos>", "<unk>", "<end>")


def permutations(
    folder: Path, sizes: Mapping[str, int], symbols: int, length: int, marks: Sequence[str] = MARKS
) -> Corpus:
    """Sequences to copy: some of the symbols behind the marks, none twice, and the end mark."""
    first, end = len(marks), marks.index("<end>")
    random, every = np.random.default_rng(0), np.arange(first, first + symbols)
    splits = {
        split: [[*random.permutation(every)[:length].tolist(), end] for _ in range(size)]
        for split, size in sizes.items()
    }
    return write_corpus(folder, splits, [*marks, *map(str, range(1, symbols + 1))], {})


class MemoryKeeper:
    """Keeps states in memory; saves after, and stops after, the updates it is told to."""

    def __init__(self, save_at: int | None = None, state: dict[str, Any] | None = None) -> None:
        self.save_at, self.state = save_at, state
        self.kept: dict[int, Any] = {}
        self.seen = 0

    def load(self) -> dict[str, Any] | None:
        return self.state

    def save(self, state: dict[str, Any]) -> None:
        self.state = copy.deepcopy(state)

    def due(self) -> bool:
        return False

    def stopping(self) -> bool:
        self.seen += 1
        return self.save_at is not None and self.seen >= self.save_at

    def keep(self, update: int, weights: Any) -> None:
        self.kept[update] = weights

    def weights_of(self, update: int) -> Any:
        return self.kept[update]

    def drop(self, update: int) -> None:
        self.kept.pop(update, None)

    def record(self, rows: list[dict[str, Any]]) -> None:
        pass


def run(
    spec: Mapping[str, Any],
    corpus: Corpus,
    keeper: Checkpointer | None = None,
    parents: Mapping[str, Weights] | None = None,
) -> Trained:
    """Train a spec's run, with its state in memory where no keeper is given."""
    keeper = MemoryKeeper() if keeper is None else keeper
    return train(spec, corpus, keeper, CPU, parents or {}, lambda line: None)


def learned(spec: Mapping[str, Any], corpus: Corpus) -> tuple[Subject, list[dict[str, Any]]]:
    """Train a spec's run; returns its model to be measured, and the rows of its history."""
    trained = run(spec, corpus)
    model = build_model(spec, corpus)
    load_weights(model, trained.weights, "the run")
    return Subject(model.eval(), corpus, CPU, spec["seed"]), trained.progress.rows


def values(measured: Measured) -> dict[str, Any]:
    """The scalars of a measurement by name."""
    return {name: scalar["value"] for name, scalar in measured.scalars.items()}


def resumed_alike(spec: Mapping[str, Any], corpus: Corpus, *stops: int) -> Trained:
    """Train a run whole, then stopped after so many updates and resumed: bit for bit the same."""
    whole = run(spec, corpus)
    for stop in stops:
        keeper = MemoryKeeper(save_at=stop)
        with pytest.raises(Interrupted):
            run(spec, corpus, keeper)
        torch.manual_seed(999)
        keeper.save_at = None
        again = run(spec, corpus, keeper)
        assert again.weights.keys() == whole.weights.keys()
        for name, weight in again.weights.items():
            assert torch.equal(whole.weights[name], weight), name
        losses = [[row["loss"] for row in one.progress.rows] for one in (whole, again)]
        assert losses[0] == losses[1]
    return whole


def encoded(folder: Path, recipe: Mapping[str, Any]) -> Path:
    """Synthesise, prepare and encode a dataset, as the demo does; returns the encoded folder."""
    dataset = load(dict(recipe))
    dataset.synthesise(folder / "raw")
    dataset.prepare(sorted((folder / "raw").iterdir()), folder / "prepared")
    dataset.encode(folder / "prepared", folder / "encoded")
    return folder / "encoded"


def uneven(spec: Node, corpus: Corpus, normalizer: Node, encoder: str) -> Subject:
    """An untrained classifier whose attention is far from even, in double precision.

    Args:
        spec: of a run; its encoder is changed.
        corpus: its data.
        normalizer: node of its attention.
        encoder: such as `transformer:Transformer`.
    """
    spec["model"]["encoder"] |= part(f"architectures.{encoder}", normalizer=normalizer)
    return sharpened(spec, corpus)


def sharpened(spec: Node, corpus: Corpus) -> Subject:
    """The untrained model of a spec with four times the queries, in double precision."""
    torch.manual_seed(0)
    model = build(spec["model"], vocabulary_size=9).double().eval()
    for name, parameter in model.named_parameters():
        if "query.weight" in name:
            parameter.data *= 4
    return Subject(model, corpus, CPU, 0)
