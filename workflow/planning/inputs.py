"""What a rule asks of the plan: what a job reads, is told and asks for, by its wildcards."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypedDict, cast

from workflow.datasets.fetched import sources
from workflow.datasets.fetched.fetching import put_by_hand
from workflow.datasets.kinds import recipe as recipes
from workflow.datasets.kinds.feature_files import state
from workflow.datasets.kinds.recipe import Recipe
from workflow.planning.identity import Contents, asked, canonical, complete, data_folder
from workflow.planning.plan import Run
from workflow.planning.resources import Resources
from workflow.planning.targets import Targets

Wildcards = Any
"""Those of a job as Snakemake has them: attributes that are texts, and `get`."""
InputFunction = Callable[[Wildcards], Any]
JobFiles = dict[str, str | list[str]]
"""What a job reads, by what it is."""


class WrittenSpec(TypedDict, total=False):
    """What a job wrote of what it was asked for; nothing where it is damaged."""

    data: Contents
    parents: dict[str, str]
    asked: str


class Inputs:
    """The inputs, parameters and resources of the jobs of a plan, but for those of results.

    Its methods raise InputError for a path of which the plan knows nothing. Those that are told a
    script, a kind or a target return a function of the wildcards.
    """

    def __init__(self, targets: Targets) -> None:
        self.targets, self.plan = targets, targets.plan
        self.data = f"{self.plan.results}/data"
        self._sources = cache(sources.load)

    @property
    def local(self) -> str:
        """An expression for `<experiment>/<variant>/` of jobs that run where Snakemake does."""
        return _any(
            f"{name}/{variant}/"
            for name, experiment in self.plan.experiments.items()
            for variant in experiment.definition["variants"]
            if self.plan.run(name, variant, 0).settings.resources.where == "local"
        )

    def code(self, script: str, *parts: str) -> str:
        """Return the hash of the code of a script and of parts that it finds by their names."""
        return self.plan.code(f"workflow.scripts.{script}:main", *parts)

    def run(self, wildcards: Wildcards) -> Run:
        """Return the run that a path belongs to."""
        return self.plan.run(wildcards.experiment, wildcards.variant, int(wildcards.seed))

    def threads(self, wildcards: Wildcards) -> int:
        """Return the threads that a process of a run is defined to be computed with."""
        return self.run(wildcards).settings.training["threads"]

    def resources(self, wildcards: Wildcards) -> Resources:
        """Return what a training asks for, the same at each attempt; a CPU needs no GPU."""
        stated = self.run(wildcards).settings.resources
        return replace(stated, gpu=0) if self.plan.config["device"] == "cpu" else stated

    def processes(self, wildcards: Wildcards) -> int:
        """Return the processes of a training: one a GPU, whichever way the site asks for these."""
        return max(1, self.resources(wildcards).gpu)

    def of_train(self, wildcards: Wildcards) -> JobFiles:
        """Return a run's data, its parents, and an equal run to wait for: one of two is trained."""
        run = self.run(wildcards)
        twin = self.plan.duplicate_of(run)
        return {
            "data": self.plan.encoded(run.data),
            "parents": [
                f"{self._folder(parent)}/{name}"
                for parent in self.plan.parents(run).values()
                for name in ("spec.json", "weights.safetensors")
            ],
            "twin": self.targets.run_files([twin] if twin else []),
        }

    def spec(self, wildcards: Wildcards) -> str:
        """Return the file of a run's spec."""
        return f"{self._folder(self.run(wildcards))}/spec.json"

    def other_draft(self, wildcards: Wildcards) -> bool:
        """Return whether a run was made of another draft than the plan's."""
        spec = _read(self.spec(wildcards))
        contents, parents = spec.get("data", {}).get("digest", ""), spec.get("parents", {})
        planned = complete(self.plan.draft(self.run(wildcards)), contents, parents)
        written = {name: spec.get(name) for name in planned}
        return bool(spec) and canonical(written) != canonical(planned)

    def measures(self, wildcards: Wildcards) -> str:
        """Return the file of a run's measures."""
        return f"{self.plan.folder}/measures/{self.run(wildcards).key}.json"

    def other_evaluators(self, wildcards: Wildcards) -> bool:
        """Return whether other evaluators than the plan's measured a run."""
        nodes = self.plan.evaluators(self.run(wildcards))
        return _asked_else(self.measures(wildcards), nodes)

    def record(self, wildcards: Wildcards) -> str:
        """Return the file that tells of a run's record."""
        return f"{self.plan.folder}/records/{self.run(wildcards).key}.json"

    def other_recorder(self, wildcards: Wildcards) -> bool:
        """Return whether another recorder than the plan's recorded a run."""
        return _asked_else(self.record(wildcards), self.plan.recorder(self.run(wildcards)))

    def encoded(self, wildcards: Wildcards) -> str:
        """Return the folder of a run's data."""
        return self.plan.encoded(self.run(wildcards).data)

    def of_measure(self, wildcards: Wildcards) -> JobFiles:
        """Return the data of a run, and what its evaluators read beside it."""
        run = self.run(wildcards)
        records = {file for _, file in self._records(run)}
        return {
            "data": self.plan.encoded(run.data),
            "further": sorted({folder for _, folder in self._further(run)}),
            "records": sorted(records),
            "checksums": sorted(file.replace(".npz", ".json") for file in records),
        }

    def further(self, wildcards: Wildcards) -> list[str]:
        """Return what a run's evaluators read beside its data, as arguments of `measure`."""
        run = self.run(wildcards)
        arguments = [("--further", *pair) for pair in self._further(run)]
        arguments += [("--record", *pair) for pair in self._records(run)]
        return [text for option, name, path in arguments for text in (option, f"{name}={path}")]

    def parents(self, wildcards: Wildcards) -> list[str]:
        """Return a run's parents as arguments of `train`, each with its folder."""
        return [
            text
            for name, parent in self.plan.parents(self.run(wildcards)).items()
            for text in ("--parent", f"{name}={self._folder(parent)}")
        ]

    def draft(self, wildcards: Wildcards) -> str:
        """Return what is known of a run's spec before its inputs are made, as canonical JSON."""
        return canonical(self.plan.draft(self.run(wildcards)))

    def recorder(self, wildcards: Wildcards) -> str:
        """Return the node that makes a run's record, as canonical JSON."""
        return canonical(self.plan.recorder(self.run(wildcards)))

    def evaluators(self, wildcards: Wildcards) -> str:
        """Return a run's evaluators by name, as canonical JSON."""
        return canonical(self.plan.evaluators(self.run(wildcards)))

    def recipe(self, wildcards: Wildcards) -> Recipe:
        """Return the data recipe that a path belongs to."""
        return self.targets.recipe(f"{wildcards.dataset}/{wildcards.recipe}")

    def recipe_json(self, wildcards: Wildcards) -> str:
        """Return that recipe as canonical JSON."""
        return canonical(self.recipe(wildcards))

    def data_threads(self, wildcards: Wildcards) -> int:
        """Return the cores that preparing and encoding the data can make use of."""
        return recipes.threads(self.recipe(wildcards))

    def dataset_code(self, script: str) -> InputFunction:
        """Return the code of a script with the dataset that it imports on demand."""
        return lambda wildcards: self.code(script, recipes.root(wildcards.dataset))

    def by_hand(self, wildcards: Wildcards) -> object:
        """Return what tells a file got by hand from another one put in its place.

        Of a file that is downloaded it is an object of which Snakemake keeps no record.
        """
        source = self._sources().get((wildcards.dataset, wildcards.file))
        if source is None or not source.by_hand:
            return object()
        fetched = Path(self.data, "sources", source.name)
        return put_by_hand(Path(self.data, "manual", source.name), fetched)

    def features(self, index: str) -> InputFunction:
        """Return what tells features got by hand, of that index, from others put in their place."""
        manual, own = Path(self.data, "manual"), Path(self.data, "features")
        return lambda wildcards: state(manual, wildcards.dataset, own / wildcards.dataset / index)

    def of_prepare(self, wildcards: Wildcards) -> list[str]:
        """Return downloaded files and features, or the folder of generated files.

        Own files are none: the recipe has their contents.
        """
        if self._own(wildcards):
            return []
        files = recipes.files(self.recipe(wildcards))
        if not files["sources"]:
            return [f"{self.data}/{wildcards.dataset}/{wildcards.recipe}/raw"]
        return [
            f"{self.data}/{kind}/{wildcards.dataset}/{name}"
            for kind in ("sources", "features")
            for name in files[kind]
        ]

    def raw_files(self, wildcards: Wildcards, input: Iterable[str]) -> list[str]:
        """Return the files that `prepare` reads, one by one."""
        if own := self._own(wildcards):
            return own
        files, inputs = recipes.files(self.recipe(wildcards)), list(input)
        return inputs if files["sources"] else [f"{inputs[0]}/{name}" for name in files["raw"]]

    def _own(self, wildcards: Wildcards) -> list[str]:
        return self.plan.own_files.get(f"{wildcards.dataset}/{wildcards.recipe}", [])

    def of_explore(self, wildcards: Wildcards) -> JobFiles:
        """Return the files of the runs that the explorer shows, their data, and recordings."""
        runs = self.targets.explored
        recorded = [run for paper in self.targets.papers.values() for run in paper.recorded]
        return {
            "files": self.targets.outputs_of(runs),
            "data": list(dict.fromkeys(self.plan.encoded(run.data) for run in runs)),
            "measures": self.targets.measures(recorded),
        }

    def explorer(self, wildcards: Wildcards) -> list[str]:
        """Return the explorer's page where all that it shows is selected, else nothing."""
        papers = self.targets.papers.values()
        runs = [run for paper in papers for run in (*paper.explored, *paper.recorded)]
        shown = {run.experiment.name for run in runs}
        page = [f"{self.plan.folder}/explorer.html"]
        return page if shown and shown <= set(self.plan.selected) else []

    def explored(self, wildcards: Wildcards) -> str:
        """Return what the YAML says about the explorer, as canonical JSON."""
        papers = self.targets.papers.items()
        return canonical({name: paper.explorer for name, paper in papers})

    def results(self, kind: str, suffix: str) -> Callable[[Wildcards, Iterable[str]], list[str]]:
        """Return those of a job's input files that are results of a kind."""
        folder = f"{self.plan.folder}/{kind}/"
        return lambda wildcards, input: [
            file for file in input if file.startswith(folder) and file.endswith(suffix)
        ]

    def target(self, name: str) -> InputFunction:
        """Return the files behind a target; none is named for a target not asked for."""
        return lambda wildcards: self.targets.files(name)

    def _folder(self, run: Run) -> str:
        return f"{self.plan.folder}/runs/{run.key}"

    def _further(self, run: Run) -> list[tuple[str, str]]:
        """Return `<evaluator>.<argument>` and folder of each further corpus."""
        further = run.settings.further_data.items()
        return [(name, self.plan.encoded(data_folder(recipe))) for name, recipe in further]

    def _records(self, run: Run) -> list[tuple[str, str]]:
        """Return `<evaluator>.<argument>` and file of each record."""
        return [
            (name, f"{self.plan.folder}/records/{recorded.key}.npz")
            for name, runs in self.plan.records(run).items()
            for recorded in runs
        ]


def _read(file: str) -> WrittenSpec:
    """Return what a job wrote, nothing where there is no such file or it is damaged."""
    try:
        return cast(WrittenSpec, dict(json.loads(Path(file).read_bytes())))
    except (OSError, ValueError):
        return {}


def _asked_else(file: str, nodes: object) -> bool:
    """Return whether what a file says was asked for by other nodes."""
    planned = asked(nodes)
    return _read(file).get("asked", planned) != planned


def _any(expressions: Iterable[str]) -> str:
    """Return an expression for any of some; for nothing where there are none."""
    return f"(?:{'|'.join(expressions) or '(?!)'})"
