"""How what a scale runs departs from the paper's setting, which is that of scale `paper`."""

from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from workflow.datasets.kinds.recipe import Recipe
from workflow.definitions.experiments import ScaleName, Training
from workflow.planning.experiments import Experiment, load_experiments

Deviation = Literal["none", "shorter", "other data", "absent"]
DEPARTURES: tuple[Deviation, ...] = ("none", "shorter", "other data", "absent")
"""From the least to the most."""
AtHand = Literal["whole", "part", "absent"]
LENGTHS: tuple[Literal["updates", "epochs"], ...] = ("updates", "epochs")


class Departures:
    """What the variants of all papers depart in at one scale."""

    def __init__(self, papers: Path, scale: ScaleName) -> None:
        """Read the experiments of every paper in a folder; raises as `load_experiments` does."""
        self.experiments, self.scale = _experiments(papers), scale

    def of(self, experiment: str, variants: Iterable[str]) -> Deviation:
        """Return the largest departure of some variants of an experiment.

        It is `absent` where the scale leaves out what scale `paper` has: there is no such data.
        """
        found = [self._of(self.experiments[experiment], variant) for variant in variants]
        return max(found, key=DEPARTURES.index)

    def _of(self, experiment: Experiment, variant: str) -> Deviation:
        if variant not in experiment.variants("paper"):
            return "other data"
        if variant not in experiment.variants(self.scale):
            return "absent"
        ours, theirs = (experiment.resolve(variant, scale) for scale in (self.scale, "paper"))
        if ours.data != theirs.data:
            return "other data"
        shorter = any(_less(ours.training, theirs.training, name) for name in LENGTHS)
        return "shorter" if shorter else "none"

    def at_hand(self, experiment: str, variant: str, described: Iterable[Recipe] = ()) -> AtHand:
        """Return how much there is at this scale of the data that scale `paper` has of a variant.

        A part is other data of the same dataset, or of one that is named after it (`iwslt14_30`
        after `iwslt14`). Beside the data of the scale's own runs there are those of the recipes
        `described`.
        """
        whole = self.experiments[experiment].resolve(variant, "paper").recipe
        known = [*described, *self._recipes]
        if whole in known:
            return "whole"
        own = str(whole["dataset"])
        names = {str(one["dataset"]) for one in known}
        part = any(name == own or name.startswith(f"{own}_") for name in names)
        return "part" if part else "absent"

    @cached_property
    def _recipes(self) -> list[Recipe]:
        """The recipes of everything that is run at this scale."""
        every, scale = self.experiments.values(), self.scale
        return [one.resolve(name, scale).recipe for one in every for name in one.variants(scale)]


@cache
def _experiments(papers: Path) -> dict[str, Experiment]:
    return load_experiments(papers)


def _less(ours: Training, theirs: Training, length: Literal["updates", "epochs"]) -> bool:
    """Return whether both state a length of training, and ours is shorter."""
    mine, paper = ours.get(length), theirs.get(length)
    return mine is not None and paper is not None and mine < paper
