"""A plan on so many examples of each split, `LIMIT=200`: its settings, and the name of its scale.

Like an overlay it has a scale, so a folder, of its own: `lite+limit=200`. No overlay can have that
name.
"""

from dataclasses import replace
from typing import NamedTuple

from workflow.definitions.experiments import Training
from workflow.planning.settings import Settings

LIMIT = "limit="
EXAMPLES_AN_UPDATE = 10
"""Training ends after an update for each so many examples of the limit."""


class ScaleParts(NamedTuple):
    """What the name of a scale says: `lite+mine+limit=200`; empty what it does not."""

    base: str
    overlay: str
    limit: str

    @classmethod
    def of(cls, scale: str) -> "ScaleParts":
        """Read the name of a scale."""
        rest, _, limit = scale.partition(f"+{LIMIT}")
        base, _, overlay = rest.partition("+")
        return cls(base, overlay, limit)

    def variables(self) -> list[str]:
        """Return the variables of `make` that ask for the scale; an overlay's file is one's own."""
        overlay = [f"OVERLAY={self.overlay}.yaml"] if self.overlay else []
        return [f"SCALE={self.base}", *overlay, *([f"LIMIT={self.limit}"] if self.limit else [])]


def limited(settings: Settings, examples: int) -> Settings:
    """Return settings whose training ends after a tenth as many updates as a split has examples.

    Checkpoints keep their places in the training. Weights are not averaged.
    """
    updates = max(1, examples // EXAMPLES_AN_UPDATE)
    updates = min(updates, settings.training.get("updates") or updates)
    last = max(settings.checkpoints, default=1)
    checkpoints = sorted({max(1, step * updates // last) for step in settings.checkpoints})
    training: Training = {**settings.training, "updates": updates}
    training.pop("epochs", None)
    training.pop("average", None)
    return replace(settings, training=training, checkpoints=checkpoints)
