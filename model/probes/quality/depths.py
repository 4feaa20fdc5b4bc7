"""Accuracy on arithmetic expressions by the depth of their nesting (kinley2020 table 6.5)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from model.batches.corpus import Split
from model.objectives.multiview import VIEWS, predict
from model.probes.measure import History, Measured, Scalar, Subject, rows_of, scalar


def depths(
    subject: Subject,
    history: History,
    view: str | None = None,
    tokens: int = 8192,
) -> Measured:
    """Accuracy (%) on the test split at each depth, and on the development split as it trained.

    Args:
        subject: a trained model and its data, with the columns `label`, `depth` and `seen`.
        history: of the run.
        view: the view in the corpus; without one it holds both.
        tokens: most tokens in a batch.

    Returns:
        Scalars, each for a depth d as `.._depth_<d>` and for all examples as `.._all`:
        `<view>` the accuracy, `<view>_unseen` that on expressions that are not in the training
        split (None where all are), `majority` the accuracy of always naming the class that is
        most frequent in the training split at that depth (for all examples: overall), `seen` the
        share of expressions that are in the training split. And `dev`, the best accuracy on the
        development split, averaged over views.
        Arrays: `epoch`, and `<view>_depth_<d>`, accuracies on the development split.

    Raises:
        ValueError: the corpus holds another view, or training recorded other views or depths.
    """
    held = subject.corpus.manifest["options"]["view"]
    if held != (view or "both"):
        raise ValueError(
            f"the data has view '{held}' and the evaluator '{view or 'both'}'; give data, "
            f"objective and evaluator one view (none to the last two for both)."
        )
    views = VIEWS if view is None else (view,)
    test, train, dev = (subject.corpus.split(name) for name in ("test", "train", "dev"))
    right = np.zeros((len(views), len(test)))
    for batch in subject.batches(tokens):
        with torch.no_grad():
            correct = predict(subject.model, batch).argmax(dim=-1) == batch.columns["label"]
        right[:, batch.examples] = correct.cpu().numpy()
    seen = np.asarray(test.columns["seen"], dtype=bool)
    groups = groups_of(test)
    scalars = {}
    for name, chosen in groups.items():
        for of_view, answers in zip(views, right, strict=True):
            scalars[f"{of_view}_{name}"] = _share(answers[chosen])
            scalars[f"{of_view}_unseen_{name}"] = _share(answers[chosen & ~seen])
        usual = np.bincount(train.columns["label"][groups_of(train)[name]]).argmax()
        scalars[f"majority_{name}"] = _share(test.columns["label"][chosen] == usual)
        scalars[f"seen_{name}"] = _share(seen[chosen])
    rows = rows_of(history, "dev")
    best = max(row["accuracy"] for row in rows)
    scalars["dev"] = scalar(best, "%", n=len(dev))
    curves: dict[str, list[Any]] = {"epoch": [row["epoch"] for row in rows]}
    for name, chosen in groups_of(dev).items():
        if name != "all":
            for of_view in views:
                key = f"{of_view}_{name}"
                if any(key not in row for row in rows):
                    raise ValueError(
                        f"training recorded no accuracy '{key}'; give the objective the view and "
                        f"the depths of the data."
                    )
                curves[key] = [row[key] / chosen.mean() for row in rows]
    return Measured(scalars, curves)


def groups_of(split: Split) -> dict[str, np.ndarray]:
    """The examples (N,) of each depth, `depth_<d>`, and of all, `all`."""
    depth = np.asarray(split.columns["depth"])
    groups = {"all": np.ones(len(split), dtype=bool)}
    return groups | {f"depth_{d}": depth == d for d in np.unique(depth).tolist()}


def _share(right: np.ndarray) -> Scalar:
    value = 100 * float(np.mean(right)) if len(right) else None
    return scalar(value, "%", n=len(right))
