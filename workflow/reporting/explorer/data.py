"""What the page holds: tasks, each with words, examples and models, and recorded translations."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from model.batches.batching import BOS
from model.batches.corpus import Corpus
from workflow.datasets.encoded.encoding import RESERVED, UNKNOWN
from workflow.definitions.explorer import RECORDED, Recording, Task, models_at
from workflow.definitions.paper import Paper
from workflow.files import read_json
from workflow.reporting.command_lines import command, measures
from workflow.reporting.explorer.examples import examples
from workflow.reporting.explorer.rounded_weights import packed, read_weights
from workflow.reporting.explorer.shown import ExplorerRun
from workflow.reporting.explorer.words import Words
from workflow.reporting.measures import EvaluatedRun
from workflow.reporting.statistics.comparability import base_scale
from workflow.runtime.errors import ReportingError

LONGEST = 64
"""Most tokens of an input, BOS counted, where the models have positions for so many."""


def page_data(
    scale: str,
    tasks: Mapping[str, Task],
    runs: Iterable[ExplorerRun],
    data: Path,
    recorded: Sequence[Mapping[str, Any]] = (),
    missing: Iterable[ExplorerRun] = (),
) -> dict[str, Any]:
    """Return what the page is made of, as JSON has it; a task without any run is left out.

    Args:
        scale: name of the scale.
        tasks: by name.
        runs: those that are there; of a variant that of the lowest seed is shown.
        data: the folder of encoded data, `<dataset>/<recipe>/encoded`.
        recorded: recordings of models that don't run in the page.
        missing: runs whose data are not there; the page names the tasks that it lacks for that.

    Raises:
        ReportingError: data are missing, or of other runs, or models of a task differ in their
            words.
        Damaged: weights can't be read.
    """
    first: dict[tuple[str, str], ExplorerRun] = {}
    for run in sorted(runs, key=lambda run: -int(run.labels["seed"])):
        first[run.labels["experiment"], run.labels["variant"]] = run
    absent = {(run.labels["experiment"], run.labels["variant"]) for run in missing}
    made, lacking = [], []
    for name, task in tasks.items():
        pairs = [(task["experiment"], model) for model in models_at(task, base_scale(scale))]
        if shown := [first[pair] for pair in pairs if pair in first]:
            made.append(_task(scale, name, task, shown, data))
        elif absent.intersection(pairs):
            lacking.append(task["title"])
    return {"scale": scale, "tasks": made, "recorded": list(recorded), "lacking": lacking}


def tasks_of(papers: Iterable[Paper]) -> dict[str, Task]:
    """Return the tasks of papers by their names."""
    return {name: task for paper in papers for name, task in paper.items("explorer").items()}


def recorded_of(papers: Iterable[Paper]) -> list[Recording]:
    """Return what papers show of models that don't run in the page."""
    return [one for paper in papers for one in paper.explorer.get("recorded", {}).values()]


def _task(
    scale: str, name: str, task: Task, runs: Sequence[ExplorerRun], data: Path
) -> dict[str, Any]:
    corpora = [corpus_of(run, data) for run in runs]
    for run, corpus in zip(runs, corpora, strict=True):
        if corpus.vocabulary != corpora[0].vocabulary:
            raise ReportingError(
                f"explorer.yaml: tasks.{name}: {run.key} has other words than {runs[0].key}; "
                "give them tasks of their own."
            )
    words = Words.of(corpora[0], task.get("words"))
    weights = [read_weights(run, words) for run in runs]
    options = corpora[0].manifest.get("options", {})
    longest = min(LONGEST, *(one.longest for one in weights))
    return {
        "name": name,
        "title": task["title"],
        "about": task["about"],
        "kind": task["kind"],
        "words": words.texts,
        "specials": UNKNOWN if task["kind"] == "class" else len(RESERVED),
        "first": BOS,
        "classes": task.get("classes"),
        "opens": task.get("opens"),
        "longest": longest,
        "closes": options.get("length") if options.get("balanced") else None,
        "trained": int(corpora[0].split("train").lengths.max()),
        "examples": examples(task, corpora[0], words, longest - 1),
        "models": [
            _model(scale, run, corpus, one.cut(longest))
            for run, corpus, one in zip(runs, corpora, weights, strict=True)
        ],
    }


def corpus_of(run: ExplorerRun, data: Path) -> Corpus:
    """Return the data of a run; ReportingError where they are not there, or are others."""
    folder = run.data(data)
    if read_json(folder / "manifest.json")["digest"] != run.record["spec"]["data"]["digest"]:
        raise ReportingError(f"{folder}: {run.key} was trained on other data; train it again.")
    return Corpus(folder)


def _model(
    scale: str, run: ExplorerRun, corpus: Corpus, arrays: Mapping[str, Any]
) -> dict[str, Any]:
    labels, record = run.labels, run.record
    index, content = packed(arrays)
    target = measures(scale, [(labels["experiment"], labels["variant"], int(labels["seed"]))])
    view = corpus.manifest.get("options", {}).get("view")
    return {
        "name": labels["variant"],
        "label": labels["label"],
        "run": run.key,
        "identity": record["identity"],
        "commit": record.get("commit"),
        "command": command(scale, target),
        "view": None if view == "both" else view,
        "spec": record["spec"]["model"],
        "tensors": index,
        "weights": content,
    }


def recordings(
    shown: Iterable[Recording], measures: Iterable[EvaluatedRun]
) -> list[dict[str, Any]]:
    """Return for each model of each recording what the page has of it.

    It is `name`, `label`, `task` (the recording's title), `run`, and `sentences`, each as
    `model.probes.importance.recorded_translation` has it. Models without measures are left out; of
    several seeds the lowest is shown.
    """
    ordered = sorted(measures, key=lambda one: -one.seed)
    first = {(one.run["experiment"], one.run["variant"]): one for one in ordered}
    made = []
    for recording in shown:
        for model in recording["models"]:
            measure = first.get((recording["experiment"], model))
            arrays = measure.evaluators.get(RECORDED, {}).get("arrays") if measure else None
            if measure and arrays:
                sentences = [
                    dict(zip(arrays, _short(one), strict=True))
                    for one in zip(*arrays.values(), strict=True)
                ]
                told = {"name": model, "label": measure.run["label"], "task": recording["title"]}
                made.append({**told, "run": measure.key, "sentences": sentences})
    return made


def _short(value: Any) -> Any:
    """Return lists of numbers with whole ones as integers, which take fewer letters: 0, not 0.0."""
    if isinstance(value, (list, tuple)):
        return [_short(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
