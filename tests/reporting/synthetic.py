"""Measures as the evaluators write them, with invented but plausible numbers."""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.sealing import put
from workflow.definitions.cells import check_tables
from workflow.definitions.claims import Claims, check_claims
from workflow.definitions.configuration import Configuration
from workflow.definitions.loader import load_yaml
from workflow.definitions.paper import Paper
from workflow.definitions.tables import Tables
from workflow.planning.plan import Plan
from workflow.reporting.cells import LongForm, csv_of
from workflow.reporting.claims.judging import judge
from workflow.reporting.measures import EvaluatedRun, Measures
from workflow.reporting.publication.costs import Costs
from workflow.reporting.publication.current import Now, RunFeatures, planned
from workflow.reporting.publication.publishing import publish
from workflow.reporting.tables.layout import Grid, grid
from workflow.reporting.tables.long_form import build
from workflow.runtime.integrity import checksums_of
from workflow.validation import check

ROOT = Path(__file__).resolve().parents[2]
STACK = {
    # variant: (nll excess, precision, recall, exact)
    "soft": (0.004, 0.16, 1.0, 0.05),
    "soft_penalty": (0.02, 0.62, 0.71, 0.31),
    "discrete": (0.01, 0.42, 0.97, 0.12),
    "discrete_penalty": (0.011, 0.97, 0.85, 0.8),
}
SST = {"soft": (0.66, 79.9), "discrete": (0.70, 75.2), "two_stream": (0.72, 76.4)}
FLOORS = {"uniform": 0.9595, "half_digits": 0.8854}


def scalar(value: float, unit: str, **more: Any) -> dict[str, Any]:
    return {"value": float(value), "unit": unit, **more}


def _example(exact: float, weighted: bool, random: np.random.Generator) -> dict[str, Any]:
    symbols = list("01(1(22)1(2(33)2(3(4)3)2)1)010")
    starts, last = [], 0
    for place, symbol in enumerate(symbols[:-1]):
        last = place if symbol.isdigit() else last
        starts.append(last)
    size = len(starts)
    span = np.array([[int(start <= j <= i) for j in range(size)] for i, start in enumerate(starts)])
    noise = np.tril(random.random((size, size)))
    field = np.clip(0.25 * span + 0.75 * noise**2, 0, 1) if weighted else span.astype(float)
    if not weighted:
        for i in range(size):
            if random.random() > exact:
                field[i, max(starts[i] - 1, 0)] = 1.0
    return {
        "example_symbols": symbols,
        "example_span": span.tolist(),
        "example_field": field.round(4).tolist(),
    }


def stack_measures(variant: str, seed: int) -> dict[str, Any]:
    """Return the evaluators of a stack-language run."""
    grammar = "half_digits" if variant.startswith("half_digits") else "uniform"
    kind = variant.removeprefix(f"{grammar}_").removesuffix("_t05").removesuffix("_t2")
    excess, precision, recall, exact = STACK[kind]
    shift = {"t05": -0.05, "t2": -0.12}.get(variant.rpartition("_")[2], 0.0)
    random = np.random.default_rng([seed, *variant.encode()])
    precision, recall = (
        float(np.clip(value + shift + random.normal(0, 0.006), 0, 1))
        for value in (precision, recall)
    )
    f1 = 2 * precision * recall / (precision + recall)
    nll = FLOORS[grammar] + excess + abs(random.normal(0, 0.002)) - shift / 10
    lengths = np.arange(1, 13)
    soft = "soft" in kind
    fields = {
        "precision": scalar(precision, "fraction"),
        "recall": scalar(recall, "fraction"),
        "f1": scalar(f1, "fraction"),
        "precision_macro": scalar(precision - 0.01, "fraction"),
        "recall_macro": scalar(min(recall + 0.02, 1), "fraction"),
        "f1_macro": scalar(f1 - 0.01, "fraction"),
        "field_size": scalar(2.5 * recall / precision, "tokens", std=1.2, n=140000),
        "span_size": scalar(2.5, "tokens", std=1.4, n=140000),
        "exact": scalar(exact + shift + random.normal(0, 0.006), "fraction", n=140000),
    }
    arrays = {
        "span_length": lengths.tolist(),
        "exact": [round(float(exact * 0.9 ** (n - 1)), 5) for n in lengths],
        "count": [int(60000 * 0.5**n) + 1 for n in lengths],
        **_example(exact, soft, random),
    }
    found = {
        "language_modelling": {
            "nll": scalar(nll, "nats/token", n=150000),
            "floor": scalar(FLOORS[grammar], "nats/token"),
            "excess": scalar(nll - FLOORS[grammar], "nats/token"),
        },
        "receptive_field": fields,
        "routing_flips": {"flip_rate": scalar(0.3, "fraction", n=5000)},
        "weighted_field": {
            "precision": scalar(precision * 0.9, "fraction"),
            "recall": scalar(recall * 0.9, "fraction"),
            "f1": scalar(f1 * 0.9, "fraction"),
        },
    }
    return {
        name: {"code": "c" * 16, "seconds": 1.0, "scalars": scalars}
        | ({"arrays": arrays} if name == "receptive_field" else {"arrays": {}})
        for name, scalars in found.items()
    }


def sst_measures(variant: str, seed: int, examples: int = 1821) -> dict[str, Any]:
    """Return the evaluators of a text-classification run."""
    tau, accuracy = SST[variant.removeprefix("sst_")]
    shared = np.random.default_rng(7).normal(0, 0.06, examples)
    random = np.random.default_rng([seed, *variant.encode()])
    arrays, scalars = {}, {}
    for name, mean in (("tau_norm", tau), ("tau_dot", tau - 0.2)):
        values = np.clip(mean + shared + random.normal(0.004 * seed, 0.09, examples), -1, 1)
        arrays[name] = [round(float(value), 5) for value in values]
        arrays[name][3] = None
        known = np.array([value for value in arrays[name] if value is not None])
        scalars[name] = scalar(
            known.mean(), "tau", std=float(known.std(ddof=1)), n=len(known), spread_over="examples"
        )
    value = accuracy + random.normal(0, 0.5)
    return {
        "accuracy": {
            "code": "a" * 16,
            "seconds": 1.0,
            "scalars": {
                "accuracy": scalar(value, "%", n=examples),
                "loss": scalar(0.5, "nats", n=examples),
            },
            "arrays": {},
        },
        "attention_importance": {
            "code": "b" * 16,
            "seconds": 9.0,
            "scalars": scalars,
            "arrays": arrays,
        },
    }


def one_run(
    variant: str,
    seed: int,
    scalars: dict[str, float | None] | None = None,
    arrays: dict[str, list[float | None]] | None = None,
) -> EvaluatedRun:
    """Return a run of an experiment `toy`, with the measures of its one evaluator `probe`.

    They are fractions, where they can be.
    """
    labels = {"experiment": "toy", "variant": variant, "seed": seed, "scale": "lite"}
    values = {
        name: {"value": value, "unit": "fraction" if 0 <= (value or 0) <= 1 else "points"}
        for name, value in (scalars or {}).items()
    }
    probe = {"scalars": values, "arrays": arrays or {}}
    path = Path("measures/toy") / variant / f"seed-{seed}.json"
    spec = {"data": {"digest": "d" * 64}}
    run = {"commit": "1234567890abcdef", "device": "cpu", "spec": spec}
    return EvaluatedRun(path, f"{variant}-{seed}", labels, {"probe": probe}, run)


def outcomes(variant: str, values: Sequence[float | None], first: int = 0) -> list[EvaluatedRun]:
    """Return one run a value, with it as the outcome `probe.learned`; seeds count from `first`."""
    return [one_run(variant, first + at, {"learned": value}) for at, value in enumerate(values)]


def with_tables(tables: dict[str, Any], name: str = "discrete_transformer") -> Paper:
    """Return a paper with other tables in place of its own, and with its own numbers."""
    paper = Paper(name)
    paper.tables = tables
    return paper


def toy_table(
    metrics: dict[str, Any], columns: Sequence[Any], rows: Sequence[Any], **more: Any
) -> dict[str, Any]:
    """Return the `tables.yaml` of a table `toy` of an experiment `toy`."""
    table = {"title": "Toy", "caption": "A toy.", "source": "kinley2020", "experiment": "toy"}
    table |= {"variant": "{row}", "labels": ["Runs"], "columns": columns, "rows": rows, **more}
    return {"metrics": metrics, "tables": {"toy": table}}


def checked(made: dict[str, Any]) -> dict[str, Any]:
    """Return a `tables.yaml` as it is read from a file; InputError where that is refused."""
    found: dict[str, Any] = check(made, Tables, "tables.yaml")
    check_tables(found, "tables.yaml")
    return found


def toy(
    made: dict[str, Any], behind: Iterable[EvaluatedRun], paper: str = "discrete_transformer"
) -> LongForm:
    """Return the table `toy` over some runs."""
    return build(with_tables(made, paper), "toy", "lite", Measures(behind))


def laid_out(made: dict[str, Any], table: LongForm) -> Grid:
    """Return the table `toy` as a reader sees it."""
    return grid(made, "toy", table)


def shown(made: dict[str, Any], table: LongForm) -> list[list[str]]:
    """Return the texts of the rows that a reader sees."""
    grid = laid_out(made, table)
    kinds = [("ours", "paper", "verdict") if one else ("ours",) for one in grid.compared]
    return [
        [*labels, *(cell[kind] for cell, of_it in zip(cells, kinds, strict=True) for kind in of_it)]
        for labels, cells in grid.lines
    ]


def judged(runs: Iterable[EvaluatedRun], **claim: Any) -> dict[str, Any]:
    """Return what is decided on a claim about an experiment `toy`, as `claims.yaml` has it."""
    paper = Paper("discrete_transformer")
    paper.claims = check({"claims": [toy_claim(**claim)]}, Claims, "claims.yaml")
    check_claims(paper.claims, "claims.yaml")
    (found,) = judge(paper, "lite", Measures(runs))["claims"]
    return dict(found)


def toy_claim(**more: Any) -> dict[str, Any]:
    """Return a claim that runs `good` of an experiment `toy` exceed its runs `bad`."""
    sides = {side: {"variant": side, "label": side} for side in ("good", "bad")}
    claim = {"id": "toy", "claim": "A toy.", "source": "zhao2019", "experiment": "toy"}
    claim |= {"left": sides["good"], "right": sides["bad"]}
    return claim | {"direction": "greater", "margin": 0, **more}


def lines(table: LongForm) -> list[dict[str, str]]:
    """Return the lines of a table's CSV."""
    return list(csv.DictReader(io.StringIO(csv_of(table.cells))))


def plan_of(results: Path, scale: str = "lite", **config: Any) -> Plan:
    """Return the project's own plan, whose runs the invented results claim to be."""
    set_up = load_yaml(ROOT / "config.yaml", Configuration)
    return Plan({**set_up, "scale": scale, "results": str(results), **config}, ROOT)


def printing(*metrics: str, source: str = "", **changes: str) -> Paper:
    """Return a paper that prints other numbers of some metrics, in one of its texts or in all."""
    paper = Paper("discrete_transformer")
    for place, number in paper.expected.values.items():
        if place[0].startswith(source) and place[4] in metrics:
            other = replace(number, printed=replace(number.printed, **changes))
            paper.expected.values[place] = other
    return paper


def only_papers(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let there be only these papers, where what is made of one serves."""

    def some(mechanisms: Iterable[str] = (), own: object = None) -> list[Paper]:
        return [Paper(name, mechanisms=mechanisms) for name in names]

    monkeypatch.setattr(Paper, "all", some)


def brief(patch: pytest.MonkeyPatch) -> None:
    """Let no figure be drawn and no row's cost be told, which take longest."""
    patch.setattr("workflow.reporting.figures.drawing.plot", lambda *arguments: None)
    patch.setattr(Costs, "of_rows", lambda *arguments: [])


def today(plan: Plan, code: str) -> Now:
    """Return what runs are made of today, as if their code had the hash `code`."""

    def now(key: str) -> RunFeatures | None:
        traits = planned(plan)(key)
        return {**traits, "code": code} if traits and code else traits

    return now


def history(seed: int) -> list[dict[str, Any]]:
    """Return a plausible training history."""
    rows = []
    for step in range(50, 1001, 50):
        loss = 0.9 + 0.8 * np.exp(-step / 200) + 0.01 * seed
        row = {"step": step, "epoch": step / 250, "loss": loss, "lr": 1e-3, "seconds": step / 10}
        rows.append({**row, "split": "train", "tokens_per_second": 40000.0})
        if step % 250 == 0:
            rows.append({**row, "split": "dev", "loss": loss + 0.02})
    return rows


class Results:
    """A results folder of one scale, filled run by run."""

    def __init__(self, root: Path, scale: str) -> None:
        self.scale, self.folder = scale, root / scale
        self.plan = plan_of(root)

    def add(
        self,
        experiment: str,
        variant: str,
        seed: int,
        code: str = "",
        digest: str = "d",
        **data: Any,
    ) -> Path:
        """Write a run and its measures; return the measures file.

        Its spec is the real one of scale lite, but for `code` and the options in `data`.
        """
        made = stack_measures if experiment == "stack_language" else sst_measures
        run = self.plan.run(experiment, variant, seed)
        draft = self.plan.draft(run)
        code = code or draft["code"]
        labels = {"paper": "discrete_transformer", "experiment": experiment, "variant": variant}
        labels |= {"label": variant.replace("_", " "), "seed": seed, "scale": self.scale}
        identity = hashlib.sha256(f"{variant} {seed} {code} {digest}".encode()).hexdigest()[:16]
        key = f"{experiment}/{variant}/seed-{seed}"
        options = draft["run"]["data"] | data
        spec = draft | {"run": labels | {"data": options}, "code": code, "identity": identity}
        spec["data"] = draft["data"] | {"digest": digest * 64}
        record = {
            "schema": 1,
            "identity": identity,
            "spec": spec,
            "code": code,
            "commit": "1234567890abcdef",
            "dirty": False,
            "torch": "2.9.0",
            "cuda": None,
            "python": "3.11.2",
            "cpu": "AMD EPYC <test>",
            "device": "cpu",
            "threads": 1,
            "matmul": "highest",
            "precision": "fp32",
            "wall_seconds": 90000.0,
            "device_seconds": 251.0,
            "peak_memory_mb": 700.0,
            "tokens": 6000000,
            "tokens_per_second": 41000.0,
            "steps": 1000,
            "best_step": 1000,
            "job_ids": [],
            "continuations": [],
            "parameters": 240000,
            "finished": "2026-11-20T10:00:00+00:00",
        }
        measures = {"schema": 1, "identity": identity, "run": labels}
        invented = made(variant, seed)
        measures["evaluators"] = {
            name: {"scalars": {}, "arrays": {}, **invented.get(name, {}), "code": node["code"]}
            for name, node in self.plan.evaluators(run).items()
        }
        where = self.folder / "runs" / key
        where.mkdir(parents=True, exist_ok=True)
        rows = "\n".join(map(json.dumps, history(seed))) + "\n"
        (where / "history.jsonl").write_text(rows, encoding="utf-8")
        record |= {"files": checksums_of(where, ["history.jsonl"]), "checkpoints": {}}
        put(where / "run.json", record)
        return put(self.folder / "measures" / f"{key}.json", measures)

    def fill(self, seeds: int = 3) -> None:
        """Write every variant of both experiments."""
        for seed in range(seeds):
            for grammar in FLOORS:
                for kind in STACK:
                    self.add("stack_language", f"{grammar}_{kind}", seed)
            for suffix in ("_t05", "_t2"):
                self.add("stack_language", f"uniform_discrete_penalty{suffix}", seed)
            for variant in SST:
                self.add("text_classification", f"sst_{variant}", seed)

    def publish(self, docs: Path, code: str = "") -> dict[str, str]:
        """Publish the runs, as if today's code had the hash `code`; return why some are stale."""
        plan = plan_of(self.folder.parent, seeds=[0, 1, 2])
        return publish(plan, docs, today(plan, code))

    def read(self) -> Measures:
        """Return the measures with their provenance."""
        return Measures.read(self.measures, self.runs)

    @property
    def measures(self) -> list[Path]:
        """Return all measures files."""
        return sorted((self.folder / "measures").rglob("*.json"))

    @property
    def runs(self) -> list[Path]:
        """Return all run.json files."""
        return sorted((self.folder / "runs").rglob("run.json"))
