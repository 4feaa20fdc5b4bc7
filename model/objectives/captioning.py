"""Captioning: translation from the regions of an image."""

from __future__ import annotations

from model.architectures.translation.captioner import Captioner
from model.batches.captions import CaptionBatch, CaptionSampler, captions_in_order
from model.kernels.smoothed_loss import smoothed_loss
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
        states = model.captions(batch)
        found = smoothed_loss(states, model.output_weight, targets, self.smoothing)
        sums = {"loss": found.loss.detach(), "nll": found.nll, "accuracy": 100.0 * found.right}
        return Loss(found.loss / len(targets), len(targets), sums)
