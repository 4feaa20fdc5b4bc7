"""A user's own experiments: one of a paper's, with what the configuration replaces, and its tables.

    own_experiments:
      my_talks: {like: zhao2019/sparse_translation, title: My talks, data: {dataset: pairs, ...}}

The new one has the variants of the other, or those that are named; what is replaced wins over its
scales. Of variants that come to be the same run the first is kept. It stands beside the papers', as
rows in tables of its own: one for each table that shows the variants, without what is the paper's.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from workflow.definitions.cells import behind_cell, cells, metrics_of
from workflow.definitions.configuration import OwnExperiment
from workflow.definitions.experiments import Definition, Overlay, ScaleName, Scales
from workflow.definitions.names import require_known
from workflow.definitions.paper import Paper
from workflow.definitions.tables import Column, Table, TableRow, Tables
from workflow.planning.experiments import SCALES, Experiment
from workflow.runtime.errors import InputError

OwnTables = Mapping[str, Table]
"""Tables of own experiments by their names."""
HERE = ("like", "title", "variants", "tables")
"""What an own experiment says beside settings."""


def own_experiment(
    name: str, own: OwnExperiment, papers: Mapping[str, Experiment], others: Iterable[str] = ()
) -> Experiment:
    """Return a user's own experiment like one of the papers'.

    Raises InputError where its name is taken, or what it is like is not there, or is one of the
    `others`, the user's own.
    """
    where = f"config: own_experiments.{name}"
    if name in papers:
        raise InputError(f"{where}: {papers[name].paper} has an experiment of this name; rename it")
    paper, _, of = own["like"].rpartition("/")
    if of in others:
        raise InputError(
            f"{where}.like: {of} is an experiment of your own; name that of a paper which it is "
            "like, and repeat what it changes"
        )
    require_known(f"{where}.like", "experiment", [of], papers)
    source = papers[of]
    keys = (source.paper, source.definition["source"].split()[0])
    if paper not in keys:
        raise InputError(
            f"{where}.like: {of} is not of {paper or 'no paper'}; write {keys[1]}/{of}"
        )
    changes = cast(Overlay, {key: value for key, value in own.items() if key not in HERE})
    definition: Definition = {**source.definition, "title": own["title"]}
    require_known(f"{where}.variants", "variant", own.get("variants", ()), definition["variants"])
    experiment = replace(
        source, name=name, definition=definition, overlay=changes, like=own["like"]
    )
    return replace(experiment, definition={**definition, "scales": _scales(experiment, own)})


def _scales(experiment: Experiment, own: OwnExperiment) -> Scales:
    """Return the scales of an own experiment, each with the variants that are run at it."""
    scales: Scales = {**experiment.definition.get("scales", {})}
    for scale in SCALES:
        runs: dict[str, str] = {}
        for variant in own.get("variants") or experiment.variants(scale):
            settings = experiment.resolve(variant, scale)
            runs.setdefault(settings.trained(settings.parents), variant)
        scales[scale] = {**scales.get(scale, {}), "only": [*runs.values()]}
    return scales


def own_tables(
    own: Mapping[str, OwnExperiment],
    experiments: Mapping[str, Experiment],
    papers: Path,
    scale: ScaleName,
) -> dict[str, OwnTables]:
    """Return the tables of own experiments by the folder of the paper that they are like.

    Raises InputError for a table that is not there, or that is asked for and shows nothing.
    """
    by_paper: dict[str, dict[str, Table]] = {}
    for name, definition in own.items():
        experiment = experiments[name]
        stated = Paper(experiment.paper, papers).tables
        wanted = definition.get("tables", [*stated["tables"]])
        where = f"config: own_experiments.{name}.tables"
        require_known(where, "table", wanted, stated["tables"])
        tables = by_paper.setdefault(experiment.paper, {})
        for table in definition.get("tables", ()):
            _check_shown(experiment, stated, table, where)
        for table in wanted:
            if own_table := _table(experiment, scale, stated, stated["tables"][table]):
                tables[f"{name}_{table}"] = own_table
    return dict(by_paper)


def _check_shown(own: Experiment, stated: Tables, table: str, where: str) -> None:
    """Raise InputError for a table in which no own experiment could have a number."""
    source = own.like.rpartition("/")[2]
    shown = {metric for _, metric, _ in _shown(stated["tables"][table], stated, source)}
    if not shown:
        raise InputError(f"{where}: {table} shows nothing of {source}; leave it out")
    needed = {stated["metrics"][metric]["measure"].split(".")[0] for metric in shown}
    evaluators = own.overlay.get("evaluators", {})
    if all(evaluators.get(name, {}) is None for name in needed):
        raise InputError(
            f"{where}: {table} needs {' or '.join(sorted(needed))}, which the evaluators take "
            "away; leave one of both out"
        )


def _table(own: Experiment, scale: ScaleName, stated: Tables, table: Table) -> Table | None:
    """Return a table of an own experiment with a row a variant; None where it would be empty."""
    source = own.like.rpartition("/")[2]
    settings = {variant: own.resolve(variant, scale) for variant in own.variants(scale)}
    measured = {name for one in settings.values() for name in one.evaluators}
    columns: dict[str, Column] = {}
    rows: dict[str, TableRow] = {}
    for variant, metric, label in _shown(table, stated, source):
        if variant in settings and stated["metrics"][metric]["measure"].split(".")[0] in measured:
            rows[variant] = {"id": variant, "label": settings[variant].label}
            taken = {one["label"] for key, one in columns.items() if key != metric}
            text = f"{label} ({metric})" if label in taken else label
            columns.setdefault(metric, {"id": metric, "label": text, "metrics": [metric]})
    if not rows:
        return None
    labels = [row["label"] for row in rows.values()]
    for row in rows.values():
        if labels.count(row["label"]) > 1:
            row["label"] = f"{row['label']} ({row['id']})"
    replaced = [key for key in own.overlay if key != "evaluators"]
    return {
        "title": f"{own.definition['title']}: laid out as “{table['title']}”",
        "caption": f"Runs of {own.name}: settings are those of {own.like} at this scale, but for "
        f"what the user replaces ({', '.join(replaced) or 'nothing'}). No number is a paper's.",
        "source": "own",
        "experiment": own.name,
        "variant": "{row}",
        "labels": ["Variant"],
        "rows": [rows[one] for one in settings if one in rows],
        "columns": [*columns.values()],
    }


def _shown(table: Table, stated: Tables, source: str) -> Iterator[tuple[str, str, str]]:
    """Yield variant, metric and label of each number that a table shows of an experiment.

    Where each row is one variant, columns say what is shown, else they may name corpora.
    """
    behind: dict[str, set[Any]] = {}
    for row, column in cells(table):
        behind.setdefault(row["id"], set()).add(behind_cell(table, row, column))
    flat = all(len(pairs) == 1 for pairs in behind.values())
    for row, column in cells(table):
        experiment, variant = behind_cell(table, row, column)
        for metric in metrics_of(row, column) if experiment == source else ():
            said = stated["metrics"][metric]
            alone = flat and len(metrics_of(row, column)) == 1
            label = column["label"] if alone else said["label"]
            if "of" not in said:
                yield variant, metric, label
