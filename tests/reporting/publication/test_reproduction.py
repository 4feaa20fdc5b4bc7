"""A row made anew: which runs that takes, and each number beside the published seeds."""

import math
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.reporting.synthetic import Results, plan_of
from workflow.commands.reproduce import blas, refuse_missing, status_of
from workflow.definitions.paper import Paper
from workflow.planning.plan import Plan
from workflow.reporting.measures import Measures
from workflow.reporting.publication.reproduction import (
    HEAD,
    AddressedRow,
    ReproducedNumber,
    append,
    check_appendable,
    compare,
    line,
)
from workflow.reporting.statistics.intervals import prediction
from workflow.reporting.statistics.verdict import Tolerance
from workflow.runtime.errors import InputError

ROOT = Path(__file__).resolve().parents[3]
PAPERS = Paper.all()
SST = "discrete_transformer/table_6_1/sst"


@pytest.fixture
def plan(results: Results) -> Plan:
    return plan_of(results.folder.parent)


def measured(results: Results, *seeds: int, variant: str = "sst_soft") -> Measures:
    for seed in seeds:
        results.add("text_classification", variant, seed)
    return results.read()


def test_the_prediction_interval_is_students() -> None:
    values = np.random.default_rng(0).normal(3, 2, 7).tolist()
    scale = stats.sem(values) * math.sqrt(7 + 1)
    expected = stats.t.interval(0.95, 6, np.mean(values), scale)
    assert prediction(values) == pytest.approx(expected)
    # By hand: the 97.5 % quantile of t of two degrees of freedom is 4.30265.
    expected = (2 - 4.30265 * math.sqrt(4 / 3), 2 + 4.96827)
    assert prediction([1, 2, 3]) == pytest.approx(expected, 1e-5)
    assert prediction([1.0]) is None and prediction([]) is None
    # Of the mean of three more values it is narrower: sqrt(1/3 + 1/3) in the place of sqrt(4/3).
    assert prediction([1, 2, 3], 3) == pytest.approx((2 - 3.51310, 2 + 3.51310), 1e-5)


def test_the_interval_holds_one_more_value_19_times_of_20() -> None:
    random = np.random.default_rng(1)
    held = 0
    for *published, new in random.normal(5, 3, (4000, 5)):
        low, high = prediction(published) or (0, 0)
        held += low <= new <= high
    assert held / 4000 == pytest.approx(0.95, abs=0.012)


@pytest.mark.parametrize(
    ("value", "published", "rule", "word", "beside"),
    [
        (2.0, [1.0, 2.0, 3.0], None, "within", "[-2.96828, 6.96828]"),
        (7.0, [1.0, 2.0, 3.0], None, "outside", "[-2.96828, 6.96828]"),
        (0.1, [0.1] * 3, None, "within", "[0.1, 0.1]"),
        (0.0, [1.0] * 20, None, "outside", "[1, 1]"),
        (2.5, [2.0], None, "one seed", "difference +0.5"),
        (2.5, [2.0], {"seed_std": 0.2}, "one seed", "difference +0.5, tolerance 0.566 (within)"),
        (1.0, [2.0], {"seed_std": 0.2}, "one seed", "difference -1, tolerance 0.566 (beyond)"),
        (2.5, [2.0], {"seed_std": 0.2, "sampling": "binomial"}, "one seed", "difference +0.5"),
        (2.5, [2.0], {"seed_std": 0}, "one seed", "difference +0.5"),
        ("a, b", ["a, b"], None, "same text", "as a, b"),
        ("a, c", ["a, b"], None, "other text", "as a, b"),
    ],
)
def test_a_number_is_judged(
    value: float | str, published: list[Any], rule: dict[str, Any] | None, word: str, beside: str
) -> None:
    one = ReproducedNumber("a/x", value, published, Tolerance.of(rule) if rule else None)
    assert (one.word, one.beside) == (word, beside)


def test_the_new_seed_is_the_first_that_is_not_published(results: Results, plan: Plan) -> None:
    row = AddressedRow.at(SST, PAPERS)
    before = measured(results, 0, 1)
    assert [run.key for run in row.runs(plan, before)] == ["text_classification/sst_soft/seed-2"]
    assert [run.seed for run in row.runs(plan, before, 9)] == [9]
    with pytest.raises(InputError, match=r"SEED=-1: must be 0 or more, such as 2$"):
        row.runs(plan, before, -1)
    with pytest.raises(InputError, match=r"SEED=1 is published of .*; name another, such as 2$"):
        row.runs(plan, before, 1)


def test_every_cell_is_beside_the_published_seeds(results: Results, tmp_path: Path) -> None:
    row, before = AddressedRow.at(SST, PAPERS), measured(results, 0, 1, 2)
    other = Results(tmp_path / "other", "lite")
    new = measured(other, 7)
    found = {one.cell: one for one in compare(row, before, new)}
    assert len(found) >= 2 and {one.word for one in found.values()} <= {"within", "outside"}
    name = "accuracy.accuracy"
    published = [one.number(name) for one in before.of("text_classification", "sst_soft")]
    (value,) = (one.number(name) for one in new.of("text_classification", "sst_soft"))
    scale = np.std(published, ddof=1) * math.sqrt(1 + 1 / 3)
    low, high = stats.t.interval(0.95, 2, np.mean(published), scale)
    (one,) = (one for cell, one in found.items() if cell.endswith("/accuracy"))
    assert one.value == value and one.word == ("within" if low <= value <= high else "outside")
    assert one.beside == f"[{low:.6g}, {high:.6g}]"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("table_6_1", r'ROW="table_6_1": write <paper>/<table>/<row>'),
        ("a/b/c", 'ROW: unknown paper "a"'),
        ("discrete_transformer/table_61/x", 'unknown table "table_61" .* did you mean "table_6_1"'),
        ("discrete_transformer/table_6_1/sst_dto", 'unknown row "sst_dto" .*did you mean "sst_dot'),
    ],
)
def test_a_mistyped_row_is_named_with_the_nearest(address: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        AddressedRow.at(address, PAPERS)


def test_a_row_that_is_not_published_or_not_run_is_refused(plan: Plan) -> None:
    nothing = Measures([])
    with pytest.raises(InputError, match="nothing of it is published at scale lite"):
        AddressedRow.at(SST, PAPERS).runs(plan, nothing)
    row = AddressedRow.at("explicit_sparse/table_1/convs2s", PAPERS)
    with pytest.raises(InputError, match="scale lite does not run it"):
        row.runs(plan, nothing)


def test_a_row_of_data_to_get_by_hand_names_the_file(plan: Plan) -> None:
    run = plan.run("classification_learning", "yelp_attention", 0)
    with pytest.raises(InputError, match=r"yelp/\S+ can't be downloaded; get it from https://"):
        refuse_missing(plan, [run])


@pytest.mark.parametrize("address", [f"{SST}/", SST.replace("discrete_transformer", "kinley2020")])
def test_a_row_may_end_in_a_slash_or_begin_with_the_papers_key(address: str) -> None:
    assert AddressedRow.at(address, PAPERS).address == SST


def test_a_log_that_takes_no_line_is_refused(tmp_path: Path) -> None:
    check_appendable(tmp_path / "LOG.md")
    append(tmp_path / "LOG.md", "| a |\n")
    assert (tmp_path / "LOG.md").read_text() == HEAD + "| a |\n"
    with pytest.raises(InputError, match=f"^{tmp_path}: Is a directory, so no line can be added"):
        check_appendable(tmp_path)


def test_what_is_interrupted_ends_in_its_own_time(tmp_path: Path) -> None:
    made = tmp_path / "saved"
    slow = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "try:\n    os.kill(os.getppid(), signal.SIGINT); time.sleep(1); os.kill(os.getpid(), 2)\n"
        f"except KeyboardInterrupt:\n    time.sleep(1); open({str(made)!r}, 'w').close()\n"
        "sys.exit(3)"
    )
    # A process that was begun in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert status_of([sys.executable, "-c", slow]) == 3 and made.is_file()
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_line_of_the_log(tmp_path: Path) -> None:
    row = AddressedRow.at(SST, PAPERS)
    run = {"commit": "c" * 40, "dirty": True, "cpu": "A|B", "cores": 2, "device": "cpu"}
    run |= {"torch": "2.13.0", "spec": {"run": {"seed": 3}}}
    found = [
        ReproducedNumber("a/x", 2.0, [1.0, 2.0, 3.0]),
        ReproducedNumber("b/x", 7.0, [1.0, 2.0, 3.0]),
        ReproducedNumber("c/x", 5.0, [4.0]),
    ]
    added = line(row, found, run, "2026-11-25", "mkl")
    for count in (1, 2):
        append(tmp_path / "LOG.md", added)
        assert (tmp_path / "LOG.md").read_text() == HEAD + count * added
    cells = [cell.strip() for cell in added.strip().strip("|").split("|")]
    assert cells[1:8] == [
        "`cccccccccc` (changed)",
        f"`{SST}`",
        "3",
        "A/B, 2 cores (cpu)",
        "2.13.0",
        "mkl",
        "1 of 2",
    ]
    bounds = "[-2.96828, 6.96828]"
    last = "c/x 5 one seed difference +1"
    assert cells[8] == f"a/x 2 within {bounds}; b/x 7 outside {bounds}; {last}"


LOST = {
    "converged/converged",
    "failed/failed",
    "learning/learning",
    "accuracy/copying_accuracy",
    "attention/attention",
}
"""Cells of lines in the log, in columns that their tables no longer have."""


def test_the_published_log_is_of_rows_that_there_are() -> None:
    log = (ROOT / "docs/reproduction/LOG.md").read_text()
    assert log.startswith(HEAD)
    lines = log.removeprefix(HEAD).splitlines()
    assert len(lines) >= 3
    for one in lines:
        cells = [cell.strip() for cell in one.strip("|").split("|")]
        row = AddressedRow.at(cells[2].strip("`"), PAPERS)
        known = {cell for cell, _, _ in row.cells()}
        told = [said.split()[:3] for said in cells[8].split("; ")]
        assert {cell for cell, _, _ in told} <= known | LOST
        counted = [word for _, _, word in told if word in ("within", "outside")]
        assert cells[7] == f"{counted.count('within')} of {len(counted)}"


def test_torch_says_its_library() -> None:
    assert all(blas().split(", "))
