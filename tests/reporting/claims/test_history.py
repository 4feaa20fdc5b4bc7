"""The history of claims: what changed between publications, and whether results were known."""

from pathlib import Path
from typing import Any

import pytest

from tests.reporting.claims.test_claims_table import claim
from workflow.files import read_history, read_json, write_json
from workflow.reporting.claims.history import (
    NAME,
    after_results,
    changes,
    claims_of,
    extended,
)
from workflow.reporting.claims.judged import JudgedClaim

LITE = Path(__file__).resolve().parents[3] / "docs/reproduction/lite"


def judged(name: str, *runs: str, **more: Any) -> JudgedClaim:
    return claim(id=name, runs=list(runs), **more)


@pytest.mark.parametrize(
    ("part", "old", "new", "kind"),
    [
        ("claim", "A is better.", "A is worse.", "reworded"),
        ("margin", 0.3, 0.2, "asked otherwise"),
        ("direction", "greater", "less", "asked otherwise"),
        ("interest", None, 0.5, "asked otherwise"),
        ("over", "runs", "examples", "asked otherwise"),
    ],
)
def test_a_changed_part_is_counted(part: str, old: Any, new: Any, kind: str) -> None:
    before, after = ([judged("a", "r1", **{part: value}), judged("b")] for value in (old, new))
    found = changes(before, after, {"r1"})
    assert found == [{"claim": "a", "part": part, "old": old, "new": new, "results": "after"}]
    history = extended([], found, "2026-01-02")
    assert after_results(history) == {kind: 1}
    assert changes(before, after, {"r2"})[0]["results"] == "before"
    assert after_results(extended([], changes(before, after, ()), "2026-01-02")) == {}


def test_claims_come_and_go() -> None:
    found = changes(
        [judged("a", "r1"), judged("b")], [judged("b"), judged("c", "r2"), judged("d")], {"r2"}
    )
    shown = [(one["claim"], one["part"], one["results"]) for one in found]
    assert shown == [("a", "removed", "before"), ("c", "added", "after"), ("d", "added", "before")]
    assert found[0]["old"] == found[1]["new"] == "One is better."
    assert changes([], [judged("a", "r1")], {"r1"}) == []


def test_what_does_not_decide_a_claim_is_no_change() -> None:
    check = judged("a", claim="A check, no claim of the paper: one is better.")
    assert changes([check], [judged("a", verdict="holds", headline=True, seeds=[1])], ()) == []
    assert extended([{"date": "x", "changes": []}], [], "y") == [{"date": "x", "changes": []}]


def test_it_is_read_where_it_was_published(tmp_path: Path) -> None:
    assert read_history(tmp_path / NAME) == [] and claims_of(tmp_path) == []
    history = extended([], changes([judged("a")], [judged("a", margin=1)], ()), "2026-01-02")
    write_json(tmp_path / "claims_history.json", {"schema": 1, "history": history})
    write_json(tmp_path / "claims/p.json", {"claims": [judged("a").told()]})
    assert read_history(tmp_path / NAME) == history
    assert claims_of(tmp_path) == [judged("a")]


def test_the_published_history_leads_to_what_is_published() -> None:
    """Its changes, carried out one after the other, end at the sentences published today."""
    sentences: dict[str, str] = {}
    for entry in read_history(LITE / NAME):
        for one in entry["changes"]:
            if one["part"] not in ("claim", "added", "removed"):
                continue
            old = one["old"]
            assert old is None or sentences.setdefault(one["claim"], old) == old
            sentences[one["claim"]] = one["new"]
    now = {
        one["id"]: one["claim"]
        for path in sorted((LITE / "claims").glob("*.json"))
        for one in read_json(path)["claims"]
    }
    for name, sentence in sentences.items():
        shown = now.get(name)
        prefix = "A check, no claim of the paper: "
        assert (shown or "").removeprefix(prefix).casefold() == (sentence or "").casefold()
