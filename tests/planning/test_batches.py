"""What one job makes of results: everything once, with the runs of the same items alone."""

import json

import pytest
import yaml

from tests.planning.test_corpora import made as with_corpus
from tests.planning.test_corpora import row
from tests.planning.test_targets import FIGURE, ROOT, TABLE, targets
from workflow.planning.batches import Item, batches
from workflow.planning.plan import Plan
from workflow.planning.targets import Targets

LARGE = {**TABLE, "title": "Large", "rows": [{"id": "large", "label": "large"}]}
BOTH = {**TABLE, "title": "Both", "rows": [*TABLE["rows"], *LARGE["rows"]]}
SMALL = "out/demo/measures/one/small/seed-0.json"


def test_items_of_the_same_runs_are_made_by_one_job(project):
    found = list(batches(targets(project, {"losses": TABLE}, {"curve": FIGURE})))
    (batch,) = found
    assert batch.items == (Item("tables", "losses"), Item("figures", "curve"))
    assert batch.name == "paper/losses"
    assert batch.measures() == [SMALL]
    assert batch.run_files() == ["out/demo/runs/one/small/seed-0/run.json"]
    assert batch.expected().endswith("workflow/papers/paper/expected.csv")
    assert batch.arguments() == [
        *("--paper", "paper", "--scale", "demo"),
        *("--tables", "losses", "--figures", "curve"),
    ]
    assert batch.encoded() == batch.tables_before() == []
    files = [file for item in batch.items for file in batch.files(item)]
    assert [file.rpartition(".")[2] for file in files] == [
        *("csv", "md", "tex", "json"),
        *("pdf", "png", "svg", "json"),
    ]


def test_the_scale_decides_which_items_are_of_the_same_runs(project):
    tables = {"losses": TABLE, "large": LARGE, "both": BOTH}
    names = {
        scale: [[item.name for item in one.items] for one in batches(made)]
        for scale in ("demo", "lite")
        if (made := targets(project, tables, scale=scale))
    }
    assert names["demo"] == [["both", "losses"], ["large"]]
    assert names["lite"] == [["both"], ["large"], ["losses"]]


def test_another_table_leaves_what_a_job_is_told_of_its_own(project):
    project.experiments["one"]["scales"]["demo"] = {}
    _, before = batches(targets(project, {"losses": TABLE, "large": LARGE}))
    other = {**LARGE, "title": "Larger"}
    changed, after = batches(targets(project, {"losses": TABLE, "large": other}))
    assert before.definitions() == after.definitions()
    assert "Larger" in changed.definitions()[0]


def test_a_table_of_corpora_is_made_alone_of_its_data(project):
    found = with_corpus(project, [row(data={"dataset": "stack_language", "train": 3})])
    table, corpora = batches(found)
    (described,) = found.papers["paper"].described("c").values()
    assert table.items == (Item("tables", "losses"),)
    assert corpora.measures() == corpora.run_files() == []
    assert corpora.encoded() == [f"out/data/{described.folder}/encoded"]
    *_, option, told = corpora.arguments()
    assert option == "--corpora" and json.loads(told)["c/a"]["recipe"] == described.recipe


def test_an_overlay_reads_the_tables_that_it_stands_on_where_they_were_made(project, monkeypatch):
    monkeypatch.chdir(project.root)
    overlay = {"name": "mine", "experiments": {"one": {"training": {"updates": 3}}}}
    (batch,) = batches(targets(project, overlay=overlay))
    assert batch.tables_before() == []
    project.write("out/demo/tables/paper/losses.csv", "")
    assert batch.tables_before() == ["out/demo/tables/paper/losses.csv"]
    *_, option, told = batch.arguments()
    assert option == "--overlaid" and "training.updates" in told


@pytest.mark.parametrize("scale", ["demo", "lite", "paper"])
def test_all_that_is_shipped_is_made_once_and_asks_for_its_own_runs_alone(scale):
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    shipped = Targets(Plan({**config, "scale": scale}, ROOT))
    made: dict[str, set[str]] = {}
    for batch in batches(shipped):
        for item in batch.items:
            for file in batch.files(item):
                assert file not in made
                made[file] = set(batch.measures())
    files = {file for name in shipped.names for file in shipped.files(name)}
    folders = tuple(f"{shipped.plan.folder}/{name}/" for name in ("tables", "figures", "claims"))
    assert set(made) == {file for file in files if file.startswith(folders)}
    for paper in shipped.papers.values():
        for kind in ("tables", "figures"):
            for name in paper.items(kind):
                own = set(shipped.measures(paper.runs(kind, name)))
                assert all(made[file] == own for file in shipped.outputs(paper, kind, name))


def test_one_table_trains_its_own_runs_and_not_its_papers():
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    shipped = Targets(Plan({**config, "scale": "lite"}, ROOT))
    paper = shipped.papers["explicit_sparse"]
    (table,) = (
        batch
        for batch in batches(shipped)
        if batch.paper is paper and Item("tables", "table_4") in batch.items
    )
    experiments = {name for one in paper.items("tables") for name, _ in paper.pairs("tables", one)}
    whole = {run.key for name in experiments for run in shipped.plan.runs(name)}
    assert 0 < len(table.measures()) < len(whole) / 2
