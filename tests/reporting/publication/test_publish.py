"""Publication: merging over days, stale seeds, a clean tree, and the README's summary."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import sealing
from tests.equivalent import accept
from tests.reporting.claims.test_claims_table import claim
from tests.reporting.synthetic import Results, brief, only_papers, plan_of, today
from workflow.__main__ import main
from workflow.commands.publish import MEND, check
from workflow.definitions.paper import Paper
from workflow.files import SIDECARS, read_csv, read_sidecar
from workflow.reporting.cells import read_table
from workflow.reporting.publication import publishing
from workflow.reporting.publication.crate import NAME, crate_text, dated
from workflow.reporting.publication.current import GONE, planned
from workflow.reporting.publication.paper_pages import FIGURE
from workflow.reporting.publication.publishing import LIMIT, publish, refuse_dirty, stale_now
from workflow.reporting.publication.results import (
    RunResult,
    combine,
    given,
    published,
    with_staleness,
)
from workflow.reporting.publication.summary import PAGES, summarised
from workflow.reporting.statistics import tolerances
from workflow.runtime.errors import ReportingError
from workflow.runtime.integrity import read_verified
from workflow.runtime.json_lines import read_lines, write_lines
from workflow.scripts.measure import plain

ROOT = Path(__file__).resolve().parents[3]


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a git working tree with the pages that sum results up, and results ignored."""
    folder = tmp_path / "clone"
    (folder / "docs").mkdir(parents=True)
    for page, names in PAGES.items():
        edges = ((f"<!-- {name}:{edge} -->" for edge in ("begin", "end")) for name in names)
        blocks = "\n\n".join("\nold\n".join(both) for both in edges)
        (folder / page).write_text(f"# Title\n\n{blocks}\n\nEnd.\n")
    (folder / ".gitignore").write_text("results/\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def command(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "workflow", "publish", *arguments],
        cwd=clone,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "MPLCONFIGDIR": str(clone.parent)},
        capture_output=True,
        text=True,
    )


NAMES = ("sst_soft", "sst_two_stream")


def add(results: Results, *seeds: int, **options: str) -> None:
    for seed in seeds:
        for variant in NAMES:
            results.add("text_classification", variant, seed, **options)


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where to publish; the merging tests look at one paper, and not at figures or costs."""
    only_papers(monkeypatch, "discrete_transformer")
    brief(monkeypatch)
    return tmp_path / "docs" / "reproduction"


def index(docs: Path) -> dict:
    return json.loads((docs / "lite" / "index.json").read_text())["runs"]


def line(docs: Path, seed: int) -> dict[str, Any]:
    """Return what is published of a run of the soft model."""
    return read_lines(docs / "lite/runs/text_classification.jsonl")[f"sst_soft/seed-{seed}"]


def corpora(docs: Path, table: str) -> dict[str, Any]:
    """Return the facts behind a published table of corpora."""
    return read_sidecar(docs / f"lite/tables/{table}.csv")["corpora"]


def soft(docs: Path) -> list[str]:
    """Return the seeds behind the published accuracy of the soft model."""
    sidecar = read_sidecar(docs / "lite/tables/discrete_transformer/table_6_1.csv")
    (cell,) = (
        cell
        for cell in sidecar["cells"]
        if (cell["row"], cell["column"], cell["metric"])
        == ("gradient norm: SST", "TRANSFORMER", "accuracy")
    )
    return cell["seeds"]


def test_the_command_publishes_and_updates_the_readme(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once with new results, and once without any."""
    only_papers(monkeypatch, "discrete_transformer")
    monkeypatch.chdir(clone)
    results = Results(clone / "results", "lite")
    add(results, 0, 1)
    given = ["publish", "--results", "results", "--scale", "lite", "--to", "docs/reproduction"]
    main(given)
    assert "published docs/reproduction/lite; review" in capsys.readouterr().out
    readme, claims, targets = ((clone / page).read_text() for page in PAGES)
    for page in (readme, claims, targets):
        assert page.startswith("# Title\n") and page.endswith("End.\n") and "\nold\n" not in page
    (paper,) = (one for one in Paper.all() if one.name == "discrete_transformer")
    own = [one for one in paper.claims["claims"] if "check" not in one]
    count = sum(one["source"].startswith("kinley2020") for one in own)
    assert (
        f"| [Two-Stream Transformer](docs/reproduction/lite/kinley2020.md) | {count} | " in readme
        and "](docs/equations.md#kinley2020)." in readme
    )
    assert "| claim | ours | compared with | difference" in claims
    assert "0.71 vs 0.69" in claims and "**undecided**" in claims
    assert "| `discrete_transformer` | [`kinley2020`](https://" in targets
    folder = clone / "docs/reproduction/lite"
    tables = {path.suffix for path in (folder / "tables/discrete_transformer").iterdir()}
    figures = {path.suffix for path in (folder / "figures/discrete_transformer").iterdir()}
    assert tables == {".csv"} and figures == {f".{FIGURE}"}
    assert all((folder / kind / SIDECARS).is_file() for kind in ("tables", "figures"))
    assert (folder / "kinley2020.md").is_file() and not [*folder.glob("tables/*/*.md")]
    assert (folder / f"figures/discrete_transformer/figure_6_1.{FIGURE}").is_file()
    assert (folder / "claims/discrete_transformer.json").is_file()
    assert (folder / "README.md").read_text().startswith("# Published results, scale lite")
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            parts = content.split(b"\n") if path.suffix == ".jsonl" else [content]
            assert max(map(len, parts)) <= LIMIT
            assert str(clone).encode() not in content
    main(["publish", "--check"])
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "published")
    shutil.rmtree(clone / "results")
    main(given)
    said = "no run of results/lite was measured: made anew docs/reproduction/lite; review"
    assert said in capsys.readouterr().out
    assert not list((clone / "docs/reproduction").glob(".publish-*"))


def test_a_dirty_tree_is_refused(clone: Path) -> None:
    add(Results(clone / "results", "lite"), 0)
    (clone / "note.txt").write_text("x")
    done = command(clone, "--scale", "lite")
    assert done.returncode == 1
    assert done.stderr.startswith("error: The working tree has uncommitted changes (note.txt")
    assert not (clone / "docs/reproduction").exists()


def test_a_stale_page_is_noticed(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clone)
    docs = Path("docs/reproduction")
    for page, text in summarised(docs).items():
        with pytest.raises(ReportingError, match=f"{page}: its results are not those of {docs}"):
            check(Path("results"), docs)
        page.write_text(text)
    check(Path("results"), docs)
    page.write_text("# No markers\n")
    with pytest.raises(ReportingError, match=f"{page}: put the lines <!-- targets:begin"):
        check(Path("results"), docs)
    page.unlink()
    with pytest.raises(ReportingError, match=f"{page} is not here; run this in the root"):
        check(Path("results"), docs)


def test_a_folder_without_git_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReportingError, match="not a git working tree"):
        refuse_dirty(tmp_path)


def test_seeds_accumulate(results: Results, docs: Path) -> None:
    add(results, 0)
    results.publish(docs)
    before = line(docs, 0)
    shutil.rmtree(results.folder)
    add(results, 1, 2)
    assert results.publish(docs) == {}
    assert soft(docs) == [0, 1, 2]
    assert line(docs, 0) == before


def test_the_same_identity_is_kept(results: Results, docs: Path) -> None:
    add(results, 0)
    results.publish(docs)
    kept = published(docs / "lite")
    for path in results.folder.rglob("run.json"):
        sealing.change(path, lambda run: run.update(cpu="another CPU"))
    results.publish(docs)
    assert published(docs / "lite") == kept


def test_another_training_of_an_identity_tells_what_it_replaces(
    results: Results, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Newer measuring code can't be run where the weights are gone: the run is trained anew."""
    accept(monkeypatch)
    add(results, 0)
    key = "text_classification/sst_soft/seed-0"
    (path,) = (path for path in results.measures if "sst_soft" in str(path))
    (run,) = (path for path in results.runs if "sst_soft" in str(path))
    results.publish(docs)
    first = published(docs / "lite")[key]
    assert "replaces" not in first.run and first.again == ""
    replaced = []
    for number, day in enumerate((1, 1, 2)):
        finished = f"2026-12-0{day}T00:00:00+00:00"
        sealing.change(run, lambda it, day=finished: it.update(finished=day, device="a GPU"))
        read = {"a.others": [f"e/v/seed-{number}"]}  # so that it is published anew
        sealing.change(path, lambda it, read=read: it.update(records=read))
        results.publish(docs)
        replaced.append(published(docs / "lite")[key].run["replaces"])
    second = {**first.trained, "finished": "2026-12-01T00:00:00+00:00", "device": "a GPU"}
    assert replaced == [[first.trained], [first.trained], [first.trained, second]]
    page = (docs / "lite" / "README.md").read_text(encoding="utf-8")
    day = first.trained["finished"][:10]
    assert f"`{key}`: a GPU, 2026-12-02, in the place of cpu, {day}; a GPU, 2026-12-01" in page


def test_a_run_that_reads_more_records_is_published_anew(results: Results, docs: Path) -> None:
    add(results, 0)
    (path,) = (path for path in results.measures if "sst_soft" in str(path))
    for number, read in enumerate((["e/v/seed-1"], ["e/v/seed-1", "e/v/seed-2"], ["e/v/seed-2"])):
        sealing.change(path, lambda told, read=read: told.update(records={"a.others": read}))
        sealing.change(path, lambda told, number=number: told.update(made=number))
        results.publish(docs)
    made = published(docs / "lite")["text_classification/sst_soft/seed-0"].measures["made"]
    assert made == 1, "the last reads nothing that the second did not"


def test_a_published_run_has_checksums_of_its_results_once(results: Results, docs: Path) -> None:
    """They are no files of the published folder, also when it is published again."""
    add(results, 0)
    (path,) = (path for path in results.runs if "sst_soft" in str(path))
    made = read_verified(path)
    for _ in range(2):
        results.publish(docs)
        run = line(docs, 0)
        assert run["results"] == made["files"] and not {"files", "checkpoints"} & set(run)
        shutil.rmtree(results.folder, ignore_errors=True)


def test_seeds_of_other_code_become_stale_and_leave_tables(results: Results, docs: Path) -> None:
    add(results, 0, 1)
    results.publish(docs)
    shutil.rmtree(results.folder)
    add(results, 1, 2, code="1" * 16)
    stale = list(results.publish(docs, code="1" * 16))
    assert stale == [f"text_classification/{name}/seed-0" for name in NAMES]
    assert index(docs)[stale[0]]["stale"] == "of other code"
    assert soft(docs) == [1, 2]
    assert "seed-0`: of other code" in (docs / "lite/README.md").read_text()
    assert line(docs, 0)["identity"] == index(docs)[stale[0]]["identity"]


def test_an_evaluator_that_came_later_makes_nothing_stale(results: Results) -> None:
    add(results, 0)
    now = planned(results.plan)
    old = given(results.plan, now)
    key = min(old)
    assert "accuracy" in old[key].measures["evaluators"]
    del old[key].measures["evaluators"]["accuracy"]
    assert with_staleness(old, now)[key].stale is None
    old[key].measures["evaluators"]["gone"] = {"code": "z" * 16, "scalars": {}}
    assert with_staleness(old, now)[key].stale == "of other measuring code"


def test_other_measuring_code_makes_stale_too(results: Results) -> None:
    add(results, 0)
    now = planned(results.plan)
    old = given(results.plan, now)
    for entry in old.values():
        entry.measures["evaluators"]["accuracy"]["code"] = "z" * 16
    found = with_staleness(old, now)
    assert found["text_classification/sst_soft/seed-0"].stale == "of other measuring code"
    assert old["text_classification/sst_soft/seed-0"].stale is None
    both = combine(old, given(results.plan, now))
    assert {one.stale for one in with_staleness(both, now).values()} == {None}


@pytest.mark.parametrize(
    ("part", "reason"),
    [("training", "of other settings"), ("data", "of other data"), ("variant", GONE)],
)
def test_what_the_plan_asks_for_no_more_is_stale(results: Results, part: str, reason: str) -> None:
    results.add("stack_language", "uniform_soft", 0)
    now = planned(results.plan)
    entries = given(results.plan, now)
    (key,) = entries
    spec = entries[key].run["spec"]
    if part == "variant":
        entries = {key.replace("uniform_soft", "uniform_sof"): entries[key]}
    else:
        spec[part] |= {"epochs": 3} if part == "training" else {"recipe": "0" * 12}
    assert [one.stale for one in with_staleness(entries, now).values()] == [reason]


def test_the_variants_that_a_scale_leaves_out_are_gone(results: Results) -> None:
    demo = planned(plan_of(results.folder.parent, "demo"))
    assert demo("stack_language/uniform_soft/seed-0")
    assert demo("stack_language/half_digits_soft/seed-0") is None


def test_data_with_other_contents_are_stale_for_good(results: Results, docs: Path) -> None:
    add(results, 0, digest="e")
    for path in results.folder.rglob("run.json"):
        sealing.change(path, lambda run: run.update(finished="2026-11-19T10:00:00+00:00"))
    results.publish(docs)
    shutil.rmtree(results.folder)
    add(results, 1)
    assert set(results.publish(docs).values()) == {"of data with other contents"}
    shutil.rmtree(results.folder)
    results.add("stack_language", "uniform_soft", 0)
    assert len(results.publish(docs)) == 2
    assert soft(docs) == [1]


def test_results_of_other_code_are_refused(results: Results, docs: Path) -> None:
    add(results, 0)
    add(results, 1, code="1" * 16)
    with pytest.raises(ReportingError, match=r"sst_soft/seed-1\.json: of other code; run this"):
        results.publish(docs)
    assert not docs.exists() or not list(docs.iterdir())


def test_what_is_no_longer_made_is_removed(results: Results, docs: Path) -> None:
    add(results, 0)
    results.publish(docs)
    old = docs / "lite/tables/discrete_transformer/table_9.csv"
    old.write_text("x")
    sealing.put(docs / "lite/claims/other_paper.json", {"claims": []})
    results.publish(docs)
    assert not old.exists() and not (docs / "lite/claims/other_paper.json").exists()
    assert old.with_name("table_6_1.csv").is_file()


def test_stale_runs_are_told_and_are_no_error(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    only_papers(monkeypatch, "discrete_transformer")
    brief(monkeypatch)
    monkeypatch.chdir(clone)
    results = Results(clone / "results", "lite")
    add(results, 0, 1)
    plan = plan_of(clone / "results")
    docs = Path("docs/reproduction")
    publish(plan, docs, planned(plan))
    assert stale_now(plan, docs, planned(plan)) == {}
    assert set(stale_now(plan, docs, today(plan, "1" * 16)).values()) == {"of other code"}
    for page, text in summarised(docs).items():
        page.write_text(text)
    path = docs / "lite/runs/text_classification.jsonl"
    runs = read_lines(path)
    runs["sst_soft/seed-0"]["spec"]["code"] = "x"
    write_lines(path, runs)
    sealing.relist(docs / "lite/index.json")
    crate = docs / "lite" / NAME
    crate.write_text(crate_text(crate.parent, published(crate.parent), Paper.all(), dated(crate)))
    sealing.relist(docs / "lite/index.json")
    check(Path("results"), docs)
    stale = "stale: lite: text_classification/sst_soft/seed-0: of other code"
    said = capsys.readouterr().err.splitlines()
    assert said == [stale, MEND] and "make equivalent SINCE=" in MEND


def test_pages_show_main_claims_and_count_all(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clone)
    verdicts = ["holds", "undecided", "does not hold", "not run", "not run", "holds", "undecided"]
    claims = [
        claim(claim=f"claim {n}", verdict=verdict, headline=n in (1, 2, 5)).told()
        for n, verdict in enumerate(verdicts)
    ]
    for one, experiment in ((claims[0], "stack_language"), (claims[5], "text_classification")):
        one["measures"] = [f"docs/reproduction/lite/runs/{experiment}.jsonl#soft/seed-0"]
    claims.append(claim(verdict="holds", check=True).told())
    docs = Path("docs/reproduction")
    sealing.put(docs / "lite/claims/one.json", {"claims": claims})
    readme, main, _ = summarised(docs).values()
    example, table = main.split("\n| claim |")
    assert (
        re.findall(r"claim (\d) ", table) == ["1", "2", "5"] and "For example: claim 5 " in example
    )
    (reference, _) = Paper("discrete_transformer").about.references
    assert claims[0]["source"].startswith(reference.key)
    of_paper = f"[{reference.name}](docs/reproduction/lite/{reference.key}.md)"
    for name in (of_paper, "all"):
        assert f"\n| {name} | 7 | 2 | 1 | 2 | 2 |\n" in readme
    assert "Of the 2 that hold, 1 are about generated toy tasks." in readme
    assert "[Explicit Sparse Transformer](docs/reproduction/lite/zhao2019.md) | 0 | 0 |" in readme
    assert f"- **[{reference.title}]({reference.link})** (`{reference.key}`). " in readme


def test_undefined_measures_can_be_published(results: Results, docs: Path) -> None:
    add(results, 0, 1)
    for path in results.measures:
        measures = read_verified(path)
        found = measures["evaluators"]["attention_importance"]["scalars"]
        found["tau_norm"] = plain({"value": float("nan"), "unit": "tau", "n": 0})
        sealing.put(path, measures)
    results.publish(docs)
    (cell, *_) = read_table(docs / "lite/tables/discrete_transformer/table_6_1.csv").cells["mean"]
    page = (docs / "lite/kinley2020.md").read_text()
    assert cell == "undefined" and "| – | 0.69±0.11 | – |" in page
    assert "NaN" not in (docs / "lite/runs/text_classification.jsonl").read_text()


def test_arrays_are_rounded(results: Results, docs: Path) -> None:
    add(results, 0)
    results.publish(docs)
    evaluators = line(docs, 0)["measures"]["evaluators"]
    taus = evaluators["attention_importance"]["arrays"]["tau_norm"]
    assert len(taus) == 1821 and taus[3] is None
    assert all(tau == round(tau, 4) for tau in taus if tau is not None)


def test_photos_are_not_published() -> None:
    shown = {"arrays": {"names": ["a.jpg"], "pictures": ["iVBORw0KGgo="]}, "scalars": {}}
    run: dict[str, Any] = {"files": {}, "checkpoints": {}}
    result = RunResult(Path("x.json"), {"evaluators": {"pictures": shown}}, run)
    found = result.publishable().measures["evaluators"]["pictures"]
    assert found == {"arrays": {"names": ["a.jpg"], "pictures": [""]}, "scalars": {}}
    assert shown["arrays"]["pictures"] == ["iVBORw0KGgo="]


def test_a_file_that_is_too_large_leaves_everything_as_it_was(
    results: Results, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(results, 0)
    monkeypatch.setattr(publishing, "LIMIT", 10_000)
    with pytest.raises(ReportingError, match=r"would be larger than 1 MiB"):
        results.publish(docs)
    assert list(docs.iterdir()) == []


def test_a_folder_in_place_of_a_file_leaves_all_as_it_was(results: Results, docs: Path) -> None:
    add(results, 0)
    table = docs / "lite/kinley2020.md"
    table.mkdir(parents=True)
    with pytest.raises(ReportingError, match=f"^{table} is a folder; .*: git restore {docs}$"):
        results.publish(docs)
    assert [path for path in docs.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda path: path.unlink(), r"run\.json: this file does not exist"),
        (
            lambda path: sealing.change(path, lambda run: run.update(identity="x")),
            "are of different runs",
        ),
    ],
)
def test_runs_without_their_provenance_are_refused(
    results: Results, damage: object, sentence: str
) -> None:
    results.add("text_classification", "sst_soft", 0)
    (run,) = results.runs
    damage(run)
    with pytest.raises(ReportingError, match=sentence):
        given(results.plan, planned(results.plan))


def test_corpora_stay_published_without_their_data(
    results: Results, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts are kept in the sidecar, until the recipe of their row is another."""
    only_papers(monkeypatch, "attention_learning")
    add(results, 0)
    results.publish(docs)
    table = docs / "lite/tables/attention_learning/table_8"
    facts = corpora(docs, "attention_learning/table_8")
    assert {one["missing"] for one in facts.values()} >= {"it has not been described yet"}
    facts["sms_spam"] = {
        "recipe": facts["sms_spam"]["recipe"],
        "form": "official",
        "digest": "5" * 64,
        "splits": {split: {"examples": 9, "tokens": 99} for split in ("train", "dev", "test")},
        "vocabulary_size": 7,
        "statistics": {},
    }
    found = results.folder / "tables/attention_learning/table_8.json"
    sealing.put(found, {"corpora": facts, "files": {}})
    found.with_suffix(".csv").touch()
    for _ in range(2):
        results.publish(docs)
        text = (docs / "lite/snell2021.md").read_text()
        assert "\n| train # | 9 | 3500 | ✗ |" in text and "| Yelp |" not in text
        shutil.rmtree(found.parent, ignore_errors=True)
    assert "### Table 8: sizes of the classification corpora" in text
    told = read_lines(docs / "lite/tables" / SIDECARS)
    told["attention_learning/table_8"]["corpora"]["sms_spam"]["recipe"]["min_count"] = 2
    write_lines(docs / "lite/tables" / SIDECARS, told)
    sealing.relist(docs / "lite/index.json")
    results.publish(docs)
    assert "9" not in {one["mean"] for one in read_csv(table.with_suffix(".csv"))}
    assert "### Table 8" not in (docs / "lite/snell2021.md").read_text()


def test_changes_of_tolerance_are_told() -> None:
    one = {"p accuracy": {"seed_std": 0.8}}
    two = {"p accuracy": {"seed_std": 1.5}}
    history = tolerances.extended([], one, "2026-01-01")
    assert tolerances.extended(history, one, "2026-02-01") == history
    assert tolerances.changes(history, one) == []
    longer = tolerances.extended(history, two, "2026-02-01")
    assert tolerances.changes(longer, two) == [
        "p accuracy (2026-02-01): from seed_std 0.8 to seed_std 1.5"
    ]
    assert tolerances.changes(history, two) == [
        "p accuracy (not yet published): from seed_std 0.8 to seed_std 1.5"
    ]
    assert tolerances.changes([], one) == []
