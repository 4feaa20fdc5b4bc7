"""What no measure can be is refused, and everything that was published can be."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.reporting.synthetic import laid_out, lines, one_run, scalar, shown, toy, toy_table
from workflow import PUBLISHED
from workflow.reporting.bounds import beyond, bounds_of
from workflow.reporting.claims.judging import _within
from workflow.reporting.measures import EvaluatedRun
from workflow.reporting.publication.results import published
from workflow.reporting.statistics.aggregates import over_runs, within
from workflow.reporting.statistics.decisions import Decision
from workflow.reporting.statistics.verdict import Ours

FLOOR = 0.884
SENTENCE = "0.379 below the entropy of the text (0.884), more than 4 standard errors"


def modelled(nll: float, n: int = 150_000) -> dict[str, Any]:
    """Return the scalars of a language model's evaluator."""
    return {
        "nll": scalar(nll, "nats/token", n=n),
        "floor": scalar(FLOOR, "nats/token"),
        "excess": scalar(nll - FLOOR, "nats/token"),
    }


def seen(seed: int, nll: float) -> EvaluatedRun:
    """Return a run with that loss."""
    run = one_run("future", seed)
    return replace(run, evaluators={"language_modelling": {"scalars": modelled(nll)}})


def test_a_loss_below_the_entropy_is_refused() -> None:
    """A mechanism that saw the future got .505, and was the best row of its table."""
    assert all(SENTENCE in beyond(modelled(0.505), name) for name in ("nll", "excess"))
    assert not beyond(modelled(0.505), "floor")
    assert not any(beyond(modelled(FLOOR - 0.0007), name) for name in modelled(0))
    assert beyond(modelled(FLOOR - 0.02), "nll")
    assert not beyond(modelled(FLOOR - 0.02, n=30_000), "nll")  # a small sample


@pytest.mark.parametrize(
    ("value", "unit", "metric", "refused"),
    [
        (100.00001, "%", "bleu", False),
        (100.1, "%", "bleu", True),
        (-0.1, "%", "bleu", True),
        (1.01, "fraction", "f1", True),
        (1.01, "fraction", "attention", False),  # ReLA's weights have no sum
        (-0.4, "probability", "sufficiency", False),
        (1.1, "tau", "tau_norm", True),
        (140.0, "x100", "cider", False),
        (None, "%", "accuracy", False),
        ("needs java", "%", "meteor", False),
    ],
)
def test_units_have_bounds(value: Any, unit: str, metric: str, refused: bool) -> None:
    told = {metric: {"value": value, "unit": unit}}
    assert bool(beyond(told, metric)) == refused


def test_an_interval_ends_where_its_value_has_to() -> None:
    wide = over_runs(Ours(3, 96.0, 9.0))
    assert (wide["ci_low"], wide["ci_high"]) == pytest.approx((73.643, 118.357), abs=1e-3)
    assert within(wide, *bounds_of("%", "accuracy")) == {**wide, "ci_high": 100}
    assert within(wide, *bounds_of("nats", "log_odds")) == wide
    late = over_runs(Ours(3, 9.0, 9.0))
    assert within(late, *bounds_of("updates", "copied_at")) == {**late, "ci_low": 0}
    weights = over_runs(Ours(3, 0.33, 0.58))
    free = within(weights, *bounds_of("fraction", "attention", [0.0, 1.2]))
    assert free == weights == within(weights, *bounds_of("fraction", "attention"))
    shares = within(weights, *bounds_of("fraction", "attention", [0.0, 1.0]))
    assert (shares["ci_low"], shares["ci_high"]) == (0, 1)
    assert within(over_runs(Ours(1, 96.0)), 0, 1)["ci_high"] is None


@pytest.mark.parametrize(
    ("right", "others", "ends"),
    [
        ({"variant": "other"}, [], (-0.9, 1)),
        ({"variant": "other"}, [0.25, 0.3], (-0.9, 1)),
        ({"variant": "other"}, [0.25], (-0.9, 1)),
        ({"variant": "other"}, [0.25, 0.25], (-0.25, 0.75)),
        ({"value": 0.25}, [], (-0.25, 0.75)),
    ],
)
def test_the_interval_of_a_difference_ends_where_both_sides_have_to(
    right: dict[str, Any], others: list[float], ends: tuple[float, float]
) -> None:
    decision = Decision("undecided", "", 0.3, -0.9, 1.5, 2)
    claim = {"measure": "probe.share", "left": {}, "right": right, "over": "runs"}
    runs = [one_run("other", seed, {"share": value}) for seed, value in enumerate(others)]
    found = _within(claim, decision, "fraction", runs)  # type: ignore[arg-type]
    assert (found.ci_low, found.ci_high) == ends
    assert _within(claim, decision, "nats", runs) == decision  # type: ignore[arg-type]


def test_what_is_impossible_is_in_no_table() -> None:
    metrics = {"nll": {"measure": "language_modelling.nll", "label": "NLL", "digits": 3}}
    columns = [{"id": "nll", "label": "NLL", "metrics": ["nll"], "format": "{nll}"}]
    made = toy_table(metrics, columns, [{"id": "future", "label": "future"}])
    table = toy(made, [seen(0, 0.505)])
    (cell,) = lines(table)
    assert cell["mean"] == "undefined" and cell["verdict"] == "not comparable"
    said = f"language_modelling.nll of toy/future/seed-0 is 0.505, so that the loss is {SENTENCE}"
    assert said in cell["note"]
    grid = laid_out(made, table)
    assert shown(made, table) == [["future", "–"]]
    assert any(line.startswith(f"Left out, as it is impossible: {said}") for line in grid.below)
    (cell,) = lines(toy(made, [seen(0, 0.505), seen(1, 0.9)]))
    assert (cell["mean"], cell["n"]) == ("0.9", "1") and said in cell["note"]


@pytest.mark.parametrize(
    ("losses", "marked"),
    [({"first": 1.61, "last": 1.7e7}, True), ({"first": 1.61, "last": 1.2}, False), ({}, False)],
)
def test_a_training_that_diverged_has_its_mark(losses: dict[str, float], marked: bool) -> None:
    """A rate of 1e9 ends with finite weights."""
    metrics = {"m": {"measure": "probe.m", "label": "m", "digits": 2}}
    columns = [{"id": "m", "label": "m", "metrics": ["m"], "format": "{m}"}]
    made = toy_table(metrics, columns, [{"id": one, "label": one} for one in ("wild", "tame")])
    runs = [replace(one_run("wild", 0, {"m": 0.2}), losses=losses), one_run("tame", 0, {"m": 0.9})]
    table = toy(made, runs)
    grid = laid_out(made, table)
    assert shown(made, table) == [["wild", "0.20 †" if marked else "0.20"], ["tame", "0.90"]]
    said = "the loss of toy/wild/seed-0 rose in training (1.7e+07 after 1.61 at its first updates)"
    assert (said in lines(table)[0]["note"]) == marked and said not in lines(table)[1]["note"]
    assert any(line.startswith(f"† {said}") for line in grid.below) == marked


SCALES = sorted(PUBLISHED.glob("*/index.json"))


@pytest.mark.parametrize("folder", SCALES, ids=lambda it: it.parent.name)
def test_nothing_published_is_impossible(folder: Path) -> None:
    for result in published(folder.parent).values():
        measure = result.measure
        for name, told in measure.evaluators.items():
            assert not [one for one in told["scalars"] if measure.impossible(f"{name}.{one}")]
