"""Beam search, for all sentences of a batch and all their beams at once.

Each step extends every live hypothesis by every word and ranks the 2 G best extensions of a
sentence. Those among the first G that end with EOS are finished; the G best of the others live on.
A sentence is done when G hypotheses are finished, or at its longest length, where EOS is the only
word allowed. Hypotheses are compared by log p / penalty(length).

This is fairseq's search but in two respects. A translation may be empty, which the default of
fairseq-generate, `--min-len 1`, forbids. Where more than G finish at a step, the G best of all are
kept, in fairseq the first G; the best one is the same.

The keys and values of the past are never moved when hypotheses change beams: each hypothesis
remembers its ancestors, and a mask hides all others. Those of the source stand there once per
sentence, with the beams as further queries.

Dimensions: B sentences, G beams, V words, C = 2 G candidates, T steps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from model.architectures.translation.translator import Encoding, Translator
from model.batches.batching import BOS, PAD
from model.batches.pairs import EOS
from model.layers.packing import Layout


class Hypotheses(NamedTuple):
    """Translations of a batch, best first.

    Attributes:
        tokens: (B, G, T) with EOS, then PAD; BOS is left out.
        scores: (B, G) log p / penalty(length); -inf where fewer than G were finished.
    """

    tokens: Tensor
    scores: Tensor

    def best(self) -> list[list[int]]:
        """The best translation of each sentence, without EOS."""
        rows = self.tokens[:, 0].tolist()
        return [row[: row.index(EOS)] for row in rows]


class Beam:
    """How to search.

    Args:
        beam: G; 1 is greedy search.
        penalty: alpha of the length penalty; 0 for none.
        penalty_form: `fairseq` for length^alpha, `gnmt` for ((5 + length) / 6)^alpha (Wu et al.
            2016, equation 14). The length counts EOS.
        length_ratio: the longest translation has length_ratio * S + length_extra tokens, EOS
            included, for a source of S tokens.
        length_extra: see `length_ratio`.

    Raises:
        ValueError: no beam; an unknown form; a negative penalty or length.
    """

    def __init__(
        self,
        beam: int = 5,
        penalty: float = 1.0,
        penalty_form: str = "fairseq",
        length_ratio: float = 1.2,
        length_extra: int = 10,
    ) -> None:
        if beam < 1:
            raise ValueError(f"beam must be at least 1, not {beam}.")
        if penalty_form not in ("fairseq", "gnmt"):
            raise ValueError(f"penalty_form must be 'fairseq' or 'gnmt', not '{penalty_form}'.")
        if penalty < 0 or length_ratio < 0 or length_extra < 1:
            raise ValueError(
                f"penalty and length_ratio must not be negative and length_extra be at least 1: "
                f"{penalty}, {length_ratio}, {length_extra}."
            )
        self.beam, self.alpha, self.form = beam, penalty, penalty_form
        self.length_ratio, self.length_extra = length_ratio, length_extra

    def divisor(self, length: int) -> float:
        """The penalty of a length, which log p is divided by."""
        base = length if self.form == "fairseq" else (5 + length) / 6
        return float(base**self.alpha)

    @torch.no_grad()
    def search(self, model: Translator, source: Tensor, layout: Layout) -> Hypotheses:
        """Translate.

        Args:
            model: in evaluation mode.
            source: (B, S), each with EOS.
            layout: of the sources' real tokens.
        """
        lengths = layout.real.sum(1)
        longest = (self.length_ratio * lengths.double()).long() + self.length_extra
        longest = longest.clamp(max=model.max_length)
        return _Search(self, model, model.encode(source, layout), longest).run()


class _Search:
    """A search under way.

    Attributes of the sentences that are not done: `rows` (B,) their numbers; `live` (B, G) log p of
    the live hypotheses; `ancestors` and `words` (B, G, T), the beam of each of their steps and what
    they wrote there; `done` (B,), `finished` (B,) how many hypotheses are; `scores` (B, G) and
    `texts` (B, G, T), the best of these.
    """

    def __init__(
        self, settings: Beam, model: Translator, encoding: Encoding, longest: Tensor
    ) -> None:
        self.settings, self.model, self.encoding, self.longest = settings, model, encoding, longest
        self.beams, self.steps = settings.beam, int(longest.max())
        self.device = longest.device
        sentences, beams, steps = len(longest), self.beams, self.steps
        self.rows = torch.arange(sentences, device=self.device)
        dtype = torch.promote_types(model.output_weight.dtype, torch.float32)
        self.live = self.rows.new_full((sentences, beams), -math.inf, dtype=dtype)
        self.live[:, 0] = 0
        self.ancestors = self.rows.new_zeros(sentences, beams, steps)
        self.words = self.rows.new_full((sentences, beams, steps), PAD)
        self.done = self.rows.new_zeros(sentences, dtype=torch.bool)
        self.finished = self.rows.new_zeros(sentences)
        self.scores = torch.full_like(self.live, -math.inf)
        self.texts = self.words.clone()
        self.newest = self.rows.new_full((sentences, beams), BOS)
        self.caches = model.caches(steps * beams)
        # Multiplied with at every step; laid out for it the product is faster.
        words = model.output_weight
        self.vocabulary = len(words)
        self.output = nn.functional.pad(words.t(), (0, -len(words) % ALIGNED)).contiguous()
        self.layout = self._layout()
        self.result = Hypotheses(self.texts.clone(), self.scores.clone())

    def run(self) -> Hypotheses:
        for step in range(self.steps):
            self._step(step)
            # Asking waits for a GPU, so there it is done now and then.
            if self.longest.is_cpu or step % 8 == 7:
                going = int((~self.done).sum())
                if going == 0:
                    break
                if going <= KEEP * len(self.done):
                    self._drop_done()
        self._record()
        return self.result

    def _step(self, step: int) -> None:
        sentences, beams = len(self.rows), self.beams
        self.ancestors[:, :, step] = torch.arange(beams, device=self.device)
        mask = self._ancestor_mask(step)
        states = self.model.step(self.newest, step, self.layout, self.encoding, self.caches, mask)
        log_p, words = candidates(states @ self.output, 2 * beams, self.vocabulary)
        width = log_p.shape[1]
        totals = self.live[:, :, None] + log_p.view(sentences, beams, width)
        words = words.view(sentences, beams, width)
        # At the longest length EOS, which stands in the last column, is the only word.
        last = (self.longest <= step + 1)[:, None]
        totals[:, :, :-1].masked_fill_(last[:, :, None], -math.inf)
        totals[:, :, -1].masked_fill_(~last, -math.inf)
        totals, order = totals.flatten(1).topk(min(2 * beams, beams * width))
        words, parents = words.flatten(1).gather(1, order), order // width
        ends = (words == EOS) & (totals > -math.inf)
        self._finish(step, ends[:, :beams], totals[:, :beams], parents[:, :beams])
        self.live, chosen = totals.masked_fill(ends, -math.inf).topk(beams)
        self.newest, parents = words.gather(1, chosen), parents.gather(1, chosen)
        path = parents[:, :, None].expand(-1, -1, self.steps)
        self.ancestors, self.words = self.ancestors.gather(1, path), self.words.gather(1, path)
        self.words[:, :, step] = self.newest

    def _finish(self, step: int, ends: Tensor, totals: Tensor, parents: Tensor) -> None:
        """Put hypotheses that end (B, G) among the finished, of which the G best are kept."""
        ends = ends & ~self.done[:, None]
        scores = (totals / self.settings.divisor(step + 1)).masked_fill(~ends, -math.inf)
        path = parents[:, :, None].expand(-1, -1, self.steps)
        texts = self.words.gather(1, path)
        texts[:, :, step] = EOS
        self.scores, best = torch.cat([self.scores, scores], 1).topk(self.beams)
        path = best[:, :, None].expand(-1, -1, self.steps)
        self.texts = torch.cat([self.texts, texts], 1).gather(1, path)
        self.finished = self.finished + ends.sum(1)
        self.done = self.done | (self.finished >= self.beams) | (self.longest <= step + 1)

    def _ancestor_mask(self, step: int) -> Tensor:
        """(B, 1, G, (step + 1) G): 0 at the slots of each hypothesis's own past, else -inf."""
        past = self.ancestors[:, :, : step + 1]
        mask = torch.full((*past.shape, self.beams), -math.inf, device=self.device)
        return mask.scatter_(3, past[..., None], 0.0).flatten(2)[:, None]

    def _drop_done(self) -> None:
        """Go on with the sentences that are not done."""
        self._record()
        going = (~self.done).nonzero().squeeze(1)
        self.encoding = self.encoding.select(going)
        for cache in (cache for stream in self.caches for cache in stream):
            cache.select(going)
        for name in (
            "rows", "live", "ancestors", "words", "done", "finished", "scores", "texts", "newest",
            "longest",
        ):  # fmt: skip
            setattr(self, name, getattr(self, name)[going])
        self.layout = self._layout()

    def _record(self) -> None:
        self.result.tokens[self.rows] = self.texts
        self.result.scores[self.rows] = self.scores

    def _layout(self) -> Layout:
        shape = (len(self.rows), self.beams)
        return Layout(torch.ones(shape, dtype=torch.bool, device=self.device))


KEEP = 0.75
"""The done sentences are dropped when so few are left: dropping copies the cache."""


ALIGNED = 16
"""Rows of logits have a multiple of so many columns, 64 bytes: products are a third faster."""


def candidates(logits: Tensor, count: int, vocabulary: int) -> tuple[Tensor, Tensor]:
    """The most probable words of each row, and in a further last column EOS.

    PAD and BOS are never written; they keep their share of the probability.

    Args:
        logits: (R, V), and columns that are no words; these, PAD and BOS are set to -inf.
        count: how many; fewer where the vocabulary is smaller.
        vocabulary: V.

    Returns:
        log p and words, both (R, count + 1).
    """
    # The softmax is the fastest way to the sum of exponentials: lse = s_j - log p_j for any word j.
    logits[:, vocabulary:] = -math.inf
    p, logits = logits.softmax(-1), logits[:, :vocabulary]
    end = logits[:, EOS, None].clone()
    logits[:, PAD] = logits[:, BOS] = -math.inf
    values, words = largest_of(logits, min(count, vocabulary))
    best = p.gather(1, words[:, :1]).clamp_min(torch.finfo(p.dtype).tiny)
    normalizer = values[:, :1] - best.log()
    words = torch.cat([words, torch.full_like(words[:, :1], EOS)], 1)
    return torch.cat([values, end], 1) - normalizer, words


def largest_of(x: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """`torch.topk` of rows (R, V), faster where they are long: the blocks of 64 are ranked first.

    Every one of the `count` largest is in one of the `count` blocks with the largest maxima.
    """
    rows, width = x.shape
    blocks = width // BLOCK
    if x.is_cuda or blocks < 4 * count:
        return x.topk(count)
    body = blocks * BLOCK
    maxima = x[:, :body].unflatten(1, (blocks, BLOCK)).amax(-1)
    first = maxima.topk(count).indices * BLOCK
    inside = torch.arange(BLOCK, device=x.device)
    columns = (first[:, :, None] + inside).flatten(1)
    rest = torch.arange(body, width, device=x.device).expand(rows, -1)
    columns = torch.cat([columns, rest], 1)
    values, best = x.gather(1, columns).topk(count)
    return values, columns.gather(1, best)


BLOCK = 64
