"""A look at what is done so far: only what counts today, whole or not there."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.reporting.synthetic import ROOT, Results, only_papers, plan_of
from tests.sealing import change, flip, put
from workflow.__main__ import main
from workflow.datasets.encoded.encoding import digest
from workflow.definitions.paper import Paper
from workflow.files import read_csv
from workflow.planning.corpora import corpora
from workflow.reporting.figures import drawing
from workflow.reporting.publication import so_far
from workflow.reporting.publication.current import planned
from workflow.reporting.publication.publishing import publish
from workflow.reporting.publication.so_far import SoFar, write_so_far
from workflow.runtime.errors import ReportingError

SOFT, STREAMS = (f"text_classification/{name}" for name in ("sst_soft", "sst_two_stream"))


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at one paper, without figures; those of unfinished runs are tested with the figures."""
    only_papers(monkeypatch, "discrete_transformer")
    monkeypatch.setattr(drawing, "plot", lambda *arguments: None)


def look(results: Results) -> SoFar:
    plan = plan_of(results.folder.parent, seeds=[0, 1, 2])
    return write_so_far(plan, planned(plan), lambda line: None)


def add(results: Results, *seeds: int, **options: str) -> None:
    for seed in seeds:
        for name in (SOFT, STREAMS):
            results.add(*name.split("/"), seed, **options)


def accuracy(made: SoFar) -> dict[str, str]:
    """The soft model's accuracy, with how many runs it is over."""
    table = read_csv(made.page.parent / "tables/discrete_transformer/table_6_1.csv")
    (found,) = (
        record
        for record in table
        if (record["row"], record["column"], record["metric"])
        == ("gradient norm: SST", "TRANSFORMER", "accuracy")
    )
    return found


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_was_measured_is_shown_and_the_rest_is_not_run(results: Results) -> None:
    add(results, 0, 1)
    before = files(results.folder)
    made = look(results)
    plan = plan_of(results.folder.parent, seeds=[0, 1, 2])
    assert made.planned == sum(len(plan.runs(name)) for name in plan.experiments)
    assert (made.runs, made.left_out) == (4, [])
    assert made.page == results.folder / "so_far/report.html"
    assert accuracy(made)["n"] == "2"
    page = made.page.read_text()
    assert f"What is done so far: 4 of {made.planned} planned runs." in page
    assert '<section id="kinley2020"' in page
    folder = made.page.parent
    assert {path.name for path in results.folder.iterdir()} == {"measures", "runs", "so_far"}
    claims = json.loads((folder / "claims/discrete_transformer.json").read_text())["claims"]
    assert {claim["verdict"] for claim in claims} > {"not run"}
    assert {
        path: text for path, text in files(results.folder).items() if folder not in path.parents
    } == before


def test_each_look_replaces_the_one_before(results: Results) -> None:
    add(results, 0, 1)
    old = look(results).page.parent / "tables/old.csv"
    old.touch()
    add(results, 2)
    made = look(results)
    assert accuracy(made)["n"] == "3" and not old.exists()


def test_a_look_that_fails_leaves_the_one_before(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(results, 0)
    before = files(look(results).page.parent)

    def fail(*_: object, **__: object) -> str:
        raise ReportingError("broken")

    monkeypatch.setattr(so_far, "render", fail)
    with pytest.raises(ReportingError, match="broken"):
        look(results)
    assert files(results.folder / "so_far") == before
    assert not list(results.folder.glob(".*"))


def test_what_does_not_count_today_is_left_out(results: Results) -> None:
    add(results, 0)
    add(results, 1, code="1" * 16)
    (results.folder / f"runs/{STREAMS}/seed-0/run.json").unlink()
    made = look(results)
    assert made.runs == 1 and accuracy(made)["n"] == "1"
    assert made.left_out == [
        f"{results.folder}/runs/{STREAMS}/seed-0/run.json: this file does not exist; run the job "
        "that writes it.",
        f"{SOFT}/seed-1: of other code",
        f"{STREAMS}/seed-1: of other code",
    ]


def test_a_run_beside_measures_of_another_is_left_out(results: Results) -> None:
    add(results, 0)
    (run,) = (path for path in results.runs if SOFT in str(path))
    change(run, lambda record: record.update(identity="x"))
    (said,) = look(results).left_out
    assert said.endswith(f"{SOFT}/seed-0/run.json are of different runs; run the job again.")


def test_what_is_damaged_is_left_out_and_not_touched(results: Results) -> None:
    add(results, 0, 1)
    path = results.folder / f"measures/{SOFT}/seed-1.json"
    flip(path, 999)
    made = look(results)
    assert made.runs == 3 and accuracy(made)["n"] == "1"
    assert made.left_out == [f"{path} is damaged, or was changed by hand"]
    assert path.is_file()


def test_seeds_of_data_with_other_contents_are_left_out(results: Results) -> None:
    add(results, 0, digest="e")
    for path in results.runs:
        change(path, lambda run: run.update(finished="2026-11-19T10:00:00+00:00"))
    add(results, 1)
    made = look(results)
    assert made.runs == 2
    assert made.left_out == [f"{it}/seed-0: of data with other contents" for it in (SOFT, STREAMS)]


def test_nothing_measured_is_said(results: Results) -> None:
    with pytest.raises(ReportingError, match=r"lite/measures: nothing was measured yet; run this"):
        look(results)
    assert not results.folder.exists()


def test_corpora_are_described_once_their_data_are_there(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_papers(monkeypatch, "attention_learning")
    add(results, 0)
    paper, name = Paper("attention_learning"), "table_8"
    plan = plan_of(results.folder.parent)
    rows = corpora(plan, paper.corpora["tables"][name], name)
    row, corpus = next((row, one) for row, one in rows.items() if one.recipe)
    splits = {split: {"examples": 1234, "tokens": 9} for split in ("train", "dev", "test")}
    manifest = {"digest": digest({}), "splits": splits, "vocabulary_size": 5, "statistics": {}}
    encoded = results.folder.parent / "data" / corpus.folder / "encoded"
    put(encoded / "manifest.json", manifest)
    monkeypatch.setattr(so_far, "PUBLISHED", results.folder.parent / "docs")
    for beside_published in (False, True):
        made = write_so_far(plan, planned(plan), lambda line: None, beside_published)
        table = made.page.parent / f"tables/{paper.name}/{name}.json"
        facts = json.loads(table.read_text())["corpora"]
        assert facts[row]["vocabulary_size"] == 5
        assert all("missing" in one for key, one in facts.items() if key != row)


def test_an_overlay_is_looked_at_with_its_file(
    results: Results,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    add(results, 0)
    changes = tmp_path / "mine.yaml"
    overlay = {"name": "mine", "experiments": {"stack_language": {"training": {"epochs": 3}}}}
    changes.write_text(json.dumps({"overlay": overlay}))
    shutil.move(results.folder, results.folder.with_name("lite+mine"))
    given = ["so-far", "--results", str(results.folder.parent), "--scale"]
    monkeypatch.chdir(ROOT)
    for scale in ("lite", "lite+mine"):
        main([*given, scale, "--configfile", str(changes)])
        assert capsys.readouterr().out.endswith("/lite+mine/so_far/report.html\n")
    with pytest.raises(SystemExit, match=r"lite\+mine: this is lite; name an overlay's file"):
        main([*given, "lite+mine"])


def test_what_is_published_can_be_looked_at_without_a_run(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(results, 0)
    plan = plan_of(results.folder.parent, seeds=[0, 1, 2])
    publish(plan, tmp_path / "docs", planned(plan))
    monkeypatch.setattr(so_far, "PUBLISHED", tmp_path / "docs")
    fresh = plan_of(tmp_path / "fresh", seeds=[0, 1, 2])
    made = write_so_far(fresh, planned(fresh), lambda line: None, beside_published=True)
    assert made.page.parent == tmp_path / "fresh/lite/so_far"
    assert (made.runs, made.published) == (0, 2)
    assert accuracy(made)["mean"] == accuracy(look(results))["mean"]
    page = made.page.read_text()
    assert "run/text_classification/sst_soft" in page and "so far:" not in page
    with pytest.raises(ReportingError, match="demo: nothing is published"):
        demo = plan_of(tmp_path / "fresh", scale="demo")
        write_so_far(demo, planned(demo), lambda line: None, beside_published=True)


def test_own_runs_stand_beside_published_ones(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One's own training of a published run takes its place, if it counts."""
    add(results, 0, 1)
    plan = plan_of(results.folder.parent, seeds=[0, 1, 2])
    publish(plan, tmp_path / "docs", planned(plan))
    monkeypatch.setattr(so_far, "PUBLISHED", tmp_path / "docs")
    first, mine = (Results(tmp_path / name, "lite") for name in ("first", "mine"))
    soft = SOFT.split("/")
    first.add(*soft, 0)
    for seed in (1, 2):
        mine.add(*soft, seed)
    change(
        mine.folder / f"measures/{SOFT}/seed-1.json",
        lambda told: told["evaluators"]["accuracy"]["scalars"]["accuracy"].update(value=0.5),
    )
    fresh = plan_of(tmp_path / "mine", seeds=[0, 1, 2])
    made = write_so_far(fresh, planned(fresh), lambda line: None, beside_published=True)
    assert (made.runs, made.published, made.left_out) == (2, 3, [])
    shown = f"so far: 2 of {made.planned} planned runs, and 3 published ones."
    assert shown in made.page.read_text()
    beside = accuracy(made)
    zero, own, all_three = (
        (float(told["mean"]), int(told["n"]))
        for told in (accuracy(look(first)), accuracy(look(mine)), beside)
    )
    assert (zero[1], own[1], all_three[1]) == (1, 2, 3)
    assert all_three[0] == pytest.approx((zero[0] + 2 * own[0]) / 3)
    mine.add(*soft, 2, code="1" * 16)
    made = write_so_far(fresh, planned(fresh), lambda line: None, beside_published=True)
    assert (made.runs, made.published) == (1, 3)
    assert made.left_out == [f"{SOFT}/seed-2: of other code"]


def test_an_overlay_is_compared_with_what_is_published(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(results, 0)
    plan = plan_of(results.folder.parent, seeds=[0])
    publish(plan, tmp_path / "docs", planned(plan))
    monkeypatch.setattr(so_far, "PUBLISHED", tmp_path / "docs")
    changed = Results(tmp_path / "mine", "lite+mine")
    changed.add(*SOFT.split("/"), 0)
    overlay = {"name": "mine", "experiments": {"stack_language": {"training": {"epochs": 3}}}}
    fresh = plan_of(tmp_path / "mine", seeds=[0], overlay=overlay)
    made = write_so_far(fresh, planned(fresh), lambda line: None, beside_published=True)
    assert (made.runs, made.published) == (1, 0)
    (difference,) = re.findall(r"lite: difference (\S+)", accuracy(made)["note"])
    assert float(difference) == pytest.approx(0, abs=1e-5)  # A table has six digits.
    assert f"so far: 1 of {made.planned} planned runs." in made.page.read_text()
