"""What a person can ask for by name, and the files behind each name."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NoReturn

from workflow.datasets.kinds.recipe import Recipe
from workflow.definitions.cells import table_runs
from workflow.definitions.claims import claim_runs
from workflow.definitions.explorer import RECORDED, explorer_runs, models_at, recorded_runs
from workflow.definitions.figures import figure_runs
from workflow.definitions.names import require_known
from workflow.definitions.paper import Paper
from workflow.planning.corpora import DescribedCorpus, corpora
from workflow.planning.identity import canonical, data_folder, paths
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


class PaperTargets:
    """The tables, figures and claims of one paper, and the runs that each is made of.

    Raises InputError for the first mistake in their definitions.
    """

    def __init__(self, name: str, plan: Plan) -> None:
        self.name = name
        self.folder = plan.papers / name
        self._plan = plan
        self.own = plan.own_tables.get(name, {})
        self._paper = Paper(name, plan.papers, plan.mechanisms, self.own)
        self._paper.check()
        self.tables, self.figures = self._paper.tables, self._paper.figures
        self.claims, self.explorer = self._paper.claims, self._paper.explorer

    @property
    def title(self) -> str:
        """What heads the paper's results."""
        return self._paper.about.title

    @property
    def experiments(self) -> list[str]:
        """The names of the paper's experiments."""
        return [n for n, e in self._plan.experiments.items() if e.paper == self.name]

    @property
    def keys(self) -> dict[str, list[str]]:
        """The experiments of each paper by its key; of two that share a folder, by their source."""
        keys = [one.key for one in self._paper.about.references]
        found = {n: self._plan.experiments[n].definition["source"] for n in self.experiments}
        return {key: [n for n in found if len(keys) == 1 or key in found[n]] for key in keys}

    def items(self, kind: str) -> Iterable[str]:
        """Return the names of the paper's definitions of a kind, see `Paper.items`."""
        return self._paper.items(kind)

    def pairs(self, kind: str, name: str) -> list[tuple[str, str]]:
        """Return the (experiment, variant) pairs behind a table, a figure, a task or the claims.

        `kind` is `tables`, `figures`, `explorer` or `claims`.
        """
        if kind == "tables":
            return table_runs(self.tables["tables"][name])
        if kind == "figures":
            return figure_runs(self.figures["figures"][name])
        if kind == "explorer":
            return explorer_runs(self.explorer["tasks"][name])
        return claim_runs(self.claims)

    def runs(self, kind: str, name: str) -> list[Run]:
        """Return the runs behind a table, a figure or the claims, seed by seed.

        Variants that the scale leaves out are left out here too: their cells are "not run".
        """
        pairs = self.pairs(kind, name)
        experiments = dict.fromkeys(experiment for experiment, _ in pairs)
        return [
            run
            for experiment in experiments
            for run in self._plan.runs(experiment, [v for e, v in pairs if e == experiment])
        ]

    def variants(self, kind: str, name: str) -> frozenset[tuple[str, str]]:
        """Return those (experiment, variant) pairs behind a table, figure or claims that are run.

        Two that have the same are made of the same runs.
        """
        scale = self._plan.config["scale"]
        return frozenset(
            (experiment, variant)
            for experiment, variant in self.pairs(kind, name)
            if variant in self._plan.experiments[experiment].variants(scale)
        )

    @property
    def explored(self) -> list[Run]:
        """The runs that the explorer shows, of each variant that the scale has the first seed."""
        scale, tasks = self._plan.config["scale"], self.explorer["tasks"].values()
        return self._first((task["experiment"], models_at(task, scale)) for task in tasks)

    @property
    def recorded(self) -> list[Run]:
        """The runs whose recordings the explorer shows: the first seed of those that are made."""
        runs = self._first((experiment, [one]) for experiment, one in recorded_runs(self.explorer))
        return [run for run in runs if RECORDED in run.settings.evaluators]

    def _first(self, asked: Iterable[tuple[str, list[str]]]) -> list[Run]:
        """Return the run of the first seed of each variant of experiments."""
        runs = [run for experiment, names in asked for run in self._plan.runs(experiment, names)]
        found = {(run.experiment.name, run.variant): run for run in reversed(runs)}
        return [*found.values()][::-1]

    def definition(self, kind: str, name: str) -> str:
        """Return, as canonical JSON, what the YAML says about one table, one figure or the claims.

        It holds what all tables share too, but no other table: editing one redraws only it.
        """
        if kind == "claims":
            return canonical([self.claims, self._paper.shared("tables")])
        return canonical({**self._paper.shared(kind), name: self._paper.items(kind)[name]})

    def mechanisms(self, table: str) -> list[str]:
        """Return the names of the user's own mechanisms, if a table has rows for them."""
        followed = "mechanisms" in self.tables["tables"][table]
        return list(self._plan.mechanisms) if followed else []

    def described(self, name: str) -> dict[str, DescribedCorpus]:
        """Return the corpora of a table of `corpora.yaml` by the id of their rows."""
        where = f"{self.folder / 'corpora.yaml'}: tables.{name}"
        return corpora(self._plan, self._paper.corpora["tables"][name], where)

    def code(self, kind: str, name: str) -> list[str]:
        """Return what a table, figure or claim is made by beside the script, as `module:Name`."""
        return paths(self._paper.items("figures")[name]) if kind == "figures" else []


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
        found: dict[str, Target] = {}
        for name, target in self._named():
            if name in found:
                raise _twice(name, found[name].called, target.called)
            found[name] = target
        return found

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
        found = {}
        while waiting:
            run = waiting.pop()
            found[run.data] = run.recipe
            found |= {data_folder(made): made for made in run.settings.further_data.values()}
            waiting += self.plan.parents(run).values()
        for corpus in _corpora(self._whole):
            if corpus.recipe and not corpus.missing:
                found[corpus.folder] = corpus.recipe
        return list(found.values())

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
        found = [run for paper in self.papers.values() for run in paper.explored]
        if not found:
            raise InputError(
                f"explore: no explorer.yaml in {self.plan.papers} names a variant of scale "
                f"{self.plan.scale}; name one, or take another scale"
            )
        return found

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
        found = _corpora(self.papers.values())
        return {corpus.folder: corpus.recipe for corpus in found if corpus.recipe}

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
        found = []
        for kind in ("tables", "figures"):
            for name in paper.items(kind):
                needed = {experiment for experiment, _ in paper.pairs(kind, name)}
                if needed and needed <= experiments:
                    found += self.outputs(paper, kind, name)
        return found

    def _check_pairs(self, paper: PaperTargets) -> None:
        """Check the experiments and variants behind a paper's tables, figures, tasks and claims.

        A table may have rows for variants that are still to come: one that exists is enough.
        """
        needed = [("claims", paper.pairs("claims", ""))]
        needed += [("explorer", recorded_runs(paper.explorer))]
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


def _twice(name: str, one: str, other: str) -> InputError:
    return InputError(f'target "{name}" is the name of {one} and of {other}; rename one')
