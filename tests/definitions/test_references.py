"""Papers as they are cited: every source leads to one, and a mistake is one sentence."""

from pathlib import Path

import pytest
import yaml

from workflow import ROOT
from workflow.definitions.expected import COLUMNS, ExpectedValues
from workflow.definitions.paper import Paper
from workflow.definitions.references import About, check_sources, key_of
from workflow.runtime.errors import InputError

ONE = {
    "title": "A title",
    "authors": ["A. Author", "B. Author"],
    "year": 2020,
    "venue": "nowhere",
    "link": "https://example.org",
}
ABOUT = {"title": "Both", "papers": {"author2020": ONE}, "notation": {"a": "one", "b": "two"}}


def read(folder: Path, about: object) -> About:
    (folder / "paper.yaml").write_text(yaml.safe_dump(about))
    return Paper(folder.name, folder.parent).about


def test_a_paper_is_cited_with_its_link_and_its_notation(tmp_path: Path) -> None:
    about = read(tmp_path, ABOUT)
    (reference,) = about.references
    assert reference.cited == (
        "[author2020](https://example.org): A. Author, B. Author (2020), *A title*, nowhere"
    )
    assert about.legend == "a is one; b is two."


def test_without_the_file_the_folder_names_the_results(tmp_path: Path) -> None:
    (tmp_path / "my_reviews").mkdir()
    assert Paper("my_reviews", tmp_path).about == About("My reviews")
    assert About("My reviews").legend == ""


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"titel": "x"}, r'paper\.yaml, line \d+: .*"titel".*"title"'),
        ({"papers": {"author2020": ONE | {"link": "example.org"}}}, r"author2020\.link: "),
        ({"papers": {"Author": ONE}}, r'paper\.yaml, line \d+: papers.*"Author"'),
        ({"papers": {}}, r"paper\.yaml, line \d+: papers: "),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, change: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read(tmp_path, ABOUT | change)


@pytest.mark.parametrize(
    "source", ["kinley2020", "kinley2020 section 6.1", "kinley2020, abstract and section 4"]
)
def test_a_source_begins_with_a_key(source: str) -> None:
    assert key_of(source) == "kinley2020"


def test_numbers_and_claims_are_of_papers_that_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "expected.csv"
    path.write_text(f"{','.join(COLUMNS)}\nkinley2020,T,r,c,m,1,,,%,,\n")
    expected = ExpectedValues(path)
    claims = {"claims": [{"id": "better", "source": "kinley2020 section 6"}]}
    check_sources(["kinley2020"], claims, expected, "claims.yaml")
    with pytest.raises(InputError, match=r'expected\.csv.*paper "kinley2020" \(known: none\)'):
        check_sources([], claims, expected, "claims.yaml")
    claims["claims"][0]["source"] = "kinly2020 section 6"
    with pytest.raises(InputError, match=r'claim better: unknown paper "kinly2020".*"kinley2020"'):
        check_sources(["kinley2020"], claims, expected, "claims.yaml")
    expected.values.clear()
    check_sources([], claims, expected, "claims.yaml")


def test_a_key_stands_for_one_paper() -> None:
    papers = Paper.all()
    keys = [reference.key for paper in papers for reference in paper.about.references]
    assert len(keys) == len(set(keys)) >= len(papers)


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
