"""Weights of the explorer's models, published so that its page can be made without training."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from model.store.files import write_atomically
from workflow.definitions.explorer import Task, models_at
from workflow.definitions.paper import Paper
from workflow.errors import ReportingError
from workflow.files import read_json
from workflow.planning.plan import Plan, named
from workflow.reporting.explorer.shown import Shown
from workflow.reporting.publication.results import INDEX, Result

FOLDER = "weights"
LIMIT = 10_000_000
"""Most bytes of all weights of a scale."""


def weights_of(folder: Path, key: str) -> Path:
    """Return the file of a run's weights where a scale is published."""
    return folder / FOLDER / f"{key}.safetensors"


def published_weights(folder: Path) -> dict[str, str]:
    """Return the identity of each run whose weights are published, by its key."""
    index = folder / INDEX
    told: dict[str, str] = read_json(index).get(FOLDER, {}) if index.is_file() else {}
    return told


def published_runs(folder: Path, results: Mapping[str, Result]) -> list[Shown]:
    """Return those of the published results that count and whose weights are published."""
    return [
        Shown(results[key].run, weights_of(folder, key))
        for key, identity in published_weights(folder).items()
        if key in results and results[key].identity == identity and not results[key].stale
    ]


def write_weights(
    plan: Plan, folder: Path, aside: Path, results: Mapping[str, Result]
) -> dict[str, str]:
    """Write the weights of each model that the explorer shows at a scale, of its lowest seed.

    Those of a run that is here are written anew, rounded as the page has them; others are kept as
    they were published, while the published run is the same.

    Args:
        plan: with the scale, and where its results are.
        folder: where the scale was published before.
        aside: where it is made now.
        results: all that will be published.

    Returns:
        The identity of each run whose weights are there, by its key.

    Raises:
        ReportingError: all of them take more than `LIMIT`.
        Damaged: the files of a run are not those that were written.
    """
    before, made = published_weights(folder), dict[str, str]()
    for task, keys in _models(plan, results):
        for key in keys:
            identity, target = results[key].identity, weights_of(aside, key)
            if (run := _here(plan, key, identity)) is not None:
                write_atomically(target, _rounded(run, task, Path(plan.results) / "data"))
            elif before.get(key) == identity:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(weights_of(folder, key), target)
            else:
                continue
            made[key] = identity
            break
    size = sum(path.stat().st_size for path in (aside / FOLDER).rglob("*.safetensors"))
    if size > LIMIT:
        raise ReportingError(
            f"{folder / FOLDER} would be {size / 1e6:.1f} MB, more than {LIMIT / 1e6:.0f} MB: name "
            f"fewer models or words for scale {plan.scale} in explorer.yaml."
        )
    return made


def _models(plan: Plan, results: Mapping[str, Result]) -> Iterator[tuple[Task, list[str]]]:
    """Yield task and the published runs that count of each model, lowest seed first."""
    keys = sorted((key for key, it in results.items() if not it.stale), key=lambda key: named(key))
    for paper in Paper.all(plan.mechanisms):
        for task in paper.explorer["tasks"].values():
            for model in models_at(task, plan.config["scale"]):
                mine = (task["experiment"], model)
                yield task, [key for key in keys if named(key)[:2] == mine]


def _here(plan: Plan, key: str, identity: str) -> Shown | None:
    """Return a run if it is here with its data, and is the published one."""
    path = Path(plan.folder) / "runs" / key / "run.json"
    if not path.is_file() or not (path.parent / "weights.safetensors").is_file():
        return None
    run = Shown.of(path)
    there = run.data(Path(plan.results) / "data") / "manifest.json"
    return run if run.record["identity"] == identity and there.is_file() else None


def _rounded(run: Shown, task: Task, data: Path) -> bytes:
    """Return the content of the file of a run's weights."""
    # What computes is slow to import; only what has weights to read waits for it.
    from safetensors.numpy import save

    from workflow.reporting.explorer.data import corpus_of
    from workflow.reporting.explorer.weights import read_weights
    from workflow.reporting.explorer.words import Words

    words = Words.of(corpus_of(run, data), task.get("words"))
    weights = read_weights(run.weights, run.record["spec"]["model"], words)
    content: bytes = save(dict(weights.rounded))
    return content
