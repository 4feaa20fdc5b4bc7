"""Which published runs are of today's code, where lines say that other code does the same."""

from typing import Any

import pytest

from tests import sealing
from tests.equivalent import accept, line
from tests.reporting.synthetic import Results
from workflow.planning.equivalents import STATED
from workflow.reporting.publication.current import ON_GPU, OTHER_ON_GPU, on_gpu, planned
from workflow.reporting.publication.results import combine, given, measured, with_staleness
from workflow.runtime.errors import ReportingError

SOFT = "text_classification/sst_soft/seed-0"


def judged_after(
    results: Results, patch: pytest.MonkeyPatch, device: str, *lines: tuple[str, ...]
) -> str | None:
    """Return why a run, trained and measured by code that lines lead on from, does not count.

    In them `ran` is the code of the run, `measured` that of its evaluator, `now` and `measures`
    are those of today.
    """
    accept(patch)
    results.add("text_classification", "sst_soft", 0)
    run, now = results.plan.run("text_classification", "sst_soft", 0), planned(results.plan)
    node = results.plan.evaluators(run)["accuracy"]
    names = {"ran": "1" * 16, "measured": "2" * 16, "between": "3" * 16}
    names |= {"now": results.plan.draft(run)["code"], "measures": node["code"]}
    (result,) = given(results.plan, now).values()
    result.run["spec"]["code"] = result.run["code"] = names["ran"]
    result.run["device"] = device
    result.measures["evaluators"]["accuracy"]["code"] = names["measured"]
    accept(patch, *(line(names[old], names[new], *more) for old, new, *more in lines))
    return with_staleness({SOFT: result}, planned(results.plan))[SOFT].stale


CHANGED = ("same bits", "2026-12-01", "changed")
MEASURES = ("measured", "measures")


@pytest.mark.parametrize(
    ("device", "lines", "reason"),
    [
        ("cpu", [], "of other code and measuring code"),
        ("cpu", [("ran", "now")], "of other measuring code"),
        ("cpu", [("ran", "now", *CHANGED), MEASURES], None),
        ("cpu", [("ran", "now", STATED), ("measured", "measures", STATED)], None),
        ("a GPU", [("ran", "between"), ("between", "now"), MEASURES], None),
        ("a GPU", [("ran", "between"), ("between", "now", *CHANGED), MEASURES], OTHER_ON_GPU),
        ("a GPU", [("ran", "now"), (*MEASURES, *CHANGED)], OTHER_ON_GPU),
        ("a GPU", [("ran", "now", STATED), MEASURES], OTHER_ON_GPU),
    ],
)
def test_a_run_behind_lines_of_equivalence_counts(
    results: Results, monkeypatch: pytest.MonkeyPatch, device: str, lines: list, reason: str | None
) -> None:
    assert judged_after(results, monkeypatch, device, *lines) == reason


def test_of_a_run_of_a_gpu_all_code_counts_that_had_a_part_in_it() -> None:
    run = {"device": "a GPU", "code": "c", "spec": {"code": "a"}, "began": {"code": "a"}}
    run |= {"continuations": [{"code": "b"}, {}]}
    evaluators = {"one": {"code": "m", "ran": "n"}, "other": {"code": "o", "built": "d"}}
    told = {"": {"a", "b", "c", "d"}, "one": {"n"}, "other": {"o"}}
    assert on_gpu(run, evaluators) == {ON_GPU: told}
    assert on_gpu(run | {"device": "cpu"}, evaluators) == {}


def test_a_run_of_other_code_on_a_gpu_is_trained_again(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store would still find it, so it has to be forgotten; then the new one is published."""
    accept(monkeypatch)
    results.add("text_classification", "sst_soft", 0)
    (run,) = results.runs
    today = results.plan.draft(results.plan.run("text_classification", "sst_soft", 0))["code"]
    accept(monkeypatch, line("1" * 16, today, gpu="changed"))

    def ran(code: str, device: str) -> None:
        def change(record: dict[str, Any]) -> None:
            record |= {"code": code, "device": device}
            record["spec"]["code"] = "1" * 16

        sealing.change(run, change)

    ran("1" * 16, "a GPU")
    now = planned(results.plan)
    with pytest.raises(ReportingError, match=rf"{OTHER_ON_GPU}; make forget RUN=\w+, run this"):
        given(results.plan, now)
    old = with_staleness({SOFT: measured(results.plan, SOFT)}, now)
    assert old[SOFT].stale == OTHER_ON_GPU
    ran("1" * 16, "cpu")
    new = given(results.plan, now)
    assert with_staleness(combine(old, new), now)[SOFT].stale is None
