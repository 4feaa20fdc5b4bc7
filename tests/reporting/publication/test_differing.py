"""The list of numbers that differ: each once, with how long it was trained, and why."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.reporting.synthetic import Results, printing
from workflow.reporting.cells import read_table, record
from workflow.reporting.prose import shortened
from workflow.reporting.publication import differing as module
from workflow.reporting.publication.differing import WORDS, furthest, numbers
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
    far = [one["far"] for one in listed]
    assert far == sorted(far, reverse=True) and min(far) > 2
    for one in listed:
        off = abs(one["mean"] - 0.5)
        assert one["far"] == pytest.approx(off / one["tolerance"])
        assert one["apart"] == f"{one['mean'] - 0.5:+.1f}"
        assert f"tolerance {one['tolerance']:.3g}" in one["note"]
    place = "uniform: discrete + penalty"
    shown = ("title", "page", "row", "expected", "n", "trained", "shorter")
    assert [tuple(one[name] for name in shown) for one in listed] == 2 * [
        ("Stack language", "discrete2020.md#stack_language", place, "0.5", 1, True, False)
    ]


def test_numbers_of_one_cause_are_together_and_the_furthest_comes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def number(name: str, mean: float, because: str, trained: bool = True) -> dict[str, Any]:
        cell = record(row=name, mean=mean, expected="10", tolerance=1.0, because=because)
        return {**cell, "trained": trained, "path": Path(name)}

    found = [
        number("exact", 99999.0, "C.", trained=False),
        number("near", 13.0, "A."),
        number("far", 30.0, "B."),
        number("mid", 5.0, "A."),
    ]
    monkeypatch.setattr(module, "differing", lambda folder: pd.DataFrame(found, dtype=object))
    for name in ("title_of", "page_of"):
        monkeypatch.setattr(module, name, str)
    shown = [(one["row"], one["apart"], one["tolerances"], one["why"]) for one in numbers(Path())]
    assert shown == [
        ("far", "+20", "20.0", "B."),
        ("mid", "-5", "5.0", "A."),
        ("near", "+3", "3.0", "as above"),
        ("exact", "+99,989", "exact", "C."),
    ]
    worst, *_, exact = numbers(Path())
    assert "[far](far), far, " in furthest([worst]) and " 20.0 tolerances away." in furthest(
        [worst]
    )
    assert furthest([exact]) == furthest([]) == ""
