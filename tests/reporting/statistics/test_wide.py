"""Tolerances so wide that a verdict says little: nearly any run meets them, or chance does."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.reporting.synthetic import one_run, scalar
from workflow.definitions.expected import Printed
from workflow.definitions.paper import Paper
from workflow.files import read_csv, read_json
from workflow.reporting.measures import Measure, Measures
from workflow.reporting.publication.counting import comparisons
from workflow.reporting.statistics.verdict import Verdict
from workflow.reporting.tables.tabulating import tabulate


def imdb(seed: int, **values: float) -> Measure:
    """Return a run of IMDB's attention, with some values of `validation`."""
    scalars = {name: scalar(value, "%", n=2000) for name, value in values.items()}
    labels = {"experiment": "classification_learning", "variant": "imdb_attention"}
    return replace(
        one_run("imdb_attention", seed),
        run={**labels, "seed": seed, "data": {"dataset": "imdb"}},
        evaluators={"validation": {"scalars": scalars, "arrays": {}}},
    )


def table_2(folder: Path, *behind: Measure) -> Path:
    """Write the table that prints a tau (x100) of 12.77 for IMDB."""
    path = folder / "tables/p/table_2"
    tabulate(Paper("attention_learning"), "table_2", "lite", Measures(behind), path)
    return path


@pytest.mark.parametrize(("chances", "wide"), [((5, 5), False), ((8, 3), True), ((6, 6), True)])
def test_chance_within_the_tolerance_makes_it_wide(
    tmp_path: Path, chances: tuple[float, float], wide: bool
) -> None:
    """That of two runs is 2 * 3 * sqrt(3 / 2) + .005 = 7.353, so it ends at 5.417."""
    runs = [
        imdb(seed, tau_alpha_uniform=12 + seed, tau_alpha_uniform_chance=chance)
        for seed, chance in enumerate(chances)
    ]
    path = table_2(tmp_path, *runs)
    (found,) = [one for one in comparisons(tmp_path) if one.verdict == "reproduced"]
    assert found.wide == wide
    (note,) = [one["note"] for one in read_csv(path.with_suffix(".csv")) if one["n"]]
    chance = f"; chance ({sum(chances) / 2:.3g}) lies within the tolerance;"
    assert (chance in note) == wide and ("chance" in note) == wide


def test_a_metric_that_nearly_any_run_meets_is_wide_without_a_chance(tmp_path: Path) -> None:
    path = table_2(tmp_path, imdb(0, tau_alpha_uniform=12, tau_xi_alpha_uniform=80))
    cells = read_json(path.with_suffix(".json"))["cells"]
    measured = {cell["metric"]: cell["wide"] for cell in cells if cell["runs"]}
    assert not measured["tau_alpha_uniform"] and measured["tau_xi_alpha_uniform"]


def test_only_an_applied_tolerance_is_met() -> None:
    judged = Verdict("close", "", 2.0)
    met = [judged.met_by(value, Printed("10.0")) for value in (7.9, 8, 12, 12.1)]
    assert met == [False, True, True, False]
    assert not Verdict("not comparable", "").met_by(10.0, Printed("10.0"))
    assert not judged.met_by(10.0, Printed("10 words"))
