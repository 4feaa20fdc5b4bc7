"""How a scale departs from the setting of scale `paper`, and what an overlay changes of runs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from workflow.datasets.kinds.own_files import named
from workflow.datasets.kinds.recipe import Recipe
from workflow.definitions.experiments import ScaleName, Training
from workflow.planning.experiments import Experiment, load_experiments
from workflow.planning.plan import Plan, Run
from workflow.planning.settings import NAMING

Deviation = Literal["none", "shorter", "other data", "absent"]
DEPARTURES: tuple[Deviation, ...] = ("none", "shorter", "other data", "absent")
"""From the least to the most."""
AtHand = Literal["whole", "part", "absent"]
LENGTHS: tuple[Literal["updates", "epochs"], ...] = ("updates", "epochs")
TOLD = ("data", "model", "objective", "training", "evaluators")
"""Settings that decide a number."""
EXAMPLES = "examples of each split"
"""What a limit changes, as no setting says it."""
SettingChanges = Mapping[str, list[Any]]
"""Before and after by dotted key, None for what is absent."""


class Departures:
    """What the variants of all papers depart in at one scale."""

    def __init__(self, papers: Path, scale: ScaleName) -> None:
        """Read the experiments of every paper in a folder; raises as `load_experiments` does."""
        self.experiments, self.scale = _experiments(papers), scale

    def of(self, experiment: str, variants: Iterable[str]) -> Deviation:
        """Return the largest departure of some variants of an experiment.

        It is `absent` where the scale leaves out what scale `paper` has: there is no such data.
        """
        departures = [self._of(self.experiments[experiment], variant) for variant in variants]
        return max(departures, key=DEPARTURES.index)

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
        recipes = [*described, *self._recipes]
        if whole in recipes:
            return "whole"
        own = str(whole["dataset"])
        names = {str(recipe["dataset"]) for recipe in recipes}
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


def overlaid(plan: Plan, runs: Iterable[Run]) -> dict[str, SettingChanges]:
    """Return what an overlay changes of runs, by `<experiment>/<variant>`; no run that it keeps."""
    each = {f"{run.experiment.name}/{run.variant}": run for run in runs}
    changed_of = {name: changes(plan, run) for name, run in each.items()}
    return {name: changed for name, changed in changed_of.items() if changed}


def changes(plan: Plan, run: Run) -> dict[str, list[Any]]:
    """Return what an overlay changes of a run; keys of a parent begin with `parents.<name>.`."""
    changed: dict[str, list[Any]] = {}
    if plan.limit:
        changed[EXAMPLES] = ["all", plan.limit]
    if (run.experiment.overlay or plan.limit) and not run.experiment.like:
        stated = replace(run.experiment, overlay={}).resolve(run.variant, plan.config["scale"])
        for name in TOLD:
            before, after = (getattr(of, name) for of in (stated, run.settings))
            changed |= _differences(name, before, named(after) if name == "data" else after)
    for name, parent in plan.parents(run).items():
        changed |= {f"parents.{name}.{key}": pair for key, pair in changes(plan, parent).items()}
    return changed


def _differences(key: str, before: Any, after: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yield where two settings differ, key by key; another part or dataset as a whole."""
    if before == after:
        return
    both = isinstance(before, Mapping) and isinstance(after, Mapping)
    if not both or any(before.get(name) != after.get(name) for name in NAMING):
        yield key, [before, after]
        return
    for name in dict.fromkeys((*before, *after)):
        yield from _differences(f"{key}.{name}", before.get(name), after.get(name))
