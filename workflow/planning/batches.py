"""What one job makes: the tables, figures and claims of a paper that are made of the same runs."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from workflow.planning.corpora import DescribedCorpus
from workflow.planning.departures import overlaid
from workflow.planning.identity import canonical
from workflow.planning.paper_targets import PaperTargets
from workflow.planning.plan import Run
from workflow.planning.targets import FOLDERS, Targets


class Item(NamedTuple):
    """A table, a figure, a table of corpora or, without a name, the claims of a paper."""

    kind: str
    """One of `tables`, `figures`, `corpora` and `claims`."""
    name: str = ""


@dataclass(frozen=True)
class JobBatch:
    """What a job makes, reads and is told.

    Rules take its methods for functions of wildcards, of which they have none.
    """

    targets: Targets
    paper: PaperTargets
    items: tuple[Item, ...]
    """Of one paper and of the same runs; a table of corpora is alone."""

    @property
    def name(self) -> str:
        """What the job is called: after its first item."""
        return f"{self.paper.name}/{self.items[0].name or self.items[0].kind}"

    @property
    def rule(self) -> str:
        """The name of its rule: an identifier, of which Snakemake makes the name of a unit test."""
        return f"results_{self.name.replace('/', '_')}"

    def files(self, item: Item) -> list[str]:
        """Return the files of an item."""
        if item.kind == "claims":
            return self.targets.claims(self.paper)
        return self.targets.outputs(self.paper, FOLDERS[item.kind], item.name)

    def first_file(self, wildcards: object = None) -> str:
        """Return a file of the job; it does not tell of which settings it is."""
        return self.files(self.items[0])[0]

    def measures(self, wildcards: object = None) -> list[str]:
        """Return the measures of the runs."""
        return self.targets.measures(self._runs)

    def run_files(self, wildcards: object = None) -> list[str]:
        """Return the `run.json` of the runs."""
        return self.targets.run_files(self._runs)

    def encoded(self, wildcards: object = None) -> list[str]:
        """Return the encoded data of the corpora, but for what is missing."""
        data = f"{self.targets.plan.results}/data"
        rows = [row for table in self._corpora.values() for row in table.values()]
        return [f"{data}/{row.folder}/encoded" for row in rows if not row.missing]

    def expected(self, wildcards: object = None) -> str:
        """Return the file of the numbers that the paper prints."""
        return os.path.relpath(self.paper.folder / "expected.csv")

    def tables_before(self, wildcards: object = None) -> list[str]:
        """Return the tables of the scale that an overlay stands on, where they were made."""
        plan = self.targets.plan
        if plan.scale == plan.config["scale"]:
            return []
        folder = f"{plan.results}/{plan.config['scale']}/tables/{self.paper.name}"
        paths = [f"{folder}/{name}.csv" for name in self._names("tables")]
        return [path for path in paths if os.path.exists(path)]

    def definitions(self, wildcards: object = None) -> list[str]:
        """Return what the YAML says about each item, and about no other."""
        return [self.paper.definition(*item) for item in self.items]

    def code(self, wildcards: object = None) -> str:
        """Return the hash of the code that makes the items."""
        parts = [path for item in self.items for path in self.paper.code(*item)]
        return self.targets.plan.code("workflow.scripts.results:main", *parts)

    def arguments(self, wildcards: object = None) -> list[str]:
        """Return the items, and what the plan says of them, as arguments of the script."""
        told = ["--paper", self.paper.name, "--scale", self.targets.plan.scale]
        for kind in ("tables", "figures"):
            if names := self._names(kind):
                told += [f"--{kind}", *names]
        if self._names("claims"):
            told.append("--claims")
        mechanisms = [one for name in self._names("tables") for one in self.paper.mechanisms(name)]
        if mechanisms:
            told += ["--mechanisms", *dict.fromkeys(mechanisms)]
        if own := {
            name: self.paper.own[name] for name in self._names("tables") if name in self.paper.own
        }:
            told += ["--own", canonical(own)]
        if changed := overlaid(self.targets.plan, self._runs):
            told += ["--overlaid", canonical(changed)]
        if tables := self._corpora:
            rows = {
                f"{t}/{row}": vars(one) for t, rows in tables.items() for row, one in rows.items()
            }
            told += ["--corpora", json.dumps(rows)]
        return told

    @cached_property
    def _runs(self) -> list[Run]:
        first = self.items[0]
        return [] if first.kind == "corpora" else self.paper.runs(*first)

    @cached_property
    def _corpora(self) -> Mapping[str, Mapping[str, DescribedCorpus]]:
        return {name: self.paper.described(name) for name in self._names("corpora")}

    def _names(self, kind: str) -> list[str]:
        return [item.name for item in self.items if item.kind == kind]


def batches(targets: Targets) -> Iterator[JobBatch]:
    """Yield what each job makes; together it is all that can be asked for of results."""
    for paper in targets.papers.values():
        alike: dict[object, list[Item]] = {}
        for item in _items(paper):
            behind = item if item.kind == "corpora" else paper.variants(*item)
            alike.setdefault(behind, []).append(item)
        yield from (JobBatch(targets, paper, tuple(items)) for items in alike.values())


def _items(paper: PaperTargets) -> Iterator[Item]:
    for kind in ("tables", "figures", "corpora"):
        yield from (Item(kind, name) for name in paper.items(kind))
    if paper.claims["claims"]:
        yield Item("claims")
