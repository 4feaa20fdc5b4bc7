"""The list of numbers that differ: each once, with how long it was trained, and why."""

from pathlib import Path

from tests.reporting.synthetic import Results, printing
from workflow.reporting.cells import read_table
from workflow.reporting.prose import shortened
from workflow.reporting.publication.differing import WORDS, numbers
from workflow.reporting.tables.tabulating import tabulate


def test_numbers_that_differ_are_listed_once_with_their_cause(tmp_path: Path) -> None:
    """Two papers print the same recall; of precision the table knows no cause."""
    results = Results(tmp_path / "results", "lite")
    results.add("stack_language", "uniform_discrete_penalty", 0)
    paper = printing("precision", "recall", text="0.5")
    folder = tmp_path / "lite"
    name = "tables/discrete_transformer/stack_language"
    tabulate(paper, "stack_language", "lite", results.read(), folder / name)
    differ = read_table(folder / f"{name}.csv").cells.query("verdict == 'differs'")
    assert sorted(differ["metric"]) == ["precision", "precision", "recall", "recall"]
    (said,) = paper.tables["tables"]["stack_language"]["differs"]
    causes = {"precision": "No cause is known.", "recall": shortened(said["because"], WORDS)[0]}
    ours = dict(zip(differ["metric"], differ["mean"].map("{:.1f}".format), strict=True))
    listed = numbers(folder)
    assert {one["metric"]: (one["ours"], one["why"]) for one in listed} == {
        metric: (ours[metric], why) for metric, why in causes.items()
    }
    place = "uniform: discrete + penalty"
    shown = ("title", "page", "row", "expected", "n", "trained", "shorter")
    assert [tuple(one[name] for name in shown) for one in listed] == 2 * [
        ("Stack language", "discrete2020.md#stack_language", place, "0.5", 1, True, False)
    ]
