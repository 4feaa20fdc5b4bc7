"""The plan: the configuration, checked, and every run that it asks for."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from model.build import Node
from workflow.datasets.kinds.recipe import Recipe
from workflow.definitions.configuration import Configuration
from workflow.definitions.experiments import Overlay
from workflow.definitions.names import require_known
from workflow.definitions.values import Yaml
from workflow.planning.code import Project
from workflow.planning.experiments import SCALES, Experiment, load_experiments, numbered
from workflow.planning.folders import check_mirror, results_folder
from workflow.planning.identity import (
    Draft,
    data_folder,
    digest,
    measuring_roots,
    run_roots,
    without_paths,
)
from workflow.planning.limited import LIMIT, ScaleParts, limited
from workflow.planning.mechanisms import mechanisms, with_variants
from workflow.planning.nodes import Parts
from workflow.planning.own_experiments import OwnTables, own_experiment, own_tables
from workflow.planning.settings import Settings
from workflow.runtime.errors import InputError
from workflow.validation import check


@dataclass(frozen=True)
class Run:
    """One training job: the settings of a variant at a scale, with a seed."""

    experiment: Experiment
    variant: str
    seed: int
    scale: str
    settings: Settings = field(hash=False, compare=False)

    @property
    def key(self) -> str:
        """The part of every result's path that names the run; `named` reads it."""
        return f"{self.experiment.name}/{self.variant}/seed-{self.seed}"

    @property
    def recipe(self) -> Recipe:
        """The data recipe, every option written out."""
        return self.settings.recipe

    @property
    def data(self) -> str:
        """The folder of the run's data below `<results>/data`."""
        return f"{self.recipe['dataset']}/{self.settings.recipe_hash}"


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

    def __init__(self, config: Mapping[str, Yaml], root: Path) -> None:
        self.root = root
        self._project = Project(root)
        self.parts = Parts(root)
        self.config = check(dict(config), Configuration, "config")
        self.papers = root / "workflow" / "papers"
        self.results = results_folder(self.config["results"], root)
        self.mechanisms = mechanisms(self.config, self.parts)
        stated = {
            name: with_variants(experiment, self.mechanisms, self.parts)
            for name, experiment in load_experiments(self.papers).items()
        }
        overlay = self.config.get("overlay") or {"name": "", "experiments": {}}
        require_known("overlay: experiments", "experiment", overlay["experiments"], stated)
        changes = {
            name: check(change, Overlay, f"overlay: experiments.{name}")
            for name, change in overlay["experiments"].items()
        }
        self.limit = self.config.get("limit")
        self.scale = self.config["scale"] + (f"+{overlay['name']}" if overlay["name"] else "")
        self.scale += f"+{LIMIT}{self.limit}" if self.limit else ""
        self.experiments = {}
        self._own = self.config.get("own_experiments", {})
        own = {
            name: own_experiment(name, own, stated, self._own) for name, own in self._own.items()
        }
        for name, experiment in (stated | own).items():
            scales = [self.config["scale"]] if name in own else SCALES
            experiment.check(stated | own, self.parts, scales)
            if name in changes:
                experiment = replace(experiment, overlay=changes[name])
                experiment.check(stated, self.parts, [self.config["scale"]])
            self.experiments[name] = experiment
        self._runs: dict[tuple[str, str, int], Run] = {}
        self._kind_of: dict[tuple[str, str], str] = {}
        self._equal = self._kinds()
        self.mirror = check_mirror(self.config.get("mirror"))
        self.selected = self._selected()

    @cached_property
    def own_tables(self) -> dict[str, OwnTables]:
        """The tables of the user's own experiments, by the folder of the paper they are like."""
        return own_tables(self._own, self.experiments, self.papers, self.config["scale"])

    @property
    def folder(self) -> str:
        """The folder of the scale's results."""
        return f"{self.results}/{self.scale}"

    def encoded(self, data: str, results: Path | None = None) -> str:
        """Return the folder that runs read of data `<dataset>/<recipe>`: all, or some examples.

        `results` is a folder in the place of the plan's.
        """
        stage = f"limit-{self.limit}" if self.limit else "encoded"
        return f"{results or self.results}/data/{data}/{stage}"

    def check_scale(self, files: Iterable[str]) -> None:
        """Raise InputError for the first file that another scale has in this folder of results."""
        for file in (file for file in files if file.startswith(f"{self.results}/")):
            folder, _, rest = file.removeprefix(f"{self.results}/").partition("/")
            scale, overlay, limit = ScaleParts.of(folder)
            if folder == self.scale or scale not in SCALES:
                continue
            own = ScaleParts.of(self.scale)
            say = [f"SCALE={scale}"] if scale != own.base else []
            say += [f"OVERLAY=<the file of {overlay}>"] if overlay else []
            say += [f"LIMIT={limit}"] if limit else []
            ways = [f"say {' '.join(say)}"] if say else []
            ways += ["leave out OVERLAY="] if own.overlay and not overlay else []
            ways += ["leave out LIMIT="] if own.limit and not limit else []
            way = " and ".join(ways)
            if scale == self.config["scale"] and not overlay:
                way += f", or ask for {self.folder}/{rest}"
            raise InputError(f"{file}: this file is of scale {folder}, not {self.scale}; {way}")

    def code(self, *roots: str) -> str:
        """Return the hash of the code that `module:Name` roots reach."""
        return self._project.hash(roots)

    def run(self, experiment: str, variant: str, seed: int) -> Run:
        """Return a run, whether it is selected or not (a parent, or a file asked for by path)."""
        key = (experiment, variant, seed)
        if key not in self._runs:
            require_known("run", "experiment", [experiment], self.experiments)
            source = self.experiments[experiment]
            settings = source.resolve(variant, self.config["scale"])
            settings = limited(settings, self.limit) if self.limit else settings
            self._runs[key] = Run(source, variant, seed, self.scale, settings)
        return self._runs[key]

    def parents(self, run: Run) -> dict[str, Run]:
        """Return the parents of a run by name; they share its scale, overlay and seed.

        Raises InputError where the run starts from the weights of a parent with another model.
        """
        parents = sorted(run.settings.parents.items())
        runs = {name: self.run(*parent, run.seed) for name, parent in parents}
        start = run.settings.training.get("start_from")
        if start is not None:
            origin = runs[start]
            run.settings.check_start(run.key, origin.key, origin.settings.model)
        return runs

    def draft(self, run: Run) -> Draft:
        """Return the spec but for what only the finished inputs tell: data digest, parents."""
        settings = run.settings
        roots = run_roots({"model": settings.model, "objective": settings.objective})
        return {
            "schema": 1,
            "run": {
                "paper": run.experiment.paper,
                "experiment": run.experiment.name,
                "variant": run.variant,
                "label": settings.label,
                "seed": run.seed,
                "scale": run.scale,
                "data": run.recipe,
            },
            "seed": run.seed,
            "data": {"dataset": str(run.recipe["dataset"]), "recipe": settings.recipe_hash},
            "parents": {},
            "model": settings.model,
            "objective": settings.objective,
            "training": settings.training,
            "checkpoints": settings.checkpoints,
            "code": self._project.code(roots),
        }

    def recorder(self, run: Run) -> Node:
        """Return the node that makes a run's record, with the hash of its code.

        Raises InputError when the variant has none.
        """
        node = run.settings.record
        if node is None:
            raise InputError(f"{run.key}: this variant has no record; give it one")
        return self._coded(node)

    def evaluators(self, run: Run) -> dict[str, Node]:
        """Return a run's evaluators with their code, and what the records that they read are of."""
        nodes = {name: self._coded(node) for name, node in run.settings.evaluators.items()}
        for name, other, _ in self._reading(run):
            evaluator = name.partition(".")[0]
            node = nodes[evaluator]
            draft = {n: v for n, v in self.draft(other).items() if n not in ("run", "seed")}
            made_by = without_paths([node.get("recorded", ""), draft, self.recorder(other)])
            nodes[evaluator] = {**node, "recorded": digest(made_by)[:16]}
        return nodes

    def _coded(self, node: Node) -> Node:
        """Return a node that measures, with the hash of its code."""
        return {**node, "code": self._project.code(measuring_roots(node))}

    def records(self, run: Run) -> dict[str, list[Run]]:
        """Return the runs whose records a run's evaluators read, by `<evaluator>.<argument>`."""
        read = {}
        for name, other, others in self._reading(run):
            alike = self.runs(other.experiment.name, [other.variant])
            read[name] = [it for it in alike if (it.seed != other.seed) == others]
        return read

    def _reading(self, run: Run) -> Iterator[tuple[str, Run, bool]]:
        """Yield name, run and whether those of other seeds are read instead, of each record."""
        for name, (of, offset, others) in run.settings.readings.items():
            yield name, self.run(*of, run.seed + offset), others

    def duplicate_of(self, run: Run) -> Run | None:
        """Return the equal run that is trained in place of this one, None where this one is.

        Of equal runs the first is trained, in the order of the experiments and among those that
        scale and seeds ask for; the others wait for it, find it in the store and copy it.
        """
        equal = self._equal[self._kind(run)]
        if len(equal) == 1:
            return None
        runs = [self.run(name, variant, run.seed) for name, variant in equal]
        asked = [it for it in runs if it in self.runs(it.experiment.name, [it.variant])]
        first = (asked or runs)[0]
        return None if first == run else first

    def runs(self, experiment: str, variants: Iterable[str] | None = None) -> list[Run]:
        """Return the runs of an experiment at the chosen scale, of some variants or of all."""
        source = self.experiments[experiment]
        wanted = source.variants(self.config["scale"])
        chosen = [v for v in wanted if variants is None or v in set(variants)]
        return [self.run(experiment, v, seed) for v in chosen for seed in self.seeds(source, v)]

    def seeds(self, experiment: Experiment, variant: str) -> list[int]:
        """Return the configured seeds, else those of the variant at the scale; of a limit, one.

        The configured ones are counted from the first that the experiment gives the variant: where
        that is 100, others read its run of seed 100 + s for their own of seed s.
        """
        seeds, scale = self.config.get("seeds"), self.config["scale"]
        if seeds is None and self.limit:
            seeds = 1
        if seeds is None:
            return experiment.seeds(variant, scale)
        first = replace(experiment, overlay={}).seeds(variant, scale)[0]
        return [first + seed for seed in numbered(seeds)]

    def recipe(self, folder: str) -> Recipe:
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
    def _recipes(self) -> dict[str, Recipe]:
        recipes = {}
        for name, experiment in self.experiments.items():
            for variant in experiment.definition["variants"]:
                run = self.run(name, variant, 0)
                for recipe in (run.recipe, *run.settings.further_data.values()):
                    recipes[data_folder(recipe)] = recipe
        return recipes

    @cached_property
    def own_files(self) -> dict[str, list[str]]:
        """The paths of the user's own files that data are made of, by the folder of the data."""
        files: dict[str, list[str]] = {}
        for name, experiment in self.experiments.items():
            for variant in experiment.definition["variants"]:
                files |= self.run(name, variant, 0).settings.own_files
        return files

    def _kinds(self) -> dict[str, list[tuple[str, str]]]:
        """Return all variants as (experiment, variant) by kind, those run at the scale first."""
        scale, every = self.config["scale"], self.experiments.items()
        pairs = [(name, variant) for name, of in every for variant in of.variants(scale)]
        pairs += [(name, variant) for name, of in every for variant in of.definition["variants"]]
        by_kind: dict[str, list[tuple[str, str]]] = {}
        for pair in dict.fromkeys(pairs):
            by_kind.setdefault(self._kind(self.run(*pair, 0)), []).append(pair)
        return by_kind

    def _kind(self, run: Run, descendants: tuple[Run, ...] = ()) -> str:
        """Return the digest of what decides the weights of a run, but for its seed.

        Of a parent its kind counts, not its name.
        """
        if run in descendants:
            circle = descendants[descendants.index(run) :]
            changed = next(it for it in circle if it.experiment.overlay)
            key = next(key for key, parent in self.parents(changed).items() if parent in circle)
            raise InputError(
                f"{changed.settings.where}: parents.{key}: {run.experiment.name}/{run.variant} is "
                f"its own ancestor; name another variant, or take the parent away"
            )
        name = (run.experiment.name, run.variant)
        if name not in self._kind_of:
            parents = self.parents(run).items()
            kinds = {n: self._kind(parent, (*descendants, run)) for n, parent in parents}
            self._kind_of[name] = digest(run.settings.trained(kinds))
        return self._kind_of[name]

    def _selected(self) -> list[str]:
        wanted = self.config["experiments"]
        if wanted == "all":
            return list(self.experiments)
        names = [wanted] if isinstance(wanted, str) else wanted
        papers = {experiment.paper for experiment in self.experiments.values()}
        require_known("config: experiments", "name", names, {*self.experiments, *papers})
        return [n for n, e in self.experiments.items() if {n, e.paper} & {*names}]
