"""How what a scale runs departs from the paper's setting, which is that of scale `paper`."""

from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from workflow.planning.experiments import Experiment, load_experiments, recipe

Departure = Literal["none", "shorter", "other data", "absent"]
DEPARTURES: tuple[Departure, ...] = ("none", "shorter", "other data", "absent")
"""From the least to the most."""
AtHand = Literal["whole", "part", "absent"]
LENGTHS = ("updates", "epochs")


class Departures:
    """What the variants of all papers depart in at one scale."""

    def __init__(self, papers: Path, scale: str) -> None:
        """Read the experiments of every paper in a folder; raises as `load_experiments` does."""
        self.experiments, self.scale = _experiments(papers), scale

    def of(self, experiment: str, variants: Iterable[str]) -> Departure:
        """Return the largest departure of some variants of an experiment.

        It is `absent` where the scale leaves out what scale `paper` has: there is no such data.
        """
        found = [self._of(self.experiments[experiment], variant) for variant in variants]
        return max(found, key=DEPARTURES.index)

    def _of(self, experiment: Experiment, variant: str) -> Departure:
        if variant not in experiment.variants("paper"):
            return "other data"
        if variant not in experiment.variants(self.scale):
            return "absent"
        ours, theirs = (experiment.resolve(variant, scale) for scale in (self.scale, "paper"))
        if ours["data"] != theirs["data"]:
            return "other data"
        shorter = any(_less(ours["training"], theirs["training"], name) for name in LENGTHS)
        return "shorter" if shorter else "none"

    def at_hand(
        self, experiment: str, variant: str, described: Iterable[Mapping[str, Any]] = ()
    ) -> AtHand:
        """Return how much there is at this scale of the data that scale `paper` has of a variant.

        A part is other data of the same dataset, or of one that is named after it (`iwslt14_30`
        after `iwslt14`). Beside the data of the scale's own runs there are those of the recipes
        `described`.
        """
        whole = _data(self.experiments[experiment], variant, "paper")
        known = [*described, *self._recipes]
        if whole in known:
            return "whole"
        own = str(whole["dataset"])
        names = {str(one["dataset"]) for one in known}
        part = any(name == own or name.startswith(f"{own}_") for name in names)
        return "part" if part else "absent"

    @cached_property
    def _recipes(self) -> list[dict[str, Any]]:
        """The recipes of everything that is run at this scale."""
        every = self.experiments.values()
        scale = self.scale
        return [_data(one, variant, scale) for one in every for variant in one.variants(scale)]


@cache
def _experiments(papers: Path) -> dict[str, Experiment]:
    return load_experiments(papers)


def _data(experiment: Experiment, variant: str, scale: str) -> dict[str, Any]:
    return recipe(experiment.resolve(variant, scale)["data"], experiment.name)


def _less(ours: Mapping[str, Any], theirs: Mapping[str, Any], length: str) -> bool:
    """Return whether both state a length of training, and ours is shorter."""
    return length in ours and length in theirs and bool(ours[length] < theirs[length])
