"""Which hypothesis a beam goes on from, for models whose state has to move along."""

from __future__ import annotations

from torch import Tensor


def parents(mask: Tensor, beams: int) -> Tensor:
    """The beam (B, G) of the last step that each beam continues, after the first step.

    Args:
        mask: (B, 1, G, t G) of `Translator.step`; of the step before, the one slot that a beam
            sees is its parent's.
        beams: G.
    """
    return mask[:, 0, :, -2 * beams : -beams].argmax(dim=-1)
