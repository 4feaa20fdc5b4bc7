"""What it takes to make a published table anew, row by row: the command, time, memory, download.

As `make plan` says on a machine without results, from the published runs alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workflow.datasets.fetched import sources
from workflow.datasets.kinds.recipe import Recipe, files
from workflow.definitions.cells import behind_cell, cells, row_name
from workflow.definitions.paper import Paper
from workflow.planning.corpora import corpora
from workflow.planning.cost import Cost
from workflow.planning.estimator import Estimator
from workflow.planning.plan import Plan, Run
from workflow.reporting.command_lines import command, measures
from workflow.runtime.json_lines import whole_lines

NAME = "commands.csv"
COLUMNS = ("paper", "table", "rows", "cost", "command")
"""Of the file of that name: the folder of papers, the table, and as `Rows` have them."""


@dataclass(frozen=True)
class Rows:
    """Rows of a table that one command makes."""

    names: list[str]
    command: str
    cost: Cost


class Costs:
    """What the tables of a scale cost.

    Args:
        plan: with the scale.
        published: the folder with its published runs, `<scale>/runs/<experiment>.jsonl`.
    """

    def __init__(self, plan: Plan, published: Path) -> None:
        self.plan = plan
        lines = (published / plan.scale / "runs").glob("*.jsonl")
        gpu = all(run["device"] != "cpu" for path in lines for run in whole_lines(path))
        self.estimator = Estimator(plan, gpu, published, results=published / "nothing")
        self.sources = sources.load()

    def of_rows(self, paper: Paper, name: str) -> list[Rows]:
        """Return the rows of a table that the scale has, those of one command together."""
        found: dict[str, Rows] = {}
        if name in paper.items("corpora"):
            definition = paper.definition("corpora", name)
            known = corpora(self.plan, definition, f"{paper.name}, {name}")
            making = command(self.plan.scale, f"{paper.name}_{name}")
            for row in definition["rows"]:
                if recipe := known[row["id"]].recipe:
                    rows = found.setdefault(row["id"], Rows([], making, self._fetched([recipe])))
                    rows.names.append(row["label"])
            return list(found.values())
        table = paper.definition("tables", name)
        variants: dict[str, list[tuple[str, str]]] = {}
        for row, column in cells(table):
            if not row.get("quoted"):
                variants.setdefault(row_name(row), []).append(behind_cell(table, row, column))
        for label, pairs in variants.items():
            runs = [
                run
                for experiment, variant in dict.fromkeys(pairs)
                for run in self.plan.runs(experiment, [variant])
            ]
            if runs:
                wanted = ((run.experiment.name, run.variant, run.seed) for run in runs)
                making = command(self.plan.scale, measures(self.plan.scale, wanted))
                if making not in found:
                    found[making] = Rows([], making, self.of_runs(runs))
                found[making].names.append(label)
        return list(found.values())

    def of_table(self, paper: Paper, name: str) -> list[Rows]:
        """Return all rows of a table as what one command makes, then those of each command."""
        rows = self.of_rows(paper, name)
        names = [label for row in rows for label in row.names]
        whole = sum((row.cost for row in rows), Cost())
        together = Rows(names, command(self.plan.scale, f"{paper.name}_{name}"), whole)
        return [together, *(rows if len(rows) > 1 else [])] if rows else []

    def of_runs(self, runs: Iterable[Run]) -> Cost:
        """Return what runs take, with those that they start from or whose records they read."""
        needed: dict[str, Run] = {}
        waiting = list(runs)
        while waiting:
            run = waiting.pop()
            if run.key not in needed:
                needed[run.key] = run
                waiting += self.plan.parents(run).values()
                waiting += (one for read in self.plan.records(run).values() for one in read)
        trained = {
            one.key: one for one in (self.plan.duplicate_of(run) or run for run in needed.values())
        }
        estimates = {key: self.estimator.estimate(trained[key]) for key in sorted(trained)}
        return Cost(estimates) + self._fetched(run.recipe for run in needed.values())

    def _fetched(self, recipes: Iterable[Recipe]) -> Cost:
        names = {(str(it["dataset"]), name) for it in recipes for name in files(it)["sources"]}
        return Cost(files={"/".join(name): self.sources[name] for name in sorted(names)})


def commands(costs: Costs, papers: Iterable[Paper]) -> Iterator[dict[str, str]]:
    """Yield the lines of the file of commands: of each table all of it, then row by row."""
    for paper in papers:
        for table in (*paper.items("tables"), *paper.items("corpora")):
            for at, rows in enumerate(costs.of_table(paper, table)):
                names = "; ".join(rows.names) if at else "all"
                values = (paper.name, table, names, str(rows.cost), rows.command)
                yield dict(zip(COLUMNS, values, strict=True))
