"""The plan: the configuration, checked, and every run that it asks for."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from workflow.definitions.configuration import Configuration
from workflow.definitions.experiments import Overlay
from workflow.definitions.loader import check
from workflow.errors import InputError, unknown
from workflow.planning.code import Project
from workflow.planning.experiment_checks import check_experiment, check_start
from workflow.planning.experiments import (
    Experiment,
    further_data,
    load_experiments,
    numbered,
    recipe,
    records,
)
from workflow.planning.folders import results_folder
from workflow.planning.identity import (
    data_folder,
    digest,
    measuring_roots,
    nameless,
    recipe_hash,
    run_roots,
)
from workflow.planning.mechanisms import mechanisms, with_variants


@dataclass(frozen=True)
class Run:
    """One training job: the settings of a variant at a scale, with a seed."""

    experiment: Experiment
    variant: str
    seed: int
    scale: str
    settings: dict[str, Any] = field(hash=False, compare=False)

    @property
    def key(self) -> str:
        """The part of every result's path that names the run; `named` reads it."""
        return f"{self.experiment.name}/{self.variant}/seed-{self.seed}"

    @cached_property
    def recipe(self) -> dict[str, Any]:
        """The data recipe, every option written out."""
        return recipe(self.settings["data"], self.key)

    @cached_property
    def data(self) -> str:
        """The folder of the run's data below `<results>/data`."""
        return data_folder(self.recipe)

    @cached_property
    def further_data(self) -> dict[str, dict[str, Any]]:
        """The recipes of what evaluators read beside this, by `<evaluator>.<argument>`."""
        return further_data(self.settings["evaluators"], self.key)

    def draft(self, root: Path) -> dict[str, Any]:
        """Return the spec but for what only the finished inputs tell: data digest, parents."""
        spec = {
            "schema": 1,
            "run": {
                "paper": self.experiment.paper,
                "experiment": self.experiment.name,
                "variant": self.variant,
                "label": self.settings["label"],
                "seed": self.seed,
                "scale": self.scale,
                "data": self.recipe,
            },
            "seed": self.seed,
            "data": {"dataset": self.recipe["dataset"], "recipe": recipe_hash(self.recipe)},
            "parents": {},
        }
        spec |= {n: self.settings[n] for n in ("model", "objective", "training", "checkpoints")}
        return spec | {"code": _project(root).hash(run_roots(spec))}

    def recorder(self, root: Path) -> dict[str, Any]:
        """Return the node that makes the run's record, with the hash of its code.

        Raises InputError when the variant has none.
        """
        node = self.settings.get("record")
        if node is None:
            raise InputError(f"{self.key}: this variant has no record; give it one")
        return {**node, "code": _project(root).hash(measuring_roots(node))}

    def evaluators(self, root: Path) -> dict[str, Any]:
        """Return the evaluators' nodes, each with the hash of its own code."""
        code = _project(root)
        return {
            name: {**node, "code": code.hash(measuring_roots(node))}
            for name, node in self.settings["evaluators"].items()
        }


def named(key: str) -> tuple[str, str, int]:
    """Return experiment, variant and seed of a run's key."""
    experiment, variant, seed = key.split("/")
    return experiment, variant, int(seed.removeprefix("seed-"))


class Plan:
    """What a checked configuration asks for.

    Args:
        config: the configuration as Snakemake read it.
        root: the project's folder.

    Raises:
        InputError: a sentence about the first mistake in the configuration, an experiment or an
            overlay, whether it is selected or not.
    """

    def __init__(self, config: Mapping[str, Any], root: Path) -> None:
        _project.cache_clear()
        self.root = root
        self.config = check(dict(config), Configuration, "config")
        self.papers = root / "workflow" / "papers"
        self.results = results_folder(self.config["results"], root)
        self.mechanisms = mechanisms(self.config, root)
        self.experiments = {
            name: with_variants(experiment, self.mechanisms)
            for name, experiment in load_experiments(self.papers).items()
        }
        overlay = self.config.get("overlay") or {"name": "", "experiments": {}}
        self.overlay = self._overlay(overlay["experiments"])
        self.scale = self.config["scale"] + (f"+{overlay['name']}" if overlay["name"] else "")
        for name, experiment in self.experiments.items():
            check_experiment(experiment, self.experiments, root)
            if name in self.overlay:
                scales = (self.config["scale"],)
                check_experiment(experiment, self.experiments, root, scales, self.overlay[name])
        self._runs: dict[tuple[str, str, int], Run] = {}
        self._settings: dict[tuple[str, str], dict[str, Any]] = {}
        self._kind_of: dict[tuple[str, str], str] = {}
        self._equal = self._kinds()
        self.mirror = check_mirror(self.config.get("mirror"))
        self.selected = self._selected()

    @property
    def folder(self) -> str:
        """The folder of the scale's results."""
        return f"{self.results}/{self.scale}"

    def code(self, *roots: str) -> str:
        """Return the hash of the code that `module:Name` roots reach."""
        return _project(self.root).hash(roots)

    def run(self, experiment: str, variant: str, seed: int) -> Run:
        """Return a run, whether it is selected or not (a parent, or a file asked for by path)."""
        key = (experiment, variant, seed)
        if key not in self._runs:
            if experiment not in self.experiments:
                raise unknown("run", "experiment", experiment, self.experiments)
            source = self.experiments[experiment]
            if (experiment, variant) not in self._settings:
                changes = self.overlay.get(experiment)
                settings = source.resolve(variant, self.config["scale"], changes)
                self._settings[experiment, variant] = settings
            shared = self._settings[experiment, variant]
            self._runs[key] = Run(source, variant, seed, self.scale, shared)
        return self._runs[key]

    def parents(self, run: Run) -> dict[str, Run]:
        """Return the parents of a run by name; they share its scale, overlay and seed.

        Raises InputError where the run starts from the weights of a parent with another model.
        """
        own, found = run.experiment.name, {}
        for name, parent in sorted(run.settings["parents"].items()):
            found[name] = self.run(parent.get("experiment", own), parent["variant"], run.seed)
        start = run.settings["training"].get("start_from")
        if start is not None:
            origin = found[start]
            check_start(run.key, run.settings["model"], origin.key, origin.settings["model"])
        return found

    def evaluators(self, run: Run) -> dict[str, Any]:
        """Return a run's evaluators with their code, and what the records that they read are of."""
        nodes = run.evaluators(self.root)
        for name, other, _ in self._reading(run):
            evaluator = name.partition(".")[0]
            draft = {n: v for n, v in other.draft(self.root).items() if n not in ("run", "seed")}
            before = nodes[evaluator].get("recorded", "")
            made_by = nameless([before, draft, other.recorder(self.root)])
            nodes[evaluator]["recorded"] = digest(made_by)[:16]
        return nodes

    def records(self, run: Run) -> dict[str, list[Run]]:
        """Return the runs whose records a run's evaluators read, by `<evaluator>.<argument>`."""
        found = {}
        for name, other, others in self._reading(run):
            alike = self.runs(other.experiment.name, [other.variant])
            found[name] = [one for one in alike if (one.seed != other.seed) == others]
        return found

    def _reading(self, run: Run) -> Iterator[tuple[str, Run, bool]]:
        """Yield name, run and whether those of other seeds are read instead, of each record."""
        for name, read in records(run.settings["evaluators"]).items():
            origin = read.get("experiment", run.experiment.name)
            seed = run.seed + read.get("offset", 0)
            yield name, self.run(origin, read["variant"], seed), read.get("others", False)

    def twin(self, run: Run) -> Run | None:
        """Return the equal run that is trained in place of this one, None where this one is.

        Of equal runs the first is trained, in the order of the experiments and among those that
        scale and seeds ask for; the others wait for it, find it in the store and copy it.
        """
        equal = self._equal[self._kind(run)]
        if len(equal) == 1:
            return None
        runs = [self.run(name, variant, run.seed) for name, variant in equal]
        asked = [one for one in runs if one in self.runs(one.experiment.name, [one.variant])]
        first = (asked or runs)[0]
        return None if first == run else first

    def runs(self, experiment: str, variants: Iterable[str] | None = None) -> list[Run]:
        """Return the runs of an experiment at the chosen scale, of some variants or of all."""
        source = self.experiments[experiment]
        wanted = source.variants(self.config["scale"])
        chosen = [v for v in wanted if variants is None or v in set(variants)]
        return [self.run(experiment, v, seed) for v in chosen for seed in self.seeds(source, v)]

    def seeds(self, experiment: Experiment, variant: str) -> list[int]:
        """Return the configured seeds, else those of the variant at the scale.

        The configured ones are counted from the first that the experiment gives the variant: where
        that is 100, others read its run of seed 100 + s for their own of seed s.
        """
        seeds, scale = self.config.get("seeds"), self.config["scale"]
        if seeds is None:
            return experiment.seeds(variant, scale, self.overlay.get(experiment.name))
        first = experiment.seeds(variant, scale)[0]
        return [first + seed for seed in numbered(seeds)]

    def recipe(self, folder: str) -> dict[str, Any]:
        """Return the recipe whose data lie in `<dataset>/<hash>`.

        Raises InputError when no experiment of this configuration uses it.
        """
        if folder not in self._recipes:
            raise InputError(
                f"{self.results}/data/{folder}: no experiment uses this data with the present "
                f"settings; ask for an experiment instead"
            )
        return self._recipes[folder]

    @cached_property
    def _recipes(self) -> dict[str, dict[str, Any]]:
        found = {}
        for name, experiment in self.experiments.items():
            for variant in experiment.definition["variants"]:
                run = self.run(name, variant, 0)
                for made in (run.recipe, *run.further_data.values()):
                    found[data_folder(made)] = made
        return found

    def _kinds(self) -> dict[str, list[tuple[str, str]]]:
        """Return all variants as (experiment, variant) by kind, those run at the scale first."""
        scale, every = self.config["scale"], self.experiments.items()
        pairs = [(name, variant) for name, one in every for variant in one.variants(scale)]
        pairs += [(name, variant) for name, one in every for variant in one.definition["variants"]]
        found: dict[str, list[tuple[str, str]]] = {}
        for pair in dict.fromkeys(pairs):
            found.setdefault(self._kind(self.run(*pair, 0)), []).append(pair)
        return found

    def _kind(self, run: Run, descendants: tuple[Run, ...] = ()) -> str:
        """Return the digest of what decides the weights of a run, but for its seed.

        Of a parent its kind counts, not its name.
        """
        if run in descendants:
            raise InputError(f"overlay: {run.experiment.name}/{run.variant} is its own ancestor")
        name = (run.experiment.name, run.variant)
        if name not in self._kind_of:
            settings = {**run.settings, "parents": {}}
            parents = self.parents(run).items()
            kinds = {n: self._kind(parent, (*descendants, run)) for n, parent in parents}
            self._kind_of[name] = digest([run.experiment.trained(settings), kinds])
        return self._kind_of[name]

    def _selected(self) -> list[str]:
        """Return the names of the experiments that the configuration selects."""
        wanted = self.config["experiments"]
        if wanted == "all":
            return list(self.experiments)
        papers = {experiment.paper for experiment in self.experiments.values()}
        for name in [wanted] if isinstance(wanted, str) else wanted:
            if name not in self.experiments and name not in papers:
                raise unknown("config: experiments", "name", name, {*self.experiments, *papers})
        names = {wanted} if isinstance(wanted, str) else set(wanted)
        return [n for n, e in self.experiments.items() if n in names or e.paper in names]

    def _overlay(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        for name in changes:
            if name not in self.experiments:
                raise unknown("overlay: experiments", "experiment", name, self.experiments)
        return {
            name: check(change, Overlay, f"overlay: experiments.{name}")
            for name, change in changes.items()
        }


@cache
def _project(root: Path) -> Project:
    """Return the code of a project, read once for all runs of a plan."""
    return Project(root)


def check_mirror(mirror: str | None) -> str:
    """Return the mirror's path, empty without one.

    Raises InputError when it is not a folder with an index.
    """
    if mirror is None:
        return ""
    folder = Path(os.path.expanduser(mirror))
    if not (folder / "SOURCES.tsv").is_file():
        state = "has no index SOURCES.tsv" if folder.is_dir() else "is not a folder"
        raise InputError(
            f'config: mirror: "{mirror}" {state}; name a folder with that index, or set null to '
            f"download from the sources"
        )
    return str(folder)
