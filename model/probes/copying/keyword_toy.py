"""Where a classifier with uniform attention keeps what it knows of a keyword
(snell2021 section 6.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from model.batches.batching import Batch
from model.objectives.keyword_toy import PLACES, classified, places
from model.probes.measure import History, Measured, Subject, curves, rows_of, scalar
from model.training.checkpointer import HistoryRow

Gammas = Mapping[str, float | None]
"""Mean log-odds by place, None where no sequence of a batch has the keyword."""

IN_A_ROW = 3
"""Recorded rows in a row that a hypothesis must hold in to count as seen."""


def keyword_toy(subject: Subject, history: History, tokens: int = 8192) -> Measured:
    """Log-odds at the keyword, next to it, at the ends and on average, and the way there.

    Args:
        subject: a trained `LSTMClassifier` and its data.
        history: of the run. In the first epoch each training batch is new to the model, so what it
            says before the update is what it says of the test distribution.
        tokens: most tokens in a batch.

    Returns:
        Scalars on the test split: `accuracy` (%); `gamma_keyword`, `gamma_next`, `gamma_mean`,
        `gamma_last`, `gamma_first` and `gamma_end`, the higher of the last two; `excess`,
        gamma_keyword - gamma_mean, whose spread is over examples, and `reversed`, 1 where it is
        negative; `end_excess`, gamma_end - gamma_keyword.
        Scalars of the way: `hypothesis_2_at`, the first update from which hypothesis 2 holds in
        three recorded rows in a row (None if there is none), `hypothesis_2`, whether there is one,
        and `reversed_at`, the first update recorded after that where the keyword is below the mean.
        Arrays `step` and `keyword_curve`, ..., `first_curve`, one value a recorded row, and
        `excess`, one value an example.
    """

    def of_batch(batch: Batch) -> dict[str, Tensor]:
        logits, _, log_odds = classified(subject.model, batch)  # type: ignore[arg-type]
        real, keyword = batch.real[:, 1:], batch.columns["keyword"][:, 1:]
        right = (logits > 0) == batch.columns["label"].bool()
        return {"right": right, **places(log_odds.double(), keyword, real)}

    test = subject.gathered(tokens, of_batch)
    gamma = {name: float(test[name].mean()) for name in PLACES}
    gamma["end"] = max(gamma["last"], gamma["first"])
    excess, n = test["keyword"] - test["mean"], len(test["keyword"])
    accuracy = float(test["right"].double().mean())
    rows = rows_of(history, "train")
    way = [{"step": row["step"], **_gammas(row)} for row in rows]
    steps = [row["step"] for row in rows]
    seen = _seen(way)
    after = () if seen is None else range(seen, len(rows))
    below = (i for i in after if _below(way[i]))
    return Measured(
        {
            "accuracy": scalar(100 * accuracy, "%", n=len(test["right"])),
            **{f"gamma_{name}": scalar(value, "nats", n=n) for name, value in gamma.items()},
            "excess": scalar(float(excess.mean()), "nats", float(excess.std()), n),
            "reversed": scalar(float(excess.mean() < 0), "fraction"),
            "end_excess": scalar(gamma["end"] - gamma["keyword"], "nats", n=n),
            "hypothesis_2": scalar(float(seen is not None), "fraction"),
            "hypothesis_2_at": scalar(None if seen is None else steps[seen], "updates"),
            "reversed_at": scalar(next((steps[i] for i in below), None), "updates"),
        },
        {
            **curves(way, PLACES),
            "excess": excess.tolist(),
        },
    )


def hypothesis_2(gamma: Gammas) -> bool:
    """Whether gamma_keyword >> gamma_next >> gamma_mean ~ gamma_last (snell2021 eq. 20).

    Read as: both steps down, and that to the higher of the last two, are larger than the difference
    of the last two; and the first is larger than 0.1 nats, which untrained models stay below.
    """
    keyword, beside, mean, last = (gamma[name] for name in PLACES[:4])
    if keyword is None or beside is None or mean is None or last is None:
        return False
    apart = abs(mean - last)
    return keyword - beside > max(apart, 0.1) and beside - max(mean, last) > apart


def _gammas(row: HistoryRow) -> Gammas:
    """The mean log-odds of a row of the history."""
    located = row["located"]
    return {name: row[name] / located if located else None for name in PLACES}


def _seen(way: Sequence[Gammas]) -> int | None:
    """The first row from which hypothesis 2 holds often enough."""
    held = 0
    for i, gammas in enumerate(way):
        held = held + 1 if hypothesis_2(gammas) else 0
        if held == IN_A_ROW:
            return i - IN_A_ROW + 1
    return None


def _below(gamma: Gammas) -> bool:
    """Whether the keyword's log-odds are below the mean over all positions."""
    keyword, mean = gamma["keyword"], gamma["mean"]
    return keyword is not None and mean is not None and keyword < mean
