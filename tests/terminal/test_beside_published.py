"""After a run its numbers are compared with the published ones, where there are any."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from tests.reporting.synthetic import Results, plan_of
from tests.sealing import change
from workflow.reporting.measures import EvaluatedRun
from workflow.terminal import beside_published as beside
from workflow.terminal import closing
from workflow.terminal.progress import JobProgress

TABLE = "results/lite/tables/discrete_transformer/stack_language.csv"
FIELD = "receptive_field"
PAIR = ("stack_language", "uniform_soft")


def results(folder: Path, *seeds: int, variants: Sequence[str] = PAIR[1:]) -> Results:
    """Return results of a few runs."""
    made = Results(folder, "lite")
    for seed in seeds:
        for variant in variants:
            made.add("stack_language", variant, seed)
    return made


def publish(
    monkeypatch: pytest.MonkeyPatch, runs: Iterable[EvaluatedRun], stale: str | None = None
) -> None:
    """Let these runs be what is published."""
    found = {one.key: SimpleNamespace(measure=one, stale=stale) for one in runs}
    monkeypatch.setattr(beside, "published", lambda folder: found)


@pytest.fixture
def before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[EvaluatedRun]:
    """Return the published runs of a variant."""
    runs = results(tmp_path / "published", *range(10, 15)).read().of(*PAIR)
    publish(monkeypatch, runs)
    return runs


@pytest.fixture
def made(tmp_path: Path) -> Results:
    """Return results of that variant and of another."""
    return results(tmp_path / "made", 0, 1, 2, variants=["uniform_soft", "uniform_discrete"])


def test_each_published_number_has_a_line(before: list[EvaluatedRun], made: Results) -> None:
    head, *lines = beside.beside_published(made.plan, [TABLE])
    assert head.startswith(f"Published: {len(lines)} numbers of these tables, ")
    assert all(line.startswith("  stack_language, uniform: soft: ") for line in lines)
    old, new = (
        [one.number(f"{FIELD}.f1") or 0 for one in side] for side in (before, made.read().of(*PAIR))
    )
    # By scipy alone: the mean of three more values, beside five.
    half = stats.t.ppf(0.975, 4) * np.std(old, ddof=1) * math.sqrt(1 / 3 + 1 / 5)
    word = "within" if abs(np.mean(new) - np.mean(old)) <= half else "outside"
    (line,) = (line for line in lines if ": F1 " in line)
    assert line.endswith(
        f": F1 {np.mean(new):.3f}, published {np.mean(old):.3f} ± {half:.3f}: {word}"
    )


@pytest.mark.usefixtures("before")
def test_what_is_outside_comes_first(made: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in made.measures:
        change(file, lambda it: it["evaluators"][FIELD]["scalars"]["exact"].update(value=0.9))
    monkeypatch.setattr(beside, "SHOWN", 1)
    head, first, more = beside.beside_published(made.plan, [TABLE])
    assert "exact spans 0.900" in first and first.endswith(": outside")
    count = int(head.split()[1])
    assert more == f"  and {count - 1} more" and ", 0 outside" not in head


def test_one_published_seed_has_a_difference(
    before: list[EvaluatedRun], made: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, before[:1])
    _, *lines = beside.beside_published(made.plan, [TABLE])
    assert all(": one seed, difference " in line for line in lines)


@pytest.mark.parametrize("what", ["stale", "other table", "not made"])
def test_nothing_is_said_where_nothing_can_be_compared(
    before: list[EvaluatedRun],
    made: Results,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
) -> None:
    plan, table = made.plan, TABLE
    if what == "stale":
        publish(monkeypatch, before, "of other code")
    elif what == "other table":
        table = table.replace("stack_language", "table_6_1")
    else:
        plan = plan_of(tmp_path / "empty")
    assert beside.beside_published(plan, [table]) == []


@pytest.mark.parametrize("config", [{"scale": "demo"}, {"scale": "lite", "limit": 200}])
def test_a_demo_and_a_trial_on_few_examples_are_not_compared(
    tmp_path: Path, config: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(beside, "measured")
    assert beside.beside_published(plan_of(tmp_path, **config), [TABLE]) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("asked", [["stack_language"], []])
def test_a_part_ends_with_it_and_the_whole_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[str]
) -> None:
    csv = tmp_path / "stack_language.csv"
    csv.touch()
    monkeypatch.setattr(closing, "tables_of", lambda plan, asked: [str(csv.with_suffix(".md"))])
    monkeypatch.setattr(closing, "first_rows", lambda plan, csv: [])
    monkeypatch.setattr(closing, "beside_published", lambda plan, tables: [*tables])
    said = closing.closing(plan_of(tmp_path), JobProgress(), asked)
    assert (str(csv) in said) == bool(asked)
