"""Syntactic chunks from the frozen encoder of a translation model (kinley2020 table 6.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from model.batches.batching import PAD, plan_batches
from model.batches.corpus import Corpus, Split
from model.batches.pairs import EOS
from model.layers.packing import Layout
from model.probes.measure import Measured, Scalar, Subject, scalar
from model.probes.words.conlleval import ChunkScores, conlleval
from model.probes.words.states import encoder_states
from model.probes.words.subwords import SubWords, column_names, english_side

STEPS = 100
"""Most steps of L-BFGS; the scalar `loss` shows how far they lead."""


class Sentences(NamedTuple):
    """Tagged sentences as sub-words.

    Attributes:
        pieces: of each sentence, with EOS.
        first: of each sentence the place of every word's first sub-word.
        words: (N + 1,) numbers of words before each sentence, and of all.
    """

    pieces: list[np.ndarray]
    first: list[np.ndarray]
    words: np.ndarray


def chunking(subject: Subject, tagged: Corpus, tokens: int = 4096) -> Measured:
    """Chunk tags from the encoder's last states by one linear layer, trained on the train split.

    A word's state is that of its first sub-word. The layer is a multinomial regression without a
    penalty, on states that are scaled to mean 0 and variance 1, from weights 0: nothing is random.
    The baseline is the tag that is most frequent with the word's part of speech in the train split.

    Args:
        subject: a trained `Translator` whose sources are English, and its data.
        tagged: English text with columns `pos` and `chunk`.
        tokens: most sub-words in a batch.

    Returns:
        Scalars (%) `<stream>_accuracy`, `_precision`, `_recall` and `_f1` on the test split, also
        with `baseline` for the stream, and `<stream>_loss`, of the train split in nats per word.

    Raises:
        ValueError: the run's sources are not English, or `tagged` is no tagged corpus.
    """
    if english_side(subject.corpus) != "source":
        raise ValueError(
            f"{subject.corpus.folder}: the chunks are those of English, and the sources of this "
            "run are not; take the evaluator away or train the other direction."
        )
    names, parts = column_names(tagged, "chunk"), column_names(tagged, "pos")
    subwords = SubWords(subject.corpus, "source")
    splits = {name: tagged.split(name) for name in ("train", "test")}
    labels = {name: np.asarray(split.columns["chunk"]) for name, split in splits.items()}
    states = {
        name: word_states(subject, sentences(split, tagged.vocabulary, subwords), tokens)
        for name, split in splits.items()
    }
    guess = baseline(splits["train"], splits["test"], len(parts), len(names))
    scalars = _scalars("baseline", _score(splits["test"], names, guess))
    for stream in list(states["train"]):
        train, test = (states[name].pop(stream) for name in ("train", "test"))
        _standardise(train, test)
        target = torch.from_numpy(labels["train"].astype(np.int64)).to(train.device)
        weight, bias, loss = fit_linear(train, target, len(names))
        guess = (test @ weight.t() + bias).argmax(dim=-1).cpu().numpy()
        scalars |= _scalars(stream, _score(splits["test"], names, guess))
        scalars[f"{stream}_loss"] = scalar(loss, "nats/word", n=len(target))
    return Measured(scalars, {})


def sentences(split: Split, words: Sequence[str], subwords: SubWords) -> Sentences:
    """Write the sentences of a tagged corpus, whose vocabulary is `words`, as sub-words."""
    pieces, first = [], []
    for start, end in zip(split.offsets[:-1], split.offsets[1:], strict=True):
        parts = [subwords.ids(words[token]) for token in split.tokens[start:end]]
        pieces.append(np.array([*(piece for part in parts for piece in part), EOS]))
        first.append(np.cumsum([0, *map(len, parts[:-1])]))
    return Sentences(pieces, first, np.asarray(split.offsets))


def word_states(subject: Subject, texts: Sentences, tokens: int) -> dict[str, Tensor]:
    """The encoder's last states (M, D) of every word's first sub-word, in every stream."""
    states: dict[str, Tensor] = {}
    for examples, source in _batches(texts, tokens):
        layout = Layout(source != PAD).to(subject.device)
        of_batch = encoder_states(subject.model, source.to(subject.device), layout)
        lengths = [len(texts.pieces[example]) for example in examples]
        starts = np.cumsum([0, *lengths[:-1]])
        packed = [start + texts.first[n] for n, start in zip(examples, starts, strict=True)]
        words = [np.arange(texts.words[n], texts.words[n + 1]) for n in examples]
        for stream, packed_states in of_batch.items():
            if stream not in states:
                shape = (int(texts.words[-1]), packed_states.shape[1])
                states[stream] = packed_states.new_empty(shape)
            chosen = torch.from_numpy(np.concatenate(packed)).to(subject.device)
            states[stream][np.concatenate(words)] = packed_states[chosen]
    return states


def _batches(texts: Sentences, tokens: int) -> Iterator[tuple[np.ndarray, Tensor]]:
    """Numbers of sentences and their sub-words (B, S), padded, shortest first."""
    lengths = np.array([len(pieces) for pieces in texts.pieces])
    order = np.argsort(lengths, kind="stable")
    for examples in plan_batches(lengths, order, {"tokens": tokens}):
        rows = np.full((len(examples), lengths[examples].max()), PAD, np.int64)
        for row, example in zip(rows, examples, strict=True):
            row[: lengths[example]] = texts.pieces[example]
        yield examples, torch.from_numpy(rows)


def _standardise(train: Tensor, test: Tensor) -> None:
    """Scale states in place to mean 0 and variance 1 of the train split, feature by feature."""
    mean, spread = train.mean(dim=0), train.std(dim=0).clamp_(min=1e-6)
    for states in (train, test):
        states.sub_(mean).div_(spread)


def fit_linear(x: Tensor, labels: Tensor, classes: int) -> tuple[Tensor, Tensor, float]:
    """Fit a linear layer by cross-entropy, from 0 by L-BFGS.

    Args:
        x: (M, D).
        labels: (M,).
        classes: C.

    Returns:
        Weights (C, D), bias (C,) and the mean cross-entropy that is reached, in nats.
    """
    weight = x.new_zeros(classes, x.shape[1], requires_grad=True)
    bias = x.new_zeros(classes, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [weight, bias], max_iter=STEPS, tolerance_change=1e-7, line_search_fn="strong_wolfe"
    )

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = F.cross_entropy(x @ weight.t() + bias, labels)
        value.backward()
        return value

    with torch.enable_grad():
        optimizer.step(loss)
    with torch.no_grad():
        reached = float(F.cross_entropy(x @ weight.t() + bias, labels))
    return weight.detach(), bias.detach(), reached


def baseline(train: Split, test: Split, parts: int, names: int) -> np.ndarray:
    """For every word of the test split the chunk tag most frequent with its part of speech.

    Of equally frequent tags the first is taken; a part of speech that is not in the train split
    gets the tag that is most frequent there.

    Args:
        train: has columns `pos` and `chunk`.
        test: has the column `pos`.
        parts: how many parts of speech there are.
        names: how many tags.
    """
    counts = np.zeros((parts, names), np.int64)
    np.add.at(counts, (train.columns["pos"], train.columns["chunk"]), 1)
    best = np.where(counts.any(axis=1), counts.argmax(axis=1), counts.sum(axis=0).argmax())
    return np.asarray(best[test.columns["pos"]])


def _score(test: Split, names: list[str], guess: np.ndarray) -> ChunkScores:
    """Score the guessed numbers of tags of all words of the test split."""

    def tags(numbers: np.ndarray) -> list[list[str]]:
        cuts = np.split(numbers, test.offsets[1:-1])
        return [[names[number] for number in sentence] for sentence in cuts]

    return conlleval(tags(np.asarray(test.columns["chunk"])), tags(guess))


def _scalars(of: str, scores: ChunkScores) -> dict[str, Scalar]:
    return {f"{of}_{name}": scalar(value, "%") for name, value in scores._asdict().items()}
