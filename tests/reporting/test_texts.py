"""Published texts: kept once, read back as they were, and refused when they are others."""

from pathlib import Path
from typing import Any

import pytest

from tests import sealing
from tests.reporting.synthetic import Results, brief
from workflow.reporting import texts
from workflow.reporting.publication.results import published
from workflow.reporting.texts import LEAST
from workflow.runtime.integrity import Damaged, read_verified
from workflow.runtime.json_lines import read_lines

KEY = "text_classification/sst_soft/seed-{}"
FILE = "texts/text_classification.jsonl"
REFERENCES = ["", "ein \u2028 Satz\r", *(f"Satz {n}" for n in range(LEAST)), ""]


def translated(seed: int, code: str = "") -> list[str]:
    return [f"{code} {seed} {text}" for text in REFERENCES]


def add(results: Results, seed: int, code: str = "") -> None:
    """Write a run that keeps translations."""
    path = results.add("text_classification", "sst_soft", seed, code=code)
    measures = read_verified(path)
    arrays = {"hypotheses": translated(seed, code), "references": REFERENCES}
    arrays |= {"words": ["a", "b"], "lines": ["a\nb"] * LEAST, "numbers": [0.5] * LEAST}
    measures["evaluators"]["accuracy"]["arrays"] = arrays
    sealing.put(path, measures)


def texts_of(docs: Path, seed: int) -> dict[str, Any]:
    """The arrays of a published run, as tables and claims read them."""
    measure = published(docs / "lite")[KEY.format(seed)].measure
    names = ("hypotheses", "references", "words", "lines", "numbers")
    return {name: measure.array(f"accuracy.{name}") for name in names}


@pytest.fixture
def docs(tmp_path: Path, results: Results, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs, published."""
    brief(monkeypatch)
    for seed in (0, 1):
        add(results, seed)
    folder = tmp_path / "docs"
    results.publish(folder)
    return folder


def kept(docs: Path) -> dict[str, Any]:
    return {key: line[texts.KEY] for key, line in read_lines(docs / "lite" / FILE).items()}


def test_references_are_kept_once_and_all_is_read_back(results: Results, docs: Path) -> None:
    expected = {"references": REFERENCES, "words": ["a", "b"], "lines": ["a\nb"] * LEAST}
    expected["numbers"] = [0.5] * LEAST
    for seed in (0, 1):
        assert texts_of(docs, seed) == {"hypotheses": translated(seed), **expected}
    assert "Satz" not in (docs / "lite/runs/text_classification.jsonl").read_text()
    assert sorted(kept(docs).values()) == sorted([REFERENCES, translated(0), translated(1)])


def test_publishing_again_changes_nothing_and_texts_without_a_run_go(
    results: Results, docs: Path
) -> None:
    before = kept(docs)
    results.publish(docs)
    assert kept(docs) == before
    for seed in (0, 1):
        add(results, seed, code="new")
    results.publish(docs, code="new")
    assert texts_of(docs, 1)["hypotheses"] == translated(1, "new")
    assert len(kept(docs)) == 3 and len({*kept(docs)} & {*before}) == 1


def test_texts_that_were_edited_or_lost_are_named(docs: Path) -> None:
    path = docs / "lite" / FILE
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"Satz 7"', b'"Satz 8"'))
    with pytest.raises(Damaged, match=r"texts/text_classification\.jsonl, line \d is damaged"):
        published(docs / "lite")
    path.write_bytes(whole.partition(b"\n")[2])
    with pytest.raises(Damaged, match=r"text_classification\.jsonl: the line of \w{16} is missing"):
        published(docs / "lite")
    path.unlink()
    with pytest.raises(Damaged, match=r"texts/text_classification\.jsonl is missing"):
        published(docs / "lite")
