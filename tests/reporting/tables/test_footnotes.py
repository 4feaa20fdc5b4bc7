"""What a table says below itself of the runs behind it."""

import pytest

from workflow.reporting.cells import frame, record
from workflow.reporting.tables.footnotes import not_run, runs_behind, trained_on, unequal


@pytest.mark.parametrize(
    ("absent", "said"),
    [
        ([], ""),
        ([("", "a"), ("", "b: c")], "Not run: a; b: c."),
        ([("", name) for name in "1235a78"], "Not run: 1 to 3; 5; a; 7 to 8."),
        ([("x", "a"), ("of y", "a"), ("x", "b")], "Not run (x): a; b. Not run (of y): a."),
    ],
)
def test_rows_that_were_not_run_are_named_shortly(absent: list[tuple[str, str]], said: str) -> None:
    assert not_run(absent) == said


@pytest.mark.parametrize(
    ("cells", "warned"),
    [
        ([(3, 0.1, "mean"), (2, 0.2, "mean")], True),
        ([(3, 0.1, "mean"), (1, None, "single")], True),
        ([(3, 0.1, "mean"), (3, 0.2, "mean")], False),
        ([(3, 0, "mean"), (2, 0, "mean")], False),
        ([(20, None, "mean"), (5, None, "mean")], False),
    ],
)
def test_rows_over_different_seeds_are_told(
    cells: list[tuple[int, float | None, str]], warned: bool
) -> None:
    """A count has no spread, and how often something happens is not compared seed by seed."""
    column = [
        record(column="x", spread_over="runs", n=n, std=std, statistic=statistic)
        for n, std, statistic in cells
    ]
    other = record(column="y", spread_over="runs", n=9, std=1.0, statistic="mean")
    assert bool(unequal(frame([other, *column]))) == warned


@pytest.mark.parametrize(
    ("behind", "said"),
    [
        ({"a": (3, 3), "b": (3, 3)}, "3 runs."),
        ({"a": (3, 3), "b": (1, 1)}, "3 runs, but row “b” over 1."),
        ({"a": (1, 1), "b": (0, 0)}, "1 run."),
        (
            {"a": (3, 3), "b": (1, 1), "c": (3, 3), "d": (2, 2), "e": (1, 1), "f": (3, 3)},
            "3 runs, but rows “b”, “e” over 1; row “d” over 2.",
        ),
        (
            {"a": (2, 2), "b": (1, 2), "c": (5, 1), "d": (2, 0), "e": (5, 0)},
            "2 runs, but rows “c”, “e” over 5. Some cells are over fewer: `n` in the CSV.",
        ),
        (
            {"a": (2, 1), "b": (2, 1), "c": (2, 2), "d": (2, 1)},
            "2 runs. Some cells are over fewer: `n` in the CSV.",
        ),
        (
            {f"r{n}": (2, 2) for n in range(10)} | {f"s{n}": (5, 5) for n in range(9)},
            "2 runs, but 9 rows over 5.",
        ),
    ],
)
def test_the_runs_behind_cells_are_counted(behind: dict[str, tuple[int, int]], said: str) -> None:
    cells = [
        record(spread_over="runs", row=row, column=column, n=n or None)
        for row, counts in behind.items()
        for column, n in zip("xy", counts, strict=True)
    ]
    cells.append(record(spread_over="examples", row="a", column="x", n=900))
    assert runs_behind(frame(cells)) == f"Each cell of ours is over {said}"
    assert runs_behind(frame(cells[-1:])) == ""


def test_hardware_and_precision_are_said() -> None:
    cpu = {"cpu": "a CPU", "device": "cpu", "precision": "bf16"}
    other = {**cpu, "device": "a GPU", "precision": "fp32"}
    assert trained_on({}) == ""
    assert trained_on({"1": cpu, "2": cpu}) == "Trained on a CPU in bf16."
    both = trained_on({"1": other, "2": cpu, "3": cpu})
    assert both == "Trained on a CPU in bf16 (2 runs), a GPU in fp32 (1 run)."
