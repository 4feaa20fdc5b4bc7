"""Own data and own experiments of a configuration: their runs, tables and files."""

from pathlib import Path

import pytest
import yaml

from tests.planning.conftest import ROOT, sentence
from workflow.planning.configured import configured
from workflow.planning.departures import overlaid
from workflow.planning.plan import Plan

TALKS = {
    "like": "zhao2019/sparse_translation",
    "title": "My talks",
    "data": {"dataset": "pairs", "train": ["my.de", "my.en"], "merges": 1000},
    "training": {"epochs": 3},
    "tables": ["smaller_sparse_translation", "last_token", "table_1"],
}
FILMS = {
    "like": "kinley2020/text_classification",
    "title": "My films",
    "data": {"dataset": "labelled", "train": "films.csv"},
    "variants": ["sst_soft", "sst_two_stream"],
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with files of one's own."""
    for name in ("my.de", "my.en", "films.csv"):
        (tmp_path / name).write_text(f"{name}\n" * 9)
    return tmp_path


def planned(files: Path, scale: str = "demo", **said: object) -> Plan:
    """The plan of the real papers with a YAML file beside own files."""
    (files / "mine.yaml").write_text(yaml.safe_dump(said))
    return configured(ROOT, [files / "mine.yaml"], scale=scale)


def test_no_run_of_a_paper_is_another_for_own_experiments(files):
    """So none that is published is stale for them, and each has its own data."""
    plain = configured(ROOT, scale="lite")
    own = planned(files, "lite", own_experiments={"my_talks": TALKS, "my_films": FILMS})
    for name in plain.experiments:
        for run, same in zip(plain.runs(name), own.runs(name), strict=True):
            assert plain.draft(run) == own.draft(same)
            assert plain.evaluators(run) == own.evaluators(same)
    assert {*own.experiments} - {*plain.experiments} == {"my_talks", "my_films"}


def test_an_own_experiment_has_what_is_replaced_and_no_run_twice(files):
    plan = planned(files, own_experiments={"my_talks": TALKS})
    runs = plan.runs("my_talks")
    assert [run.variant for run in runs] == ["multi30k_en_de_softmax", "multi30k_en_de_topk"]
    alike = plan.runs("sparse_translation")
    for run, other in zip(runs, alike, strict=True):
        assert run.settings.model == other.settings.model
        assert run.settings.training == {**other.settings.training, "epochs": 3}
        assert run.recipe["dataset"] == "pairs" and str(files) not in str(plan.draft(run))
        assert plan.own_files[run.data] == [str(files / "my.de"), str(files / "my.en")]
    lite = planned(files, "lite", own_experiments={"my_talks": TALKS}).runs("my_talks")
    kinds = [run.settings.trained({}) for run in lite if run.seed == 0]
    assert len({*kinds}) == len(kinds) > len(runs)
    chosen = {**TALKS, "variants": ["de_en_softmax"]}
    plan = planned(files, own_experiments={"my_talks": chosen})
    assert [run.variant for run in plan.runs("my_talks")] == ["de_en_softmax"]


def test_own_tables_have_own_rows_and_nothing_of_a_paper(files):
    plan = planned(files, own_experiments={"my_talks": TALKS})
    tables = plan.own_tables["explicit_sparse"]
    assert [*tables] == [f"my_talks_{name}" for name in TALKS["tables"]]
    labels = [[column["label"] for column in one["columns"]] for one in tables.values()]
    assert labels == [["BLEU", "sacreBLEU", "chrF"], ["first layer", "last layer"], ["BLEU"]]
    for table in tables.values():
        assert [row["label"] for row in table["rows"]] == ["softmax", "top-k, k = 8"]
        assert table["title"].startswith("My talks") and table["experiment"] == "my_talks"
        assert "(data, training)" in table["caption"]
        assert not {"printed", "notes", "differs", "mechanisms"} & {*table}
    without = {**TALKS, "evaluators": {"attention_maps": None}}
    del without["tables"]
    plan = planned(files, own_experiments={"my_talks": without})
    assert "my_talks_last_token" not in plan.own_tables["explicit_sparse"]


def test_a_changed_file_makes_another_run_and_a_moved_one_does_not(files, tmp_path_factory):
    first = planned(files, own_experiments={"my_talks": TALKS}).runs("my_talks")[0].data
    other = tmp_path_factory.mktemp("other")
    for file in files.glob("my.*"):
        (other / file.name).write_bytes(file.read_bytes())
    assert planned(other, own_experiments={"my_talks": TALKS}).runs("my_talks")[0].data == first
    (files / "my.de").write_text("others\n" * 9)
    assert planned(files, own_experiments={"my_talks": TALKS}).runs("my_talks")[0].data != first


def test_an_overlay_takes_own_data_and_tells_of_them_without_their_folder(files):
    data = {"data": TALKS["data"]}
    overlay = {
        "name": "mine",
        "experiments": {"sparse_translation": {"variants": {"multi30k_en_de_topk": data}}},
    }
    plan = planned(files, overlay=overlay)
    run = plan.run("sparse_translation", "multi30k_en_de_topk", 0)
    assert plan.own_files[run.data][0] == str(files / "my.de")
    (changed,) = overlaid(plan, [run]).values()
    assert changed["data"][1] == TALKS["data"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"like": "zhao2019/sparse_translatoin"}, 'did you mean "sparse_translation"?'),
        ({"like": "kinley2020/sparse_translation"}, "write zhao2019/sparse_translation"),
        ({"variants": ["multi30k"]}, 'unknown variant "multi30k"'),
        ({"like": "zhao2019/other"}, "other is an experiment of your own; name that of a paper"),
        ({"like": "zhao2019/my_talks"}, "my_talks is an experiment of your own"),
        ({"tables": ["table_9"]}, 'unknown table "table_9"'),
        (
            {"tables": ["language_modelling"]},
            "tables: language_modelling shows nothing of sparse_translation; leave",
        ),
        (
            {"evaluators": {"attention_maps": None}},
            "tables: last_token needs attention_maps, which the evaluators take away; leave one",
        ),
        ({"data": {"dataset": "pairs", "train": ["my.de", "my.eng"]}}, "my.eng is no file"),
        ({"modle": {}}, "modle"),
    ],
)
def test_a_mistake_is_a_sentence_that_names_file_and_key(files, change, said):
    def make() -> None:
        own = {"my_talks": {**TALKS, **change}, "other": FILMS}
        _ = planned(files, own_experiments=own).own_tables

    text = sentence(make)
    assert said in text and "own_experiments.my_talks" in text
    assert str(files / "mine.yaml") in text or "tables" in text


def test_an_own_experiment_has_a_name_of_its_own(files):
    def make() -> None:
        planned(files, own_experiments={"translation": TALKS})

    assert "has an experiment of this name; rename it" in sentence(make)
