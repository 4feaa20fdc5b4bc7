"""What a person can ask for by name, and the files behind each name."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import Any

from workflow.planning.corpora import Corpus, corpora
from workflow.planning.errors import InputError, unknown
from workflow.planning.identity import canonical, data_folder, parts
from workflow.planning.plan import Plan, Run
from workflow.reporting.needs import claim_runs, figure_runs, table_runs
from workflow.reporting.paper import Paper

TABLE_FORMATS = ("csv", "md", "tex", "json")
FIGURE_FORMATS = ("pdf", "png", "json")
RUN_FILES = ("weights.safetensors", "history.jsonl", "run.json")


class PaperTargets:
    """The tables, figures and claims of one paper, and the runs that each is made of.

    Raises InputError for the first mistake in their definitions.
    """

    def __init__(self, name: str, plan: Plan) -> None:
        self.name = name
        self.folder = plan.papers / name
        self._plan = plan
        definitions = Paper(name, plan.papers, plan.mechanisms)
        definitions.check()
        self.tables, self.figures = definitions.tables, definitions.figures
        self.claims, self.corpora = definitions.claims, definitions.corpora

    @property
    def experiments(self) -> list[str]:
        """The names of the paper's experiments."""
        return [n for n, e in self._plan.experiments.items() if e.paper == self.name]

    def runs(self, kind: str, name: str) -> list[Run]:
        """Return the runs behind a table, a figure or the claims, seed by seed.

        `kind` is `tables`, `figures` or `claims`. Variants that the scale leaves out are left
        out here too: their cells are "not run".
        """
        needed: Mapping[str, Callable[[], list[tuple[str, str]]]] = {
            "tables": lambda: table_runs(self.tables, name),
            "figures": lambda: figure_runs(self.figures, name),
            "claims": lambda: claim_runs(self.claims),
        }
        pairs = needed[kind]()
        experiments = dict.fromkeys(experiment for experiment, _ in pairs)
        return [
            run
            for experiment in experiments
            for run in self._plan.runs(experiment, [v for e, v in pairs if e == experiment])
        ]

    def definition(self, kind: str, name: str) -> str:
        """Return, as canonical JSON, what the YAML says about one table, one figure or the claims.

        It holds what all tables share too, but no other table: editing one redraws only it.
        """
        if kind == "claims":
            shared = {key: value for key, value in self.tables.items() if key != "tables"}
            return canonical([self.claims, shared])
        whole, inside = getattr(self, kind), "tables" if kind == "corpora" else kind
        shared = {key: value for key, value in whole.items() if key != inside}
        return canonical({**shared, name: whole[inside][name]})

    def mechanisms(self, table: str) -> list[str]:
        """Return the names of the user's own mechanisms, if a table has rows for them."""
        return list(self._plan.mechanisms) if "mechanisms" in self.tables["tables"][table] else []

    def described(self, name: str) -> dict[str, Corpus]:
        """Return the corpora of a table of `corpora.yaml` by the id of their rows."""
        where = f"{self.folder / 'corpora.yaml'}: tables.{name}"
        return corpora(self._plan, self.corpora["tables"][name], where)

    def code(self, kind: str, name: str) -> list[str]:
        """Return the modules that a table, figure or claim is made by, beside the script."""
        return parts(self.figures["figures"][name]) if kind == "figures" else []


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
            for name in paper.corpora["tables"]:
                paper.described(name)

    @cached_property
    def names(self) -> dict[str, Callable[[], list[str]]]:
        """What returns the files behind each target; most are never asked for, and cost nothing."""
        found: dict[str, Callable[[], list[str]]] = {
            name: partial(self._of_experiment, name) for name in self.plan.experiments
        }
        for paper in self.papers.values():
            for kind in ("tables", "figures"):
                for item in getattr(paper, kind)[kind]:
                    found[f"{paper.name}_{item}"] = partial(self.outputs, paper, kind, item)
            for item in paper.corpora["tables"]:
                found[f"{paper.name}_{item}"] = partial(self.outputs, paper, "tables", item)
            found[paper.name] = partial(self._of_paper, paper)
        return found

    def files(self, name: str) -> list[str]:
        """Return the files behind a target."""
        return self.names[name]()

    @property
    def selected(self) -> list[str]:
        """The files behind everything that the configuration selects, the report left out.

        Claims and tables of corpora are among them where a paper is selected, not only experiments
        of it: they need runs and data of others.
        """
        files = [file for name in self.plan.selected for file in self.files(name)]
        for paper in self.papers.values():
            files += self._drawn_from(paper, set(paper.experiments) & set(self.plan.selected))
        files += [f for p in self._whole for f in (*self.claims(p), *self._corpora(p))]
        return list(dict.fromkeys(files))

    @property
    def recipes(self) -> list[dict[str, Any]]:
        """The data behind everything that the configuration selects, each recipe once.

        Corpora that can't be described for want of a file to get by hand are left out.
        """
        waiting = [run for name in self.plan.selected for run in self.plan.runs(name)]
        found = {}
        while waiting:
            run = waiting.pop()
            found[run.data] = run.recipe
            found |= {data_folder(made): made for made in run.further_data.values()}
            waiting += self.plan.parents(run).values()
        for paper in self._whole:
            for name in paper.corpora["tables"]:
                for corpus in paper.described(name).values():
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

    @property
    def folder(self) -> str:
        """The folder of the scale's results."""
        return f"{self.plan.results}/{self.plan.scale}"

    def measures(self, runs: Iterable[Run]) -> list[str]:
        """Return the file of measures of each run."""
        return [f"{self.folder}/measures/{run.key}.json" for run in runs]

    def outputs_of(self, runs: Iterable[Run]) -> list[str]:
        """Return the files of each run."""
        return [f"{self.folder}/runs/{run.key}/{name}" for run in runs for name in RUN_FILES]

    def run_files(self, runs: Iterable[Run]) -> list[str]:
        """Return the `run.json` of each run."""
        return [f"{self.folder}/runs/{run.key}/run.json" for run in runs]

    def outputs(self, paper: PaperTargets, kind: str, name: str) -> list[str]:
        """Return the files of a table or a figure."""
        formats = TABLE_FORMATS if kind == "tables" else FIGURE_FORMATS
        return [f"{self.folder}/{kind}/{paper.name}/{name}.{suffix}" for suffix in formats]

    def claims(self, paper: PaperTargets) -> list[str]:
        """Return the file of a paper's claims, if it makes any."""
        return [f"{self.folder}/claims/{paper.name}.json"] if paper.claims["claims"] else []

    def recipe(self, folder: str) -> dict[str, Any]:
        """Return the recipe whose data lie in `<dataset>/<hash>`, of an experiment or a corpus.

        Raises InputError when nothing of this configuration uses it.
        """
        return self._described.get(folder) or self.plan.recipe(folder)

    @cached_property
    def _described(self) -> dict[str, dict[str, Any]]:
        """The recipes of all corpora by their folder."""
        return {
            corpus.folder: corpus.recipe
            for paper in self.papers.values()
            for name in paper.corpora["tables"]
            for corpus in paper.described(name).values()
            if corpus.recipe
        }

    def _of_experiment(self, name: str) -> list[str]:
        """Return the files of an experiment's runs, and what is drawn from them alone."""
        runs = self.plan.runs(name)
        drawn = self._drawn_from(self.papers[self.plan.experiments[name].paper], {name})
        return [*self.outputs_of(runs), *self.measures(runs), *drawn]

    def _of_paper(self, paper: PaperTargets) -> list[str]:
        """Return the files of a paper's experiments, and all that is made of them."""
        files = [file for name in paper.experiments for file in self.files(name)]
        files += self._drawn_from(paper, set(paper.experiments))
        return list(dict.fromkeys((*files, *self.claims(paper), *self._corpora(paper))))

    def _corpora(self, paper: PaperTargets) -> list[str]:
        """Return the files of a paper's tables of corpora."""
        return [f for name in paper.corpora["tables"] for f in self.outputs(paper, "tables", name)]

    def _drawn_from(self, paper: PaperTargets, experiments: set[str]) -> list[str]:
        """Return the tables and figures of a paper that need some of these experiments alone."""
        found = []
        for kind, needs in (("tables", table_runs), ("figures", figure_runs)):
            for name in getattr(paper, kind)[kind]:
                needed = {experiment for experiment, _ in needs(getattr(paper, kind), name)}
                if needed and needed <= experiments:
                    found += self.outputs(paper, kind, name)
        return found

    def _check_pairs(self, paper: PaperTargets) -> None:
        """Check the experiments and variants behind a paper's tables, figures and claims.

        A table may have rows for variants that are still to come: one that exists is enough.
        """
        needed: list[tuple[str, list[tuple[str, str]]]] = [("claims", claim_runs(paper.claims))]
        needed += [("figures", figure_runs(paper.figures, n)) for n in paper.figures["figures"]]
        needed += [("tables", table_runs(paper.tables, name)) for name in paper.tables["tables"]]
        for kind, pairs in needed:
            where, present = str(paper.folder / f"{kind}.yaml"), 0
            for experiment, variant in pairs:
                if experiment not in self.plan.experiments:
                    raise unknown(where, "experiment", experiment, self.plan.experiments)
                known = self.plan.experiments[experiment].definition["variants"]
                present += variant in known
                if variant not in known and kind != "tables":
                    raise unknown(where, f"variant of {experiment}", variant, known)
            if pairs and not present:
                raise unknown(where, f"variant of {experiment}", variant, known)

    def check_names(self, rules: Iterable[str]) -> None:
        """Check that no target has the name of a rule, of a file of the project, or of another.

        Raises InputError naming both.
        """
        owners = dict.fromkeys(rules, "a rule")
        owners |= {path.name: "a file" for path in self.plan.root.iterdir()}
        claimed = [(name, f"experiment {name}") for name in self.plan.experiments]
        for paper in self.papers.values():
            claimed.append((paper.name, f"paper {paper.name}"))
            for kind in ("tables", "figures"):
                for item in getattr(paper, kind)[kind]:
                    claimed.append((f"{paper.name}_{item}", f"{kind[:-1]} {item} of {paper.name}"))
            for item in paper.corpora["tables"]:
                claimed.append((f"{paper.name}_{item}", f"table {item} of {paper.name}"))
        for name, owner in claimed:
            if name in owners:
                raise InputError(
                    f'target "{name}" is the name of {owners[name]} and of {owner}; rename one'
                )
            owners[name] = owner

    def refusal(self, name: str) -> InputError:
        """Return the error for a name that was asked for and is no target."""
        return unknown("command line", "target", name, {"all", "report", *self.names})
