"""How what a model knows of words and what it attends to agree, over runs (snell2021 section 3).

A quantity u is taken at one checkpoint of its run, v at the checkpoint where the two agree most
(snell2021 appendix A.7), but for attention, whose way through training is what an agreement is
compared with:

    alpha_uniform  A(alpha, beta_uf)     alpha at its best checkpoint; beta_uf of uniform attention
    uniform_proxy  A(beta_uf, beta_px)   u = beta_px
    delta_uniform  A(Delta, beta_uf)     Delta of the model of alpha, at the same checkpoint
    alpha_beta     A(alpha, beta)        beta of each other seed
    alpha_frozen   A(alpha, alpha_fr)    alpha_fr with attention alone free (snell2021 appendix A.6)
    alpha_alpha    A(alpha, alpha_hat)   of each other seed at its best checkpoint

Over several runs of v they are averaged, where the authors' code takes the first of them. A run of
v must have another seed than that of alpha: with the same one both begin as the same model, with
the same embedding, and agree for that alone.

What an agreement means is told by other seeds of alpha (xi, in `agreement`): their agreement with
alpha along training and their performance are averaged, as in the authors' code, and read where the
one first exceeds A(u, v).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.probes.checkpoint_ranks import Record
from model.probes.kendall import tau_b
from model.probes.learning.agreement import agreement, chance, xi
from model.probes.measure import Measured, Scalar, Subject, rounded, scalar

RESAMPLES = 1000
UNITS = {"accuracy": "%", "bleu": "BLEU"}
"""Of the performances that are recorded."""
Compare = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""From u, v (N, L) and lengths to the agreement of each row (N,), NaN where there is none."""
MEASURES: Mapping[str, tuple[Compare, str, float]] = {
    "": (agreement, "%", 100.0),
    "tau_": (tau_b, "tau x100", 100.0),
}
"""By prefix of the scalars: A of snell2021 eq. 7, and Kendall's tau, as in snell2021 table 2."""


@dataclass(frozen=True)
class Way:
    """How u agrees with v along the training of v's run.

    Attributes:
        curve: (C,) means over the rows.
        rows: (N,) where they agree most.
        step: the update of v's run where that is.
        chance: what to expect there of a random position, None for a correlation.
    """

    curve: np.ndarray
    rows: np.ndarray
    step: int
    chance: float | None


def learning(
    subject: Subject,
    record: Record,
    others: Sequence[Record] = (),
    uniform: Record | None = None,
    proxy: Record | None = None,
    frozen: Record | None = None,
    split: str = "dev",
    metric: str = "accuracy",
) -> Measured:
    """The agreements of a run's attention with other quantities, and what performance they match.

    Args:
        subject: the run; nothing of it is read.
        record: of the run.
        others: of runs that differ in their seed alone.
        uniform: of a run with uniform attention.
        proxy: of a run of the bag-of-words proxy; its last checkpoint counts.
        frozen: of a run that trains the attention alone.
        split: where agreement and performance are read, and the checkpoint is best.
        metric: the performance, `accuracy` or `bleu`.

    Returns:
        Scalars, each once for A and with the prefix `tau_` for Kendall's tau: for each agreement
        above its mean over rows (%), `_low` and `_high`, a 95 % bootstrap interval over examples,
        `_chance`, A-hat, `_ratio` to it, `_at`, the update of v's run where they agree most (means
        over runs of v), and of all but A(alpha, alpha_hat) `xi_<agreement>` and
        `xi_<agreement>_never`, 1 where the other runs never exceed it (the paper's "*"). And
        `xi_star`, the performance of this run at its best checkpoint (the text has the end of
        training, the authors' code this), `best_step`, and `final`, that of the last checkpoint.
        What needs a record that is not given has no value.
        Arrays: `step`, `performance_curve` and a curve of each agreement along training.

    Raises:
        ValueError: records that are not of the same texts.
    """
    given = [one for one in (uniform, frozen, proxy) if one is not None]
    _check([record, *others], given, split, metric)
    own = record.splits[split]
    best = own.best(metric)
    alpha = own.rows("alpha", best)
    performance = own.performance[metric]
    scalars: dict[str, Scalar] = {
        "xi_star": scalar(float(performance[best]), UNITS[metric], n=len(own.lengths)),
        "final": scalar(float(performance[-1]), UNITS[metric], n=len(own.lengths)),
        "best_step": scalar(int(record.steps[best]), "updates"),
    }
    performed = [one.splits[split].performance[metric] for one in others]
    arrays = {"step": record.steps.tolist(), "performance_curve": rounded(performance, 4)}
    for prefix, (compare, unit, scale) in MEASURES.items():
        ways = Ways(compare, own.lengths, split)
        hats = [ways.of(alpha, one, "alpha") for one in others]
        ways_of: dict[str, list[Way]] = {
            "alpha_beta": [ways.of(alpha, one, "beta") for one in others],
            "alpha_alpha": [
                ways.at(alpha, one, "alpha", one.splits[split].best(metric)) for one in others
            ],
        }
        if uniform is not None:
            us = {"alpha_uniform": alpha}
            if "delta" in own.ranks:
                us["delta_uniform"] = own.rows("delta", own.important.tolist().index(best))
            if proxy is not None:
                us["uniform_proxy"] = proxy.splits[split].rows("beta", len(proxy.steps) - 1)
            ways_of |= {name: [ways.of(u, uniform, "beta")] for name, u in us.items()}
        if frozen is not None:
            ways_of["alpha_frozen"] = [ways.of(alpha, frozen, "alpha")]
        for name in PAIRS:
            of_runs = ways_of.get(name, [])
            agreed = _scalars(of_runs, own.examples, unit, scale)
            if name != "alpha_alpha":  # alpha_hat never exceeds its own maximum but by rounding
                agreed |= _matched(of_runs, hats, performed, UNITS[metric])
            scalars |= {f"{prefix}{part.format(name)}": value for part, value in agreed.items()}
            arrays |= _curve(f"{prefix}{name}", of_runs)
        arrays |= _curve(f"{prefix}alpha_hat", hats)
    return Measured(scalars, arrays)


PAIRS = (
    *("alpha_uniform", "uniform_proxy", "delta_uniform"),
    *("alpha_beta", "alpha_frozen", "alpha_alpha"),
)


class Ways:
    """Compares rows of one split by one measure."""

    def __init__(self, compare: Compare, lengths: np.ndarray, split: str) -> None:
        self.compare, self.lengths, self.split = compare, lengths, split

    def of(self, u: np.ndarray, v: Record, quantity: str) -> Way:
        """How u agrees with each checkpoint of v."""
        places = range(len(v.splits[self.split].ranks[quantity]))
        rows = [self._rows(u, v, quantity, at) for at in places]
        curve = np.array([_mean(one) for one in rows])
        most = int(np.nan_to_num(curve, nan=-np.inf).argmax())
        return self._way(curve, rows[most], v, quantity, most)

    def at(self, u: np.ndarray, v: Record, quantity: str, at: int) -> Way:
        """How u agrees with one checkpoint of v."""
        rows = self._rows(u, v, quantity, at)
        return self._way(np.array([_mean(rows)]), rows, v, quantity, at)

    def _rows(self, u: np.ndarray, v: Record, quantity: str, at: int) -> np.ndarray:
        return self.compare(u, v.splits[self.split].rows(quantity, at), self.lengths).astype(float)

    def _way(self, curve: np.ndarray, rows: np.ndarray, v: Record, quantity: str, at: int) -> Way:
        baseline = None
        if self.compare is agreement:
            hits = chance(v.splits[self.split].rows(quantity, at), self.lengths)
            baseline = float(hits.mean())
        return Way(curve, rows, int(v.steps[at]), baseline)


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
    ways: Sequence[Way], examples: np.ndarray, unit: str, scale: float
) -> dict[str, Scalar]:
    """The mean of an agreement over rows, with its interval, its random baseline and its update."""
    values: dict[str, float | None] = dict.fromkeys(("{}", "{}_low", "{}_high", "{}_chance"))
    rows = np.mean([one.rows for one in ways], axis=0) if ways else np.array([np.nan])
    ratio = at = None
    if not np.isnan(rows).all():
        at = float(np.mean([one.step for one in ways]))
        low, high = bootstrap(rows, examples)
        values |= {"{}": _mean(rows), "{}_low": low, "{}_high": high, "{}_chance": 0.0}
        baselines = [one.chance for one in ways if one.chance is not None]
        if baselines:
            baseline = float(np.mean(baselines))
            values["{}_chance"], ratio = baseline, _mean(rows) / baseline
    scalars = {
        part: scalar(None if value is None else scale * value, unit, n=len(examples))
        for part, value in values.items()
    }
    return {**scalars, "{}_ratio": scalar(ratio, "times A-hat"), "{}_at": scalar(at, "updates")}


def _matched(
    ways: Sequence[Way], hats: Sequence[Way], performed: Sequence[np.ndarray], unit: str
) -> dict[str, Scalar]:
    """xi of an agreement: of the mean curves of the other runs, agreement and performance."""
    value = never = None
    if ways and hats:
        rows = np.mean([one.rows for one in ways], axis=0)
        along = np.mean([hat.curve for hat in hats], axis=0)
        if not np.isnan(rows).all():
            matched = xi(_mean(rows), along.tolist(), np.mean(performed, axis=0).tolist())
            value, never = matched.value, float(not matched.exceeded)
    return {"xi_{}": scalar(value, unit), "xi_{}_never": scalar(never, "fraction")}


def _curve(name: str, ways: Sequence[Way]) -> dict[str, list[float | None]]:
    """The mean curve of an agreement (%) along training, where the runs have one of it."""
    if not ways or len({len(way.curve) for way in ways}) > 1 or len(ways[0].curve) < 2:
        return {}
    return {f"{name}_curve": rounded(100 * np.mean([way.curve for way in ways], axis=0), 4)}


def _mean(rows: np.ndarray) -> float:
    known = rows[~np.isnan(rows)]
    return float(known.mean()) if len(known) else float("nan")


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
