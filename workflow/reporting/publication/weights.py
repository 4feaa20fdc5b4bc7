"""Weights of models, published so that they can be used and evaluated without training.

A file an experiment, `weights/<experiment>.safetensors`: the tensors of each run are named
`<variant>/seed-<n>/<name in the model>`, and the metadata has which training it is of.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from safetensors import safe_open
from safetensors.numpy import load_file, save

from workflow.definitions.explorer import models_at, runs_of_weights
from workflow.definitions.paper import Paper
from workflow.planning.plan import Plan, named
from workflow.reporting.explorer.shown import Arrays, ExplorerRun
from workflow.reporting.publication.results import RunResult, by_experiment
from workflow.runtime.atomic import write_atomically
from workflow.runtime.errors import ReportingError

FOLDER = "weights"
TRAININGS = "trainings"
"""In the metadata: JSON, from `<variant>/seed-<n>` to identity and end of the training."""
LIMIT = 40_000_000
"""Most bytes of all weights of a scale."""


class Training(NamedTuple):
    """Which training of a run: trainings of one identity on two machines have other weights."""

    identity: str
    finished: str | None
    """When it ended; None where that is not known."""

    def is_of(self, result: RunResult) -> bool:
        """Whether it is, as far as is known, the published one."""
        return self.identity == result.identity and self.finished in (None, result.run["finished"])


def weights_of(folder: Path, experiment: str) -> Path:
    """Return the file of an experiment's weights where a scale is published."""
    return folder / FOLDER / f"{experiment}.safetensors"


def published_weights(folder: Path) -> dict[str, Training]:
    """Return the training of each run whose weights are published, by the run's key."""
    found: dict[str, Training] = {}
    for path in sorted((folder / FOLDER).glob("*.safetensors")):
        with safe_open(path, "numpy") as file:
            told = json.loads(file.metadata()[TRAININGS])
        found |= {f"{path.stem}/{line}": Training(*each) for line, each in told.items()}
    return found


def published_runs(folder: Path, results: Mapping[str, RunResult]) -> list[ExplorerRun]:
    """Return those of the published results that count and whose weights are published."""
    known = published_weights(folder)
    return [
        ExplorerRun(results[key].run, weights_of(folder, experiment), f"{line}/")
        for experiment, keys in by_experiment(known).items()
        for line, key in keys.items()
        if key in results and known[key].is_of(results[key]) and not results[key].stale
    ]


def write_weights(plan: Plan, folder: Path, aside: Path, results: Mapping[str, RunResult]) -> None:
    """Write the weights of each model that `explorer.yaml` names, of its lowest seed.

    Those of a published training that is here are written, rounded and of the words that the page
    knows; others are kept as they were published, while the published run is the same.

    Args:
        plan: with the scale, and where its results are.
        folder: where the scale was published before.
        aside: where it is made now.
        results: all that will be published.

    Raises:
        ReportingError: all of them take more than `LIMIT`.
        Damaged: the files of a run are not those that were written.
    """
    before, made = published_weights(folder), dict[str, dict[str, Arrays]]()
    trainings: dict[str, dict[str, Training]] = {}
    for keys, words in _models(plan, results):
        for key in keys:
            experiment, _, line = key.partition("/")
            training = Training(results[key].identity, results[key].run["finished"])
            if (run := _here(plan, key, training)) is not None:
                arrays = _rounded(run, words, Path(plan.results) / "data")
            elif key in before and before[key].is_of(results[key]):
                arrays, training = _kept(weights_of(folder, experiment), line), before[key]
            else:
                continue
            made.setdefault(experiment, {})[line] = arrays
            trainings.setdefault(experiment, {})[line] = training
            break
    for experiment, lines in made.items():
        named = {f"{line}/{name}": one for line, it in lines.items() for name, one in it.items()}
        content = save(named, {TRAININGS: json.dumps(trainings[experiment])})
        write_atomically(weights_of(aside, experiment), content)
    size = sum(path.stat().st_size for path in (aside / FOLDER).glob("*.safetensors"))
    if size > LIMIT:
        raise ReportingError(
            f"{folder / FOLDER} would be {size / 1e6:.1f} MB, more than {LIMIT / 1e6:.0f} MB: name "
            f"fewer models or words for scale {plan.scale} in explorer.yaml."
        )


def _kept(file: Path, line: str) -> Arrays:
    """Return the weights of a run as they were published, by their names in the model."""
    prefix = f"{line}/"
    return {
        name.removeprefix(prefix): one
        for name, one in load_file(file).items()
        if name.startswith(prefix)
    }


def _models(plan: Plan, results: Mapping[str, RunResult]) -> Iterator[tuple[list[str], int | None]]:
    """Yield the published runs that count of each model, lowest seed first, and its words."""
    keys = sorted((key for key, it in results.items() if not it.stale), key=lambda key: named(key))
    for paper in Paper.all(plan.mechanisms):
        words = {
            (task["experiment"], model): task.get("words")
            for task in paper.explorer["tasks"].values()
            for model in models_at(task, plan.config["scale"])
        }
        for pair in dict.fromkeys([*words, *runs_of_weights(paper.explorer)]):
            yield [key for key in keys if named(key)[:2] == pair], words.get(pair)


def _here(plan: Plan, key: str, training: Training) -> ExplorerRun | None:
    """Return a run if it is here with its data, and is the training that is published."""
    path = Path(plan.folder) / "runs" / key / "run.json"
    if not path.is_file() or not (path.parent / "weights.safetensors").is_file():
        return None
    run = ExplorerRun.of(path)
    there = run.data(Path(plan.results) / "data") / "manifest.json"
    same = Training(run.record["identity"], run.record["finished"])
    return run if same == training and there.is_file() else None


def _rounded(run: ExplorerRun, words: int | None, data: Path) -> Arrays:
    """Return the weights of a run by their names in the model: of all words, or of so many."""
    # What computes is slow to import; only what has weights to read waits for it.
    from workflow.reporting.explorer.data import corpus_of
    from workflow.reporting.explorer.rounded_weights import read_weights
    from workflow.reporting.explorer.words import Words

    return read_weights(run, Words.of(corpus_of(run, data), words)).rounded
