"""Captioning: translation from the regions of an image."""

from __future__ import annotations

from model.architectures.translation.captioner import Captioner
from model.batches.captions import CaptionBatch, CaptionSampler, captions_in_order
from model.objectives.loss import Loss
from model.objectives.translation import Translation


class Captioning(Translation):
    """Label-smoothed cross-entropy of all captions of an image, teacher-forced."""

    sampler = CaptionSampler  # type: ignore[assignment]
    in_order = staticmethod(captions_in_order)  # type: ignore[assignment]

    def loss(  # type: ignore[override]
        self, model: Captioner, batch: CaptionBatch, epoch: float
    ) -> Loss:
        """Loss of a batch of images per word of their captions, EOS included.

        Metrics: `loss` (nats, smoothed), `nll` (nats) and `accuracy` (% of the words).
        """
        targets = batch.layout.pack(batch.tokens[:, 1:])
        return self.loss_of(model.captions(batch), model.output_weight, targets)
