"""What a person can ask for by name, and the files behind each name."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NoReturn

from workflow.datasets.kinds.recipe import Recipe
from workflow.definitions.explorer import recorded_runs, runs_of_weights
from workflow.definitions.names import require_known
from workflow.planning.corpora import DescribedCorpus
from workflow.planning.identity import data_folder
from workflow.planning.paper_targets import PaperTargets
from workflow.planning.plan import Plan, Run
from workflow.runtime.errors import InputError, unknown

TABLE_FORMATS = ("csv", "md", "tex", "json")
FIGURE_FORMATS = ("pdf", "png", "svg", "json")
RUN_FILES = ("weights.safetensors", "history.jsonl", "run.json")
FOLDERS = {"tables": "tables", "figures": "figures", "corpora": "tables"}
"""By the kind of a paper's definitions, the folder of what is made of them."""


@dataclass(frozen=True)
class Target:
    """What stands behind a name."""

    called: str
    """What it is, for people: `table losses of paper`."""
    files: Callable[[], list[str]]
    """Returns its files; most are never asked for, and cost nothing."""


class Targets:
    """Every name that `snakemake NAME` understands, with its files.

    Raises InputError when a table, figure or claim names an experiment or variant that is not
    there.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        names = sorted({experiment.paper for experiment in plan.experiments.values()})
        self.papers = {name: PaperTargets(name, plan) for name in names}
        for paper in self.papers.values():
            self._check_pairs(paper)
            for name in paper.items("corpora"):
                paper.described(name)

    @cached_property
    def names(self) -> dict[str, Target]:
        """The targets by their names; InputError where two of them have one."""
        targets: dict[str, Target] = {}
        for name, target in self._named():
            if name in targets:
                raise _twice(name, targets[name].called, target.called)
            targets[name] = target
        return targets

    def _named(self) -> Iterator[tuple[str, Target]]:
        for name in self.plan.experiments:
            yield name, Target(f"experiment {name}", partial(self._of_experiment, name))
        for paper in self.papers.values():
            files = partial(self._of_paper, paper, paper.experiments)
            yield paper.name, Target(f"paper {paper.name}", files)
            for kind, folder in FOLDERS.items():
                for item in paper.items(kind):
                    called = f"{folder.removesuffix('s')} {item} of {paper.name}"
                    files = partial(self.outputs, paper, folder, item)
                    yield f"{paper.name}_{item}", Target(called, files)
        for key in dict.fromkeys(key for paper in self.papers.values() for key in paper.keys):
            if key not in self.papers:
                yield key, Target(f"paper {key}", partial(self._of_key, key))

    def files(self, name: str) -> list[str]:
        """Return the files behind a target."""
        return self.names[name].files()

    @property
    def selected(self) -> list[str]:
        """The files behind everything that the configuration selects, the report left out.

        Claims and tables of corpora are among them where a paper is selected, not only experiments
        of it: they need runs and data of others. So does a figure of several papers' experiments.
        """
        files = [file for name in self.plan.selected for file in self.files(name)]
        for paper in self.papers.values():
            files += self._drawn_from(paper, set(self.plan.selected))
        files += [f for p in self._whole for f in (*self.claims(p), *self._corpora(p))]
        return list(dict.fromkeys(files))

    @property
    def recipes(self) -> list[Recipe]:
        """The data behind everything that the configuration selects, each recipe once.

        Corpora that can't be described for want of a file to get by hand are left out.
        """
        waiting = [run for name in self.plan.selected for run in self.plan.runs(name)]
        recipes = {}
        while waiting:
            run = waiting.pop()
            recipes[run.data] = run.recipe
            recipes |= {
                data_folder(recipe): recipe for recipe in run.settings.further_data.values()
            }
            waiting += self.plan.parents(run).values()
        for corpus in _corpora(self._whole):
            if corpus.recipe and not corpus.missing:
                recipes[corpus.folder] = corpus.recipe
        return list(recipes.values())

    @property
    def _whole(self) -> list[PaperTargets]:
        """The papers that are selected as a whole, not only by some of their experiments."""
        wanted = self.plan.config["experiments"]
        chosen = {self.plan.experiments[name].paper for name in self.plan.selected}
        names = [wanted] if isinstance(wanted, str) else wanted
        return [self.papers[name] for name in sorted(chosen) if {"all", name} & set(names)]

    def measures(self, runs: Iterable[Run]) -> list[str]:
        """Return the file of measures of each run."""
        return [f"{self.plan.folder}/measures/{run.key}.json" for run in runs]

    def outputs_of(self, runs: Iterable[Run]) -> list[str]:
        """Return the files of each run."""
        return [f"{self.plan.folder}/runs/{run.key}/{name}" for run in runs for name in RUN_FILES]

    @property
    def explored(self) -> list[Run]:
        """The runs that the explorer shows; InputError where there are none."""
        runs = [run for paper in self.papers.values() for run in paper.explored]
        if not runs:
            raise InputError(
                f"explore: no explorer.yaml in {self.plan.papers} names a variant of scale "
                f"{self.plan.scale}; name one, or take another scale"
            )
        return runs

    def run_files(self, runs: Iterable[Run]) -> list[str]:
        """Return the `run.json` of each run."""
        return [f"{self.plan.folder}/runs/{run.key}/run.json" for run in runs]

    def outputs(self, paper: PaperTargets, kind: str, name: str) -> list[str]:
        """Return the files of a table or a figure."""
        formats = TABLE_FORMATS if kind == "tables" else FIGURE_FORMATS
        return [f"{self.plan.folder}/{kind}/{paper.name}/{name}.{suffix}" for suffix in formats]

    def claims(self, paper: PaperTargets) -> list[str]:
        """Return the file of a paper's claims, if it makes any."""
        return [f"{self.plan.folder}/claims/{paper.name}.json"] if paper.claims["claims"] else []

    def recipe(self, folder: str) -> Recipe:
        """Return the recipe whose data lie in `<dataset>/<hash>`, of an experiment or a corpus.

        Raises InputError when nothing of this configuration uses it.
        """
        return self._described.get(folder) or self.plan.recipe(folder)

    @cached_property
    def _described(self) -> dict[str, Recipe]:
        """The recipes of all corpora by their folder."""
        corpora = _corpora(self.papers.values())
        return {corpus.folder: corpus.recipe for corpus in corpora if corpus.recipe}

    def _of_experiment(self, name: str) -> list[str]:
        """Return the files of an experiment's runs, and what is drawn from them alone."""
        runs = self.plan.runs(name)
        drawn = self._drawn_from(self.papers[self.plan.experiments[name].paper], {name})
        return [*self.outputs_of(runs), *self.measures(runs), *drawn]

    def _of_paper(self, paper: PaperTargets, experiments: list[str]) -> list[str]:
        """Return the files of experiments of a paper, and what is made of them; of all, claims."""
        files = [file for name in experiments for file in self.files(name)]
        files += self._drawn_from(paper, set(experiments))
        if experiments == paper.experiments:
            files += [*self.claims(paper), *self._corpora(paper)]
        return list(dict.fromkeys(files))

    def _of_key(self, key: str) -> list[str]:
        """Return the files of a paper by its key, in whichever folders it is."""
        papers = self.papers.values()
        return [file for one in papers for file in self._of_paper(one, one.keys.get(key, []))]

    def _corpora(self, paper: PaperTargets) -> list[str]:
        """Return the files of a paper's tables of corpora."""
        return [f for name in paper.items("corpora") for f in self.outputs(paper, "tables", name)]

    def _drawn_from(self, paper: PaperTargets, experiments: set[str]) -> list[str]:
        """Return the tables and figures of a paper that need some of these experiments alone."""
        files = []
        for kind in ("tables", "figures"):
            for name in paper.items(kind):
                needed = {experiment for experiment, _ in paper.pairs(kind, name)}
                if needed and needed <= experiments:
                    files += self.outputs(paper, kind, name)
        return files

    def _check_pairs(self, paper: PaperTargets) -> None:
        """Check the experiments and variants behind a paper's tables, figures, tasks and claims.

        A table may have rows for variants that are still to come: one that exists is enough.
        """
        needed = [("claims", paper.pairs("claims", ""))]
        needed += [("explorer", recorded_runs(paper.explorer))]
        needed += [("explorer", runs_of_weights(paper.explorer))]
        kinds = ("figures", "tables", "explorer")
        needed += [(kind, paper.pairs(kind, name)) for kind in kinds for name in paper.items(kind)]
        for kind, pairs in needed:
            where, present = str(paper.folder / f"{kind}.yaml"), 0
            for experiment, variant in pairs:
                require_known(where, "experiment", [experiment], self.plan.experiments)
                variants = self.plan.experiments[experiment].definition["variants"]
                present += variant in variants
                if kind != "tables":
                    require_known(where, f"variant of {experiment}", [variant], variants)
            if pairs and not present:
                require_known(where, f"variant of {experiment}", [variant], variants)

    def check_names(self, rules: Iterable[str]) -> None:
        """Check that no target has the name of a rule, of a file of the project, or of another.

        Raises InputError naming both.
        """
        owners = dict.fromkeys(rules, "a rule")
        owners |= {path.name: "a file" for path in self.plan.root.iterdir()}
        for name, target in self.names.items():
            if name in owners:
                raise _twice(name, owners[name], target.called)

    def refuse(self, name: str) -> NoReturn:
        """Raise InputError for a name that was asked for and is no target."""
        names = {"all", "explore", "report", *self.names}
        raise unknown("command line", "target", name, names, "docs/scales.md")


def _corpora(papers: Iterable[PaperTargets]) -> Iterator[DescribedCorpus]:
    """Yield every corpus that papers describe."""
    for paper in papers:
        for name in paper.items("corpora"):
            yield from paper.described(name).values()


def _twice(name: str, first: str, second: str) -> InputError:
    return InputError(f'target "{name}" is the name of {first} and of {second}; rename one')
