"""The tables, figures and claims of one paper, and the runs that each is made of."""

from collections.abc import Iterable

from workflow.definitions.cells import table_runs
from workflow.definitions.claims import claim_runs
from workflow.definitions.explorer import RECORDED, explorer_runs, models_at, recorded_runs
from workflow.definitions.figures import figure_runs
from workflow.definitions.paper import Paper
from workflow.planning.corpora import DescribedCorpus, corpora
from workflow.planning.identity import canonical, paths
from workflow.planning.plan import Plan, Run


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
        sources = {n: self._plan.experiments[n].definition["source"] for n in self.experiments}
        return {key: [n for n in sources if len(keys) == 1 or key in sources[n]] for key in keys}

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
        by_variant = {(run.experiment.name, run.variant): run for run in reversed(runs)}
        return [*by_variant.values()][::-1]

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
