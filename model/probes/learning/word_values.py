"""What a translator says of every output word: attention, the lexical probe and importance.

A row is an output word, <eos> among them, of a reference that is read from the left; a column is a
position of its input, <bos> and <eos> among them (snell2021 section 2.2, 2.3, 5.1).

Dimensions: B pairs, S positions of the input, T of the output, N output words, H hidden, V words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.architectures.translation.beam_search import Beam
from model.architectures.translation.recurrent import enclosed
from model.batches.batching import plan_batches
from model.batches.corpus import Split
from model.batches.pairs import EOS, PairBatch, bucketed, collate_pairs, pair_lengths
from model.probes.learning.learning_record import CheckpointValues
from model.probes.measure import Subject
from model.probes.words.subwords import plain

CHUNK = 512
"""States whose logits are in memory at once."""


def word_values(
    subject: Subject,
    split: Split,
    examples: np.ndarray,
    search: Beam | None = None,
    tokens: int = 1024,
) -> CheckpointValues:
    """Attention, the lexical probe and the performance of a checkpoint.

    beta_tl = N([h_l, s_t])_{y_t} (snell2021 eq. 3), as log-odds.

    Args:
        subject: its model is a `RecurrentTranslator`.
        split: a parallel one.
        examples: numbers of its pairs.
        search: how to translate for `bleu`; without one there is no such performance.
        tokens: most tokens in a batch, on the longer side.

    Returns:
        With the performances `accuracy`, of the tokens, and `bleu`, of sub-words put together.
    """
    model: Any = subject.model
    rows = _Rows(split, examples)
    alpha, beta = rows.empty(), rows.empty()
    right = 0
    hypotheses: dict[int, list[int]] = {}
    for batch, at in rows.batches(subject, tokens):
        with torch.no_grad():
            encoding = model.encode(batch.source, batch.source_layout)
            s = model.decode(batch.tokens[:, :-1], encoding)
            context, weights = model.attend(s, encoding)
            words, targets = batch.layout.pack(s), batch.layout.pack(batch.tokens[:, 1:])
            states = model.output_projection(words, batch.layout.pack(context))
            right += int((model.logits(states).argmax(dim=-1) == targets).sum())
            log_beta = lexical_log_odds(model, batch, encoding.memories[0][1], words)
            rows.put(alpha, at, batch.layout.pack(weights[:, 0]))
            rows.put(beta, at, log_beta)
            if search is not None:
                best = search.search(model, batch.source, batch.source_layout).best()
                hypotheses |= dict(zip(batch.examples.tolist(), best, strict=True))
    performance = {"accuracy": 100 * right / len(rows.lengths)}
    if search is not None:
        performance["bleu"] = _bleu(subject.corpus.vocabulary, split, hypotheses)
    return CheckpointValues(alpha, beta, rows.lengths, rows.examples, performance)


def lexical_log_odds(model: Any, batch: PairBatch, projected: Tensor, words: Tensor) -> Tensor:
    """log beta / (1 - beta), (N, S), 0 at padding.

    Args:
        model: a `RecurrentTranslator`.
        batch: B pairs with N output words.
        projected: P h of the encoder's states, (B, S, H).
        words: s, the decoder's states of the output words, (N, H).
    """
    row = batch.layout.places // batch.layout.real.shape[1]
    inside = enclosed(batch.source, batch.source_layout)[1].real[row]
    targets = batch.layout.pack(batch.tokens[:, 1:])
    word, position = inside.nonzero(as_tuple=True)
    log_beta = words.new_zeros(inside.shape)
    for chunk in torch.arange(len(word), device=word.device).split(CHUNK):
        w, p = word[chunk], position[chunk]
        states = model.output_projection(words[w], projected[row[w], p])
        log_beta[w, p] = log_odds(model.logits(states), targets[w])
    return log_beta


def log_odds(logits: Tensor, targets: Tensor) -> Tensor:
    """log p / (1 - p) of one word, (R,), of logits (R, V) and targets (R,)."""
    own = logits.gather(1, targets[:, None])
    others = logits.scatter(1, targets[:, None], float("-inf"))
    return own[:, 0] - others.logsumexp(dim=-1)


def word_importance(
    subject: Subject, split: Split, examples: np.ndarray, tokens: int = 1024
) -> np.ndarray:
    """Delta (N, L): the derivative by a factor on the embedding of each input word, at 1.

    Of the log-odds of y_t: their derivative is that of log p(y_t) divided by 1 - p(y_t), which is
    the same for all input words and does not vanish where p saturates. One backward pass serves a
    position of all pairs: they are independent. A word that speaks for the right output has a
    positive Delta. The model's parameters take no gradients afterwards.

    Args:
        subject: its model is a `RecurrentTranslator`.
        split: a parallel one.
        examples: numbers of its pairs; their output words are the rows, as in `word_values`.
        tokens: most tokens in a batch, on the longer side.
    """
    model: Any = subject.model.requires_grad_(False)
    rows = _Rows(split, examples)
    delta = rows.empty()
    for batch, at in rows.batches(subject, tokens):
        words, inside = enclosed(batch.source, batch.source_layout)
        factor = model.embedding.weight.new_ones(inside.real.shape).requires_grad_()
        h0 = model.embedding(words) * factor[..., None]
        # cuDNN has no derivative of a recurrence that is not in training.
        with torch.backends.cudnn.flags(enabled=False):
            encoding = model.encode(batch.source, batch.source_layout, h0)
            s = model.decode(batch.tokens[:, :-1], encoding)
        context, _ = model.attend(s, encoding)
        states = model.output_projection(batch.layout.pack(s), batch.layout.pack(context))
        targets = batch.layout.pack(batch.tokens[:, 1:])
        of_words = log_odds(model.logits(states), targets)
        of_batch = of_words.new_zeros(len(of_words), factor.shape[1])
        columns = batch.layout.columns
        row = batch.layout.places // batch.layout.real.shape[1]
        for position in range(int(columns.max()) + 1):
            here = columns == position
            (gradient,) = torch.autograd.grad(of_words[here].sum(), factor, retain_graph=True)
            of_batch[here] = gradient[row[here]]
        rows.put(delta, at, of_batch)
    return delta


def proxy_values(
    subject: Subject, split: Split, examples: np.ndarray, tokens: int = 1024
) -> CheckpointValues:
    """The lexical probe of the proxy, beta_tl = softmax(W e_{x_l})_{y_t}, as log-odds.

    Args:
        subject: its model is a `LexicalProxy`.
        split: a parallel one.
        examples: numbers of its pairs.
        tokens: most tokens in a batch, on the longer side.

    Returns:
        With alpha the same at all positions, and the performance `accuracy`, of the tokens.
    """
    model: Any = subject.model
    rows = _Rows(split, examples)
    alpha, beta = rows.empty(), rows.empty()
    right = 0
    for batch, at in rows.batches(subject, tokens):
        source, inside = enclosed(batch.source, batch.source_layout)
        row = batch.layout.places // batch.layout.real.shape[1]
        targets = batch.layout.pack(batch.tokens[:, 1:])
        with torch.no_grad():
            most = model(source, inside.real).argmax(dim=-1)
            right += int((most[row] == targets).sum())
            alone = model.output(model.embedding(source)).double().log_softmax(dim=-1)
            log_p = alone[row].gather(2, targets[:, None, None].expand(-1, source.shape[1], 1))
            log_p = log_p[..., 0]
            rows.put(alpha, at, inside.real[row].float())
            rows.put(beta, at, log_p - torch.log(-torch.expm1(log_p)))
    performance = {"accuracy": 100 * right / len(rows.lengths)}
    alpha /= rows.lengths[:, None]
    return CheckpointValues(alpha, beta, rows.lengths, rows.examples, performance)


class _Rows:
    """Where the output words of some pairs stand: pair after pair, word after word.

    Attributes:
        lengths: (N,) positions of the input of each word.
        examples: (N,) its pair.
    """

    def __init__(self, split: Split, examples: np.ndarray) -> None:
        self.split, self.pairs = split, examples
        sizes = pair_lengths(split)[examples]
        self.first = np.concatenate([[0], np.cumsum(sizes[:, 1])])
        self.lengths = np.repeat(sizes[:, 0] + 1, sizes[:, 1])
        self.examples = np.repeat(examples, sizes[:, 1])

    def empty(self) -> np.ndarray:
        """(N, L) zeros."""
        return np.zeros((len(self.lengths), int(self.lengths.max())), np.float32)

    def batches(self, subject: Subject, tokens: int) -> Iterator[tuple[PairBatch, np.ndarray]]:
        """Batches of pairs of like lengths, and the rows of their output words."""
        sizes = pair_lengths(self.split)[self.pairs]
        order = bucketed(sizes, np.arange(len(sizes)), tokens)
        for chosen in plan_batches(sizes.max(axis=1), order, {"tokens": tokens}):
            batch = collate_pairs(self.split, self.pairs[chosen])
            row, column = batch.layout.real.nonzero(as_tuple=True)
            yield batch.to(subject.device), self.first[chosen[row]] + column.numpy()

    def put(self, values: np.ndarray, at: np.ndarray, of_batch: Tensor) -> None:
        """Put what was found of the words of a batch, (n, S), into their rows."""
        values[at, : of_batch.shape[1]] = of_batch.cpu()


def _bleu(vocabulary: list[str], split: Split, hypotheses: Mapping[int, list[int]]) -> float:
    """BLEU (sacrebleu) of translations, by pair, against the split's targets."""
    from sacrebleu.metrics.bleu import BLEU

    def text(ids: list[int]) -> str:
        return plain([vocabulary[i] for i in ids]).strip()

    references = []
    for pair in hypotheses:
        start = split.offsets[pair] + split.columns["source"][pair]
        ids = split.tokens[start : split.offsets[pair + 1]].tolist()
        references.append(text(ids[: ids.index(EOS)]))
    return float(BLEU().corpus_score([*map(text, hypotheses.values())], [references]).score)
