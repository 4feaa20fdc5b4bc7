"""The corpora that a table describes: their recipes, and what is missing."""

import pytest
import yaml

from tests.planning.conftest import sentence
from tests.planning.test_targets import targets
from workflow.datasets.fetched import sources
from workflow.definitions.expected import COLUMNS
from workflow.planning.identity import recipe_hash
from workflow.runtime.errors import InputError

DATA = {"dataset": "stack_language", "train": 30, "dev": 5, "test": 5}
YELP = {"dataset": "yelp"}


def made(project, rows, expected="", **config):
    """The targets of a project with one table of corpora."""
    table = {
        "title": "C",
        "caption": "C.",
        "source": "kinley2020",
        "columns": ["train"],
        "rows": rows,
    }
    if expected:
        table["printed"] = {"source": "kinley2020", "table": "T"}
        expected = ",".join(COLUMNS) + f"\n{expected}\n"
    project.write("workflow/papers/paper/corpora.yaml", yaml.safe_dump({"tables": {"c": table}}))
    return targets(project, expected=expected, **config)


def corpus_of(found):
    """The one corpus of that table."""
    (corpus,) = found.papers["paper"].described("c").values()
    return corpus


def row(**content):
    """A row called `a`."""
    return {"id": "a", "label": "A", **content}


def test_the_recipe_of_a_scale(project):
    rows = [row(data=DATA, scales={"demo": {"train": 3}, "lite": None})]
    for scale, train in (("demo", 3), ("lite", None), ("paper", 30)):
        found = made(project, rows, scale=scale)
        corpus = corpus_of(found)
        assert (corpus.recipe or {}).get("train") == train
        assert corpus.missing == ("" if train else "this scale does not describe it")
        if train:
            assert found.recipe(corpus.folder) == corpus.recipe
            assert corpus.recipe["grammar"] == "uniform"


def test_a_row_like_a_variant_has_its_data_and_follows_the_overlay(project):
    rows = [row(like={"experiment": "one", "variant": "small"})]
    overlay = {"name": "mine", "experiments": {"one": {"data": {"train": 77}}}}
    for config in ({}, {"overlay": overlay}):
        found = made(project, rows, **config)
        assert corpus_of(found).folder == found.plan.run("one", "small", 0).data
    left_out = made(project, [row(like={"experiment": "one", "variant": "large"})])
    assert corpus_of(left_out).missing == "this scale does not describe it"


def test_who_asks_for_the_paper_gets_its_corpora(project):
    files = [f"out/demo/tables/paper/c.{suffix}" for suffix in ("csv", "md", "tex", "json")]
    found = made(project, [row(data=DATA)])
    assert found.files("paper_c") == files
    assert set(files) <= set(found.files("paper")) and not set(files) & set(found.files("one"))
    assert set(files) <= set(found.selected)
    assert set(files) <= set(made(project, [row(data=DATA)], experiments="paper").selected)
    assert set(files) <= set(made(project, [row(data=DATA)], experiments=["paper"]).selected)
    only = made(project, [row(data=DATA)], experiments=["one"])
    assert not set(files) & set(only.selected)
    recipe = corpus_of(found).recipe
    assert recipe in found.recipes and recipe not in only.recipes
    runs = {run.data for run in only.plan.runs("one")}
    assert {f"{r['dataset']}/{recipe_hash(r)}" for r in only.recipes} == runs
    with_yelp = made(project, [row(data=YELP)], experiments="paper")
    assert "yelp" not in {recipe["dataset"] for recipe in with_yelp.recipes}


def test_a_file_to_get_by_hand_is_missing_until_it_is_there(project, tmp_path, monkeypatch):
    results = tmp_path / "results"

    def missing():
        return corpus_of(made(project, [row(data=YELP)], results=str(results))).missing

    (name,) = [source.name for source in sources.load().values() if source.dataset == "yelp"]
    said = missing()
    assert said.startswith(f"{name} can't be downloaded; get it from https://")
    assert f"into the results folder as data/manual/{name}, or into a mirror" in said
    assert str(tmp_path) not in said
    for place in ("manual", "sources"):
        file = results / "data" / place / name
        file.parent.mkdir(parents=True)
        file.write_text("{}")
        assert missing() == ""
        file.unlink()
    assert missing() == said


def test_a_mirror_has_the_file(project, tmp_path):
    (source,) = [source for source in sources.load().values() if source.dataset == "yelp"]
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    listed = f"{source.url}\ty.json\t{'0' * 64}\t2\tthe url's bytes"
    lines = ["url\tfile\tsha256\tbytes\tkind", listed]
    (mirror / "SOURCES.tsv").write_text("\n".join(lines[:1]) + "\n")
    found = made(project, [row(data=YELP)], mirror=str(mirror))
    assert corpus_of(found).missing
    (mirror / "SOURCES.tsv").write_text("\n".join(lines) + "\n")
    assert corpus_of(found).missing == ""


def test_a_file_that_is_not_listed_is_missing(project, monkeypatch):
    monkeypatch.setattr(sources, "load", dict)
    found = made(project, [row(data=YELP)])
    assert "is not in workflow/sources.tsv" in corpus_of(found).missing


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({}, "tables.c, a: give either data or like"),
        ({"data": DATA, "like": {"experiment": "one", "variant": "small"}}, "give either data or"),
        ({"data": {"dataset": "stack_languag"}}, 'unknown dataset "stack_languag"'),
        ({"data": DATA, "scales": {"lite": {"trian": 3}}}, 'unknown key "trian"'),
        ({"like": {"experiment": "on", "variant": "small"}}, 'unknown experiment "on"'),
        ({"like": {"experiment": "one", "variant": "smal"}}, 'unknown variant of one "smal"'),
        ({"data": DATA, "nots": "x"}, 'unknown key "nots"'),
    ],
)
def test_mistakes_name_the_row(project, content, says):
    said = sentence(made, project, [row(**content)])
    assert all(part in said for part in ("corpora.yaml", "tables.c", says)), said


def test_rows_and_names_stand_once(project):
    with pytest.raises(InputError, match='two rows are called "a"'):
        made(project, [row(data=DATA), row(data=DATA, label="B")])
    with pytest.raises(InputError, match=r"corpora\.yaml: tables\.losses also stands in tables"):
        found = made(project, [row(data=DATA)])
        file = project.root / "workflow/papers/paper/corpora.yaml"
        file.write_text(file.read_text().replace("  c:", "  losses:"))
        targets(project)
    assert found


def test_a_row_with_a_number_is_printed(project):
    assert made(project, [row(data=DATA)], "kinley2020,T,A,train #,train #,5,,,count,,")
    with pytest.raises(
        InputError, match=r"tables\.c, a: .*no number at kinley2020, T, A.*kinley2020, T, B"
    ):
        made(project, [row(data=DATA)], "kinley2020,T,B,train #,train #,5,,,count,,")
