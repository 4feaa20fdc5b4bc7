"""Whether a copying model has learned to attend to what it copies (snell2021 section 3.3)."""

from __future__ import annotations

from torch import Tensor

from model.batches.batching import Batch
from model.objectives.copying import copied
from model.probes.measure import History, Measured, Subject, curves, rows_of, scalar

COPIED = 95.0
"""Accuracy (%) above which a batch counts as copied."""


def copying(
    subject: Subject,
    history: History,
    learned: float = 0.95,
    failed: float = 0.1,
    tokens: int = 8192,
) -> Measured:
    """Accuracy and attention on the right position at the end of training, and the way there.

    A run has *learned* where the attention on the position to copy from, averaged over the test
    split, is above `learned`, *failed* where it is below `failed`, and is *learning* in between.
    Accuracy does not tell them apart: a failing run can copy many symbols by another route.

    Args:
        subject: a trained `CopyingModel` and its data.
        history: of the run. In the first epoch each training batch is new to the model, so its
            accuracy and attention before the update are those on the test distribution; under
            Gumbel attention with the noise of training.
        learned: attention above which a run has learned.
        failed: attention below which it has failed.
        tokens: most tokens in a batch.

    Returns:
        Scalars `accuracy` (%), `attention`, `learned`, `learning` and `failed` (0 or 1), and
        `copied_at`, the first update recorded with an accuracy above 95 % (None if there is none).
        Arrays `step`, `accuracy_curve` and `attention_curve`, one value a recorded row.
    """

    def of_batch(batch: Batch) -> dict[str, Tensor]:
        source = batch.tokens[:, 1:]
        right, weight = copied(subject.model(source, batch.tokens[:, :-1]), source)
        return {"right": right.mean(dim=1).double(), "weight": weight.mean(dim=1).double()}

    test = subject.gathered(tokens, of_batch)
    accuracy, attention = float(test["right"].mean()), float(test["weight"].mean())
    rows = rows_of(history, "train")
    reached = [row["step"] for row in rows if row["accuracy"] > COPIED]
    outcome = {
        "learned": attention > learned,
        "learning": failed <= attention <= learned,
        "failed": attention < failed,
    }
    examples = len(test["right"])
    return Measured(
        {
            "accuracy": scalar(100 * accuracy, "%", n=examples),
            "attention": scalar(attention, "fraction", n=examples),
            **{name: scalar(float(is_so), "fraction") for name, is_so in outcome.items()},
            "copied_at": scalar(reached[0] if reached else None, "updates"),
        },
        curves(rows, ("accuracy", "attention")),
    )
