"""The lexical proxy of translation: a bag of words to a bag of words (snell2021 section 2.3)."""

from __future__ import annotations

from model.architectures.lexical_proxy import LexicalProxy
from model.architectures.translation.recurrent import enclosed
from model.batches.pairs import PairBatch, PairSampler, pairs_in_order
from model.objectives.loss import Loss


class TranslationProxy:
    """Cross-entropy of the words of the target, without their order (snell2021 eq. 11).

    The source is read as `RecurrentTranslator` does, with <bos> and <eos>; <eos> of the target is
    one of its words.

    Attributes:
        sampler: how the training loop is to draw batches of pairs.
        in_order: how it is to go through a split.
    """

    sampler = PairSampler
    in_order = staticmethod(pairs_in_order)

    def loss(self, model: LexicalProxy, batch: PairBatch, epoch: float) -> Loss:
        """Loss of a batch of pairs per target token.

        Metrics: `loss` (nats).
        """
        words, inside = enclosed(batch.source, batch.source_layout)
        # The same prediction stands at every position.
        expected = model(words, inside.real).log_softmax(dim=-1).gather(1, batch.tokens[:, 1:])
        loss = -batch.layout.pack(expected).mean()
        units = len(batch.layout.places)
        return Loss(loss, units, {"loss": loss.detach() * units})
