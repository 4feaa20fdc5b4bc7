"""The lexical proxy of copying: which symbols a sequence holds."""

from __future__ import annotations

from model.architectures.lexical_proxy import LexicalProxy
from model.batches.batching import Batch
from model.objectives.loss import Loss


class CopyingProxy:
    """Cross-entropy of the words of a copy, without their order (snell2021 eq. 11)."""

    def loss(self, model: LexicalProxy, batch: Batch, epoch: float) -> Loss:
        """Loss of a batch of sequences, each closed by the end symbol, which is left out.

        Metrics: `loss` (nats per word).

        Raises:
            ValueError: the sequences have different lengths.
        """
        if batch.padding:
            raise ValueError("copying takes sequences of one length; give the corpus a length.")
        words, real = batch.tokens[:, 1:-1], batch.real[:, 1:-1]
        logits = model(words, real)
        # The same prediction stands at every position.
        expected = logits.log_softmax(dim=-1).gather(1, words).mean(dim=1)
        loss = -expected.mean()
        units = len(words)
        return Loss(loss, units, {"loss": loss.detach() * units})
