"""Published texts: kept once, read back as they were, and refused when they are others."""

from pathlib import Path
from typing import Any

import pytest

from model.store.checksums import Damaged, read_sealed
from tests import sealing
from tests.reporting.synthetic import Results, plan_of
from workflow.errors import ReportingError
from workflow.reporting.figures import drawing
from workflow.reporting.measures import Measures
from workflow.reporting.publication.current import planned
from workflow.reporting.publication.publishing import publish
from workflow.reporting.publication.results import published
from workflow.reporting.texts import LEAST

KEY = "text_classification/sst_soft/seed-{}"
REFERENCES = ["", "ein \u2028 Satz\r", *(f"Satz {n}" for n in range(LEAST)), ""]


def translated(seed: int, code: str = "") -> list[str]:
    return [f"{code} {seed} {text}" for text in REFERENCES]


def add(results: Results, seed: int, code: str = "") -> None:
    """Write a run that keeps translations."""
    path = results.add("text_classification", "sst_soft", seed, code=code)
    measures = read_sealed(path)
    arrays = {"hypotheses": translated(seed, code), "references": REFERENCES}
    arrays |= {"words": ["a", "b"], "lines": ["a\nb"] * LEAST, "numbers": [0.5] * LEAST}
    measures["evaluators"]["accuracy"]["arrays"] = arrays
    sealing.put(path, measures)


def texts_of(docs: Path, seed: int) -> dict[str, Any]:
    """The arrays of a published run, as tables and claims read them."""
    path = docs / "lite" / "measures" / f"{KEY.format(seed)}.json"
    (measure,) = Measures.read([path]).of("text_classification", "sst_soft")
    names = ("hypotheses", "references", "words", "lines", "numbers")
    return {name: measure.array(f"accuracy.{name}") for name in names}


@pytest.fixture
def docs(tmp_path: Path, results: Results, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs, published."""
    monkeypatch.setattr(drawing, "plot", lambda *arguments: None)
    for seed in (0, 1):
        add(results, seed)
    folder = tmp_path / "docs"
    put(results, folder)
    return folder


def put(results: Results, docs: Path, code: str = "") -> None:
    plan = plan_of(results.folder.parent, seeds=[0, 1])
    now = planned(plan)

    def today(key: str) -> Any:
        traits = now(key)
        return {**traits, "code": code} if traits and code else traits

    publish(plan, docs, today)


def kept(docs: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (docs / "lite" / "texts").iterdir()}


def test_references_are_kept_once_and_all_is_read_back(results: Results, docs: Path) -> None:
    expected = {"references": REFERENCES, "words": ["a", "b"], "lines": ["a\nb"] * LEAST}
    expected["numbers"] = [0.5] * LEAST
    for seed in (0, 1):
        assert texts_of(docs, seed) == {"hypotheses": translated(seed), **expected}
        entry = published(docs / "lite")[KEY.format(seed)].measures
        assert entry["evaluators"]["accuracy"]["arrays"] == texts_of(docs, seed)
        path = docs / "lite" / "measures" / f"{KEY.format(seed)}.json"
        assert "Satz" not in path.read_text()
    assert sorted(kept(docs).values()) == sorted(
        "".join(f"{text}\n" for text in texts).encode()
        for texts in (REFERENCES, translated(0), translated(1))
    )


def test_publishing_again_changes_nothing_and_texts_without_a_run_go(
    results: Results, docs: Path
) -> None:
    before = kept(docs)
    put(results, docs)
    assert kept(docs) == before
    for seed in (0, 1):
        add(results, seed, code="new")
    put(results, docs, code="new")
    assert texts_of(docs, 1)["hypotheses"] == translated(1, "new")
    assert len(kept(docs)) == 3 and len({*kept(docs)} & {*before}) == 1


def test_texts_that_were_edited_or_lost_are_named(docs: Path) -> None:
    path = next(path for path in (docs / "lite/texts").iterdir() if b"Satz 7" in path.read_bytes())
    path.write_bytes(path.read_bytes().replace(b"Satz 7\n", b"Satz 8\n"))
    with pytest.raises(ReportingError, match=r"texts/\w+.txt has been edited since it was publ"):
        texts_of(docs, 0)
    with pytest.raises(Damaged, match=r"texts/\w+.txt is damaged"):
        published(docs / "lite")
    path.unlink()
    with pytest.raises(ReportingError, match=r"\w+.txt: No such file or directory; restore it"):
        texts_of(docs, 0)
    with pytest.raises(Damaged, match=r"texts/\w+.txt is missing"):
        published(docs / "lite")
