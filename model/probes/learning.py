"""How what a model knows of words and what it attends to agree, over runs (004, section 3).

A quantity u is taken at one checkpoint of its run, v at the checkpoint where the two agree most
(A.7), but for attention, whose way through training is what an agreement is compared with:

    alpha_uniform  A(alpha, beta_uf)     alpha at its best checkpoint; beta_uf of uniform attention
    uniform_proxy  A(beta_uf, beta_px)   u = beta_px
    delta_uniform  A(Delta, beta_uf)     Delta of the model of alpha, at the same checkpoint
    alpha_beta     A(alpha, beta)        beta of each other seed
    alpha_frozen   A(alpha, alpha_fr)    alpha_fr with everything but the attention frozen (A.6)
    alpha_alpha    A(alpha, alpha_hat)   of each other seed at its best checkpoint

Over several runs of v they are averaged. A run of v must have another seed than that of alpha: with
the same one both begin as the same model, with the same embedding, and agree for that alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from model.probes.agreement import agreement, chance, xi
from model.probes.kendall import tau_b
from model.probes.measure import Measured, Subject, scalar
from model.record import Record, SplitRecord

RESAMPLES = 1000
UNITS = {"accuracy": "%", "bleu": "BLEU"}
"""Of the performances that are recorded."""
Compare = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""From u, v (N, L) and lengths to the agreement of each row (N,), NaN where there is none."""
MEASURES: Mapping[str, tuple[Compare, str, float]] = {
    "": (agreement, "%", 100.0),
    "tau_": (tau_b, "tau x100", 100.0),
}
"""By prefix of the scalars: A of equation 7, and Kendall's tau in its place (Table 2)."""


@dataclass(frozen=True)
class Way:
    """How u agrees with v along the training of v's run.

    Attributes:
        curve: (C,) means over the rows.
        rows: (N,) where they agree most.
        chance: what to expect there of a random position, None for a correlation.
    """

    curve: np.ndarray
    rows: np.ndarray
    chance: float | None


def learning(
    subject: Subject,
    record: Record,
    others: Sequence[Record] = (),
    uniform: Sequence[Record] = (),
    proxy: Record | None = None,
    frozen: Sequence[Record] = (),
    split: str = "dev",
    metric: str = "accuracy",
) -> Measured:
    """The agreements of a run's attention with other quantities, and what performance they match.

    Args:
        subject: the run; nothing of it is read.
        record: of the run.
        others: of runs that differ in their seed alone.
        uniform: of runs with uniform attention.
        proxy: of a run of the bag-of-words proxy; its last checkpoint counts.
        frozen: of runs that train the attention alone.
        split: where agreement and performance are read, and the checkpoint is best.
        metric: the performance, `accuracy` or `bleu`.

    Returns:
        Scalars, each once for A and with the prefix `tau_` for Kendall's tau: for each agreement
        above its mean over rows (%), `_low` and `_high`, a 95 % bootstrap interval over examples,
        `_chance`, A-hat, `_ratio` to it, `xi_<agreement>` and `xi_<agreement>_never`, the share of
        the other runs that never exceed it (the paper's "*"). And `xi_star`, the performance of
        this run at its best checkpoint (the text has the end of training, the authors' code this),
        `best_step`, and `final`, that at the end.
        What needs a record that is not given has no value.
        Arrays: `step`, `performance_curve` and a curve of each agreement along training.

    Raises:
        ValueError: records that are not of the same texts.
    """
    compared = [*uniform, *frozen, *([] if proxy is None else [proxy])]
    _check([record, *others], compared, split, metric)
    own = record.splits[split]
    best = own.best(metric)
    alpha = own.rows("alpha", best)
    performance = own.performance[metric]
    scalars: dict[str, Any] = {
        "xi_star": scalar(float(performance[best]), UNITS[metric], n=len(own.lengths)),
        "final": scalar(float(performance[-1]), UNITS[metric], n=len(own.lengths)),
        "best_step": scalar(int(record.steps[best]), "updates"),
    }
    along = [one.splits[split] for one in others]
    arrays = {"step": record.steps.tolist(), "performance_curve": _rounded(performance)}
    for prefix, (compare, unit, scale) in MEASURES.items():
        way = Ways(compare, own.lengths)
        hats = [way.of(alpha, one, "alpha") for one in along]
        flat = [one.splits[split] for one in uniform]
        found: dict[str, list[Way]] = {
            "alpha_uniform": [way.of(alpha, v, "beta") for v in flat],
            "alpha_beta": [way.of(alpha, one, "beta") for one in along],
            "alpha_frozen": [way.of(alpha, one.splits[split], "alpha") for one in frozen],
            "alpha_alpha": [way.at(alpha, one, "alpha", one.best(metric)) for one in along],
        }
        if "delta" in own.ranks:
            delta = own.rows("delta", own.important.tolist().index(best))
            found["delta_uniform"] = [way.of(delta, v, "beta") for v in flat]
        if proxy is not None:
            of_proxy = proxy.splits[split].rows("beta", len(proxy.steps) - 1)
            found["uniform_proxy"] = [way.of(of_proxy, v, "beta") for v in flat]
        for name in PAIRS:
            ways = found.get(name, [])
            rows = np.mean([one.rows for one in ways], axis=0) if ways else np.array([np.nan])
            baselines = [one.chance for one in ways if one.chance is not None]
            agreed = _scalars(rows, baselines, own.examples, unit, scale)
            scalars |= {f"{prefix}{name}{part}": value for part, value in agreed.items()}
            arrays |= _curve(f"{prefix}{name}", ways)
            matched = (
                []
                if np.isnan(rows).all()
                else [
                    xi(_mean(rows), hat.curve.tolist(), one.performance[metric].tolist())
                    for hat, one in zip(hats, along, strict=True)
                ]
            )
            for part, values in (
                ("", [one.value for one in matched]),
                ("_never", [float(not one.exceeded) for one in matched]),
            ):
                mean = float(np.mean(values)) if values else None
                scalars[f"{prefix}xi_{name}{part}"] = scalar(
                    mean, "fraction" if part else UNITS[metric]
                )
        arrays |= _curve(f"{prefix}alpha_hat", hats)
    return Measured(scalars, arrays)


PAIRS = (
    *("alpha_uniform", "uniform_proxy", "delta_uniform"),
    *("alpha_beta", "alpha_frozen", "alpha_alpha"),
)


class Ways:
    """Compares rows of one split by one measure."""

    def __init__(self, compare: Compare, lengths: np.ndarray) -> None:
        self.compare, self.lengths = compare, lengths

    def of(self, u: np.ndarray, v: SplitRecord, quantity: str) -> Way:
        """How u agrees with each checkpoint of v."""
        rows = [self._rows(u, v, quantity, at) for at in range(len(v.ranks[quantity]))]
        curve = np.array([_mean(one) for one in rows])
        most = int(np.nan_to_num(curve, nan=-np.inf).argmax())
        return Way(curve, rows[most], self._chance(v, quantity, most))

    def at(self, u: np.ndarray, v: SplitRecord, quantity: str, at: int) -> Way:
        """How u agrees with one checkpoint of v."""
        rows = self._rows(u, v, quantity, at)
        return Way(np.array([_mean(rows)]), rows, self._chance(v, quantity, at))

    def _rows(self, u: np.ndarray, v: SplitRecord, quantity: str, at: int) -> np.ndarray:
        return self.compare(u, v.rows(quantity, at), self.lengths).astype(float)

    def _chance(self, v: SplitRecord, quantity: str, at: int) -> float | None:
        if self.compare is not agreement:
            return None
        return float(chance(v.rows(quantity, at), self.lengths).mean())


def bootstrap(rows: np.ndarray, examples: np.ndarray, seed: int = 0) -> tuple[float, float]:
    """A 95 % interval of the mean over rows, drawing whole examples anew.

    Args:
        rows: (N,) values, NaN where there is none.
        examples: (N,) the example of each row.
        seed: of the draws.

    Returns:
        The 2.5th and 97.5th percentile of the means of 1,000 draws.
    """
    _, place = np.unique(examples, return_inverse=True)
    known = ~np.isnan(rows)
    n = int(place.max()) + 1
    sums = np.bincount(place[known], rows[known], minlength=n)
    counts = np.bincount(place[known], minlength=n)
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    means = (drawn @ sums) / np.maximum(drawn @ counts, 1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def _scalars(
    rows: np.ndarray, baselines: Sequence[float], examples: np.ndarray, unit: str, scale: float
) -> dict[str, dict[str, Any]]:
    """The mean of an agreement over rows, with its interval and its random baseline."""
    values: dict[str, float | None] = dict.fromkeys(("", "_low", "_high", "_chance"))
    ratio = None
    if not np.isnan(rows).all():
        low, high = bootstrap(rows, examples)
        values |= {"": _mean(rows), "_low": low, "_high": high, "_chance": 0.0}
        if baselines:
            baseline = float(np.mean(baselines))
            values["_chance"], ratio = baseline, _mean(rows) / baseline
    found = {
        part: scalar(None if value is None else scale * value, unit, n=len(examples))
        for part, value in values.items()
    }
    return {**found, "_ratio": scalar(ratio, "times A-hat")}


def _curve(name: str, ways: Sequence[Way]) -> dict[str, list[float]]:
    """The mean curve of an agreement (%) along training, where the runs have one of it."""
    if not ways or len({len(way.curve) for way in ways}) > 1 or len(ways[0].curve) < 2:
        return {}
    return {f"{name}_curve": _rounded(100 * np.mean([way.curve for way in ways], axis=0))}


def _mean(rows: np.ndarray) -> float:
    known = rows[~np.isnan(rows)]
    return float(known.mean()) if len(known) else float("nan")


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in values]


def _check(
    performing: Sequence[Record], compared: Sequence[Record], split: str, metric: str
) -> None:
    """Refuse records without the performance, and those that cannot be compared row by row."""
    first = performing[0]
    for place, one in enumerate([*performing, *compared]):
        performs = place < len(performing)
        metrics = {name for part in one.splits.values() for name in part.performance}
        if split not in one.splits or (performs and metric not in one.splits[split].performance):
            known = f"splits {', '.join(one.splits)} and metrics {', '.join(sorted(metrics))}"
            raise ValueError(
                f"no '{metric}' on '{split}' was recorded, only {known}: add it to the variant's "
                "record."
            )
        own, theirs = first.splits[split], one.splits[split]
        if not (
            np.array_equal(own.lengths, theirs.lengths)
            and np.array_equal(own.examples, theirs.examples)
        ):
            raise ValueError(
                f"two records are of other texts of '{split}': give their variants the same data, "
                "and their records the same sizes."
            )
