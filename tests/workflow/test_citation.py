"""CITATION.cff refers to the papers whose results are reproduced, as `paper.yaml` has them."""

import yaml

from tests.workflow.conftest import ROOT
from workflow.definitions.paper import Paper

CITED = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
TYPES = {"article", "thesis", "unpublished"}
KEYS = {"type", "title", "authors", "year", "url", "notes", "thesis-type", "institution"}
"""Of the schema 1.2.0 those that are used; the first three are required."""


def test_each_paper_is_a_reference() -> None:
    papers = [one for paper in Paper.all() for one in paper.about.references]
    told = [
        (one["title"], [author(it) for it in one["authors"]], one["year"], one["url"], one["notes"])
        for one in CITED["references"]
    ]
    assert told == [(it.title, [*it.authors], it.year, it.link, it.venue) for it in papers]


def author(told: dict[str, str]) -> str:
    assert set(told) in ({"name"}, {"given-names", "family-names"})
    return told.get("name") or f"{told['given-names']} {told['family-names']}"


def test_references_keep_to_the_schema() -> None:
    assert CITED["cff-version"] == "1.2.0"
    for one in CITED["references"]:
        assert one["type"] in TYPES and set(one) <= KEYS and type(one["year"]) is int
