"""Runs that go to a machine without Snakemake, are trained there, and come home."""

import ast
import io
import lzma
import os
import re
import resource
import signal
import subprocess
import sys
import tarfile
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from safetensors.torch import load_file, save_file

from tests.sealing import put
from tests.workflow.conftest import TOY, Project, copy_code
from workflow.files import write_json
from workflow.lent import priority, runner
from workflow.lent.priority import QueuedRun, prioritise
from workflow.runtime.integrity import checksums_of, read_verified, with_checksum, write_archive

RUNS = SOFT, GUMBEL, TUNED = (
    "toy_language/soft/seed-0",
    "toy_language/gumbel/seed-0",
    "toy_tuning/tuned/seed-0",
)
ABSENT = ("snakemake", "yaml", "pandas", "pydantic", "sklearn", "sacrebleu", "matplotlib")
ABSENT += ("jsonschema",)
"""What is not installed there."""
BARE = f"""
import runpy, sys
sys.modules.update(dict.fromkeys({ABSENT!r}))
runpy.run_module("workflow.lent.runner", run_name="__main__", alter_sys=True)
"""


class Lent:
    """A machine with a bundle on it."""

    def __init__(self, bundle: Path, folder: Path) -> None:
        with tarfile.open(bundle) as tar:
            tar.extractall(folder, filter="data")
        self.folder = folder / "toy"
        self.results = self.folder / "results.tar"

    def start(self, *arguments: str, **options) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-c", BARE, *arguments],
            cwd=self.folder,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def run(self, *arguments: str, fails: bool = False, **options) -> str:
        """Work there; return what it says in the end, or where it `fails` on stderr."""
        process = self.start(*arguments, **options)
        said, wrong = process.communicate(timeout=200)
        assert (process.returncode != 0) == fails, said + wrong
        assert "Traceback" not in wrong
        return said + wrong if fails else said


def pack(project: Project, runs: str, *more: str, fails: bool = False) -> str:
    """Pack runs of scale demo into toy.tar."""
    given = ("--runs", runs, "--to", "toy.tar", "--scale", "demo", "--results", "results")
    return project.command("bundle", *given, *more, fails=fails)


def merge(project: Project, archive: Path, fails: bool = False) -> str:
    """Merge results into the store."""
    return project.command("merge", "--from", str(archive), "--results", "results", fails=fails)


def store(project: Project) -> dict[str, bytes]:
    """All that the store has, but for who worked on it."""
    folder = project.root / "results/store"
    found = (path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in found
        if not path.name.startswith("generation-")
    }


def trained(lent: Lent) -> dict[str, bytes]:
    """The weights of every run on a machine."""
    found = lent.folder.glob("results/store/*/result/weights.safetensors")
    return {path.parts[-3]: path.read_bytes() for path in found}


def archived(results: Path) -> set[str]:
    """The files of an archive."""
    with tarfile.open(results) as tar:
        return set(tar.getnames())


def sentence(said: str) -> str:
    """The one sentence of a program that refused to go on."""
    lines = [line for line in said.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1 and "Traceback" not in said, said
    return lines[0]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The toy project, which has trained nothing, with a bundle of all of its runs."""
    project = copy_code(tmp_path_factory.mktemp("home") / "project", TOY)
    pack(project, "toy_*")
    return project


@pytest.fixture(scope="module")
def worked(home, tmp_path_factory):
    """A machine on which all of that bundle was done."""
    lent = Lent(home.root / "toy.tar", tmp_path_factory.mktemp("there"))
    lent.said = lent.run()
    return lent


@pytest.fixture
def another(home, tmp_path):
    """A copy of the project before its first run, with the data."""
    project = copy_code(tmp_path / "another", TOY)
    (project.root / "results").symlink_to(tmp_path / "results")
    subprocess.run(["cp", "-r", home.root / "results", tmp_path / "results"], check=True)
    return project


def test_all_runs_are_trained_and_measured_in_ten_lines(worked):
    assert worked.said.startswith("3 of 3 runs are trained (3 in this call, ")
    assert "3 measured, 0 failed, 0 left" in worked.said
    assert len(worked.said.splitlines()) <= 10


def test_a_bundle_holds_no_more_than_a_run_needs(home):
    with tarfile.open(home.root / "toy.tar") as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    rooms = {name.split("/")[0] for name in names}
    assert rooms == {"bundle.json", "model", "workflow", "results"}
    assert not [name for name in names if "papers" in name or "reporting" in name]
    assert len([name for name in names if name.startswith("workflow")]) <= 40


def test_what_came_home_is_not_trained_or_measured_again(another, worked, finished):
    assert "3 added\n" in merge(another, worked.results)
    another.snakemake("toy", config=("scale=demo",))
    for run in (SOFT, GUMBEL, TUNED):
        assert "is in the store: nothing to train" in another.log("train", run)
        assert another.log("measure", run) == ""
        assert another.weights(run) == finished.weights(run)
    planned = another.command("plan", "toy", "--results", "results")
    assert re.search(r"^total +0 +0 ", planned, re.M), planned


def test_a_run_that_is_there_stays_and_the_way_to_take_the_other_is_said(another, worked, tmp_path):
    pack(another, SOFT)
    other = Lent(another.root / "toy.tar", tmp_path / "other")
    other.run()
    merge(another, worked.results)
    before = store(another)
    said = merge(another, other.results)
    assert "1 trained twice, of which the other stays" in said
    (identity,) = re.findall(r"left out: run (\w{16}) was trained here too", said)
    assert store(another) == before
    assert f"make forget RUN={identity}, then merge again" in said
    another.command("forget", "--results", "results", "--run", identity)
    assert "1 added" in merge(another, other.results)
    assert store(another) != before


def test_what_was_merged_stays_until_a_result_has_used_it(another, worked):
    unused = ("gc", "--results", "results")
    merge(another, worked.results)
    before = store(another)
    said = another.command(*unused)
    assert "0 runs removed" in said and "3 runs stay that were merged or are not finished" in said
    assert store(another) == before
    another.snakemake("toy", config=("scale=demo",))
    assert not [name for name in store(another) if name.endswith("/merged")]
    subprocess.run(["rm", "-r", another.root / "results/demo/runs"], check=True)
    assert "3 runs removed" in another.command(*unused)


def test_weights_that_are_not_finite_are_left_out(another, worked, tmp_path):
    with tarfile.open(worked.results) as tar:
        tar.extractall(tmp_path, filter="data")
    result = min(tmp_path.glob("store/*/result"))
    weights = load_file(result / "weights.safetensors")
    part = max(weights)
    weights[part] = weights[part] * float("nan")
    save_file(weights, result / "weights.safetensors")
    record = read_verified(result / "run.json")
    record["files"] = checksums_of(result, record["files"])
    put(result / "run.json", record)
    listing = read_verified(tmp_path / "results.json")
    files = {name: tmp_path / name for name in listing.pop("files")}
    write_archive(tmp_path / "odd.tar", files, "results.json", listing)
    said = merge(another, tmp_path / "odd.tar", fails=True)
    assert f"left out: run {result.parent.name}: {part} in weights.safetensors has a value" in said
    assert "2 added, 1 left out" in said
    assert not (another.root / "results/store" / result.parent.name).exists()
    assert "1 added, 2 there already" in merge(another, worked.results)


def test_a_run_that_is_not_finished_is_named(another, worked, tmp_path):
    (tmp_path / "state").touch()
    files = {"store/0123456789abcdef/history.jsonl": tmp_path / "state"}
    write_archive(tmp_path / "odd.tar", files, "results.json", {"schema": 1})
    said = merge(another, tmp_path / "odd.tar")
    assert "left out: run 0123456789abcdef is not finished" in said and "1 not finished" in said


@pytest.mark.parametrize("told", [{"schema": 1, "files": {"/etc/none": {}}}, {"odd": 1}])
def test_an_archive_with_another_listing_is_a_sentence(another, tmp_path, told):
    content = with_checksum(told)
    with tarfile.open(tmp_path / "odd.tar", "w") as tar:
        member = tarfile.TarInfo("results.json")
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    assert "nothing was added" in sentence(merge(another, tmp_path / "odd.tar", fails=True))


@pytest.mark.parametrize("at", [0.02, 0.6])
def test_a_tampered_file_is_refused(another, worked, tmp_path, at):
    content = bytearray(worked.results.read_bytes())
    content[int(len(content) * at) // 512 * 512 + 3] ^= 1
    (tmp_path / "odd.tar").write_bytes(content)
    said = sentence(merge(another, tmp_path / "odd.tar", fails=True))
    assert "odd.tar" in said and "nothing was added" in said
    assert store(another) == {} and not list((another.root / "results/store").glob(".*"))


def test_a_file_that_is_cut_short_is_refused(another, worked, tmp_path):
    content = worked.results.read_bytes()
    (tmp_path / "short.tar").write_bytes(content[: len(content) // 2])
    assert "nothing was added" in sentence(merge(another, tmp_path / "short.tar", fails=True))
    (tmp_path / "short.tar.xz").write_bytes(lzma.compress(content)[: len(content) // 20])
    assert "short.tar.xz is cut" in sentence(merge(another, tmp_path / "short.tar.xz", fails=True))
    packed = bytearray(lzma.compress(content))
    packed[len(packed) // 2] ^= 1
    (tmp_path / "odd.tar.xz").write_bytes(packed)
    assert "nothing was added" in sentence(merge(another, tmp_path / "odd.tar.xz", fails=True))
    assert store(another) == {}


@pytest.mark.parametrize(
    ("archive", "said"),
    [
        ("none.tar", "none.tar does not exist; name what a bundle wrote: make merge FROM="),
        ("model", "model is a folder; name what a bundle wrote: make merge FROM=results.tar"),
        ("toy.tar", "toy.tar is a bundle; name what was made of it there: make merge FROM="),
    ],
)
def test_what_is_no_archive_of_results_is_told(another, home, archive, said):
    (another.root / "toy.tar").symlink_to(home.root / "toy.tar")
    assert said in sentence(merge(another, Path(archive), fails=True))
    assert store(another) == {}


def test_a_file_in_place_of_a_folder_is_told(another, worked):
    run = another.root / "results/store" / next(iter(trained(worked)))
    run.parent.mkdir()
    run.touch()
    said = f"{run.relative_to(another.root)} is no folder; move it away, and merge again"
    assert said in sentence(merge(another, worked.results, fails=True))
    assert [path.name for path in run.parent.iterdir()] == [run.name]
    run.unlink()
    run.parent.rmdir()
    run.parent.touch()
    said = sentence(merge(another, worked.results, fails=True))
    assert "results/store is no folder; move it away" in said


def test_a_run_of_other_code_is_left_out(another, worked):
    another.edit("model/normalizers/gumbel.py", "dim=-1", "dim=-1 + 0")
    said = merge(another, worked.results, fails=True)
    assert "is of other code than is here; pack it again" in said
    assert "2 added, 1 left out" in said


def test_a_killed_session_goes_on_where_it_stopped(another, tmp_path):
    pack(another, "toy_*")
    lent = Lent(another.root / "toy.tar", tmp_path / "lent")
    process = lent.start(start_new_session=True)
    assert "train" in process.stderr.readline()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(1)  # its fork ends too
    said = lent.run()
    assert said.startswith("3 of 3 runs are trained (2 in this call")
    assert "3 added" in merge(another, lent.results)


def test_a_damaged_bundle_is_refused(home, tmp_path):
    lent = Lent(home.root / "toy.tar", tmp_path)
    with (lent.folder / "model/build.py").open("a") as stream:
        stream.write("\n")
    assert "model/build.py is damaged; unpack" in sentence(lent.run(fails=True))
    (lent.folder / "bundle.json").unlink()
    assert "this folder is no bundle" in sentence(lent.run(fails=True))
    assert not lent.results.exists()


def test_a_bundle_and_results_of_another_version_are_refused(another, home, tmp_path):
    lent = Lent(home.root / "toy.tar", tmp_path / "lent")
    listing = lent.folder / "bundle.json"
    put(listing, read_verified(listing) | {"schema": 2})
    assert "of another version than the code beside it" in sentence(lent.run(fails=True))
    write_archive(tmp_path / "odd.tar", {}, "results.json", {"schema": 2})
    said = sentence(merge(another, tmp_path / "odd.tar", fails=True))
    assert "odd.tar is of another version" in said and store(another) == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--at-once", "0"), "--at-once: 0 must be at least 1"),
        *((("--minutes", it), f"--minutes: {it} must be more than 0") for it in ("0", "-1", "nan")),
        (("--to", "model"), "model is a folder; name a file that can be written"),
        (("--to", "bundle.json/results.tar"), "bundle.json is a file; name a file that can be"),
    ],
)
def test_what_cant_be_worked_with_is_said_before_anything_is_done(home, tmp_path, given, said):
    lent = Lent(home.root / "toy.tar", tmp_path)
    assert said in sentence(lent.run(*given, fails=True))
    assert not (lent.folder / "logs").exists()


@pytest.mark.parametrize("version", [(3, 8, 20), (3, 10, 1)])
def test_an_old_python_is_refused_before_imports_that_fail_there(version):
    old = f"""
import runpy, sys
sys.version_info = {version}
sys.modules["workflow.lent.program"] = None
runpy.run_module("workflow.lent.runner", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", old], capture_output=True, text=True)
    said = f"this is Python 3.{version[1]}; take 3.11 or newer: python3.11 -m workflow.lent.runner"
    assert said in sentence(done.stderr) and done.returncode == 1
    ast.parse(Path(runner.__file__).read_text(), feature_version=(3, 8))


def test_a_machine_without_torch_is_told_what_to_install(worked):
    without = BARE.replace("sys.modules.update", 'sys.modules["torch"] = None; sys.modules.update')
    done = subprocess.run(
        [sys.executable, "-c", without], cwd=worked.folder, capture_output=True, text=True
    )
    assert "torch is not installed; pip install torch numpy" in sentence(done.stderr)


def test_a_full_disk_leaves_the_results_whole(worked, tmp_path):
    before = worked.results.read_bytes()
    limit = (len(before) // 2, len(before) // 2)
    small = partial(resource.setrlimit, resource.RLIMIT_FSIZE, limit)
    said = worked.run(fails=True, preexec_fn=small)
    assert "mend the cause, and run the same again" in sentence(said)
    assert worked.results.read_bytes() == before


def test_a_run_that_fails_does_not_stop_the_others(another, tmp_path):
    another.edit(
        "workflow/papers/toy/experiments.yaml",
        "label: discrete\n",
        "label: discrete\n        training: {optimizer: {lr: 1e38}}\n",
    )
    pack(another, "toy_*")
    lent = Lent(another.root / "toy.tar", tmp_path / "lent")
    said = lent.run(fails=True)
    assert "2 of 3 runs are trained" in said and "1 failed, 0 left" in said
    assert f"Failed: {GUMBEL}: the loss or its gradient is not a finite number" in said
    assert "2 added" in merge(another, lent.results)


def test_time_that_is_over_begins_nothing(home, tmp_path):
    lent = Lent(home.root / "toy.tar", tmp_path)
    said = lent.run("--minutes", "0.01")
    assert said.startswith("0 of 3 runs are trained") and "3 left" in said


def test_a_finished_parent_goes_along_and_another_goes_first(another, worked, tmp_path):
    assert "2 runs" in pack(another, TUNED)
    merge(another, worked.results)
    said = pack(another, "toy_*", fails=True)
    assert "nothing to pack: of the runs named, 3 are finished" in sentence(said)
    tuned = next((another.root / "results/store").glob("*/result/checkpoints")).parents[1]
    subprocess.run(["rm", "-r", tuned], check=True)
    assert "1 runs" in pack(another, TUNED)
    lent = Lent(another.root / "toy.tar", tmp_path / "lent")
    assert lent.run().startswith("1 of 1 runs are trained")


@pytest.mark.parametrize(
    ("runs", "more", "said"),
    [
        ("toy_language/sotf", (), 'unknown run "toy_language/sotf"'),
        ("", (), "no runs for the bundle"),
        ("odd/*", (), 'unknown run "odd/*" (known: toy_language, toy_tuning)'),
        ("toy_*", ("--minutes", "0.001"), "take longer than MINUTES"),
    ],
)
def test_a_mistake_ends_in_a_sentence(home, runs, more, said):
    assert said in sentence(pack(home, runs, *more, fails=True))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--to", ""), "no file for the bundle"),
        (("--to", "model"), "TO=model: model is a folder; name another file"),
        (("--to", "config.yaml/b.tar"), "config.yaml is a file; name another file, such as TO="),
        (("--to", "b.tgz"), "TO=b.tgz: must end in .tar or .tar.gz"),
        *(
            (("--minutes", it), f'"{it}" is not a number of minutes above 0; leave it out')
            for it in ("0", "-1", "nan")
        ),
    ],
)
def test_what_cant_be_packed_into_is_said_before_data_is_made(fresh, more, said):
    assert said in sentence(pack(fresh, "toy_*", *more, fails=True))
    assert not (fresh.root / "results").exists()


def test_what_is_not_committed_is_told_and_names_are_quoted(another):
    subprocess.run(["git", "init", "-q"], cwd=another.root, check=True)
    said = pack(another, SOFT, "--to", "my bundle.tar")
    assert "Not committed: run.json will name a commit that files differ from" in said
    assert "tar xf 'my bundle.tar' && cd 'my bundle' && python" in said


def test_both_sides_of_a_cheap_claim_come_first():
    def run(variant: str, seed: int, minutes: float) -> QueuedRun:
        made = SimpleNamespace(
            experiment=SimpleNamespace(name="e"),
            variant=variant,
            seed=seed,
            key=f"e/{variant}/seed-{seed}",
        )
        return QueuedRun(made, {}, minutes, [])

    runs = [run(variant, seed, cost) for seed in (0, 1) for variant, cost in
            (("dear", 8), ("left", 1), ("right", 3), ("none", 1))]  # fmt: skip
    prioritise(runs, [["e/left", "e/right"], ["e/dear"], ["e/absent"]])
    assert {one.run.variant: one.worth for one in runs} == {
        "dear": 1 / 8,
        "left": 1 / 4,
        "right": 1 / 4,
        "none": 0,
    }


def test_a_published_run_that_counts_in_nothing_is_still_worth_something(tmp_path, monkeypatch):
    runs = {"e/v/seed-0": {"identity": "a", "stale": None}}
    runs["e/v/seed-1"] = {"identity": "b", "stale": "of other code"}
    write_json(tmp_path / "lite/index.json", {"runs": runs})
    monkeypatch.setattr(priority, "PUBLISHED", tmp_path)
    assert priority.published(SimpleNamespace(scale="lite")) == {"a"}
    assert priority.published(SimpleNamespace(scale="demo")) == set()


def test_what_trained_runs_lack_comes_before_further_trainings(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "ROOT", tmp_path)

    def run(key: str, identity: str) -> dict[str, object]:
        train = {"program": "workflow.scripts.train", "out": f"{key}.run", "needs": []}
        measure = {"program": "workflow.scripts.measure", "out": key, "needs": [f"{key}.run"]}
        jobs = [{**job, "arguments": [], "libraries": []} for job in (train, measure)]
        return {"key": key, "identity": identity, "minutes": 1.0, "jobs": jobs}

    runs = [run("new", "a"), run("trained", "b"), run("newer", "c"), run("another name", "b")]
    put(tmp_path / "trained.run", {})
    (tmp_path / "results/store/b/result").mkdir(parents=True)
    told = {"runs": runs, "commit": "", "dirty": False, "keep_checkpoints": False}
    put(tmp_path / runner.LISTING, told)
    ready = runner.Session(told, tmp_path / "results.tar", 60)._ready()
    names = [job["out"] for _, job in ready]
    assert names == ["trained", "another name.run", "new.run", "newer.run"]


def test_programs_that_run_at_once_make_the_same(worked, home, tmp_path):
    lent = Lent(home.root / "toy.tar", tmp_path)
    said = lent.run("--at-once", "2")
    assert said.startswith("3 of 3 runs are trained (3 in this call, ")
    assert "3 measured, 0 failed, 0 left" in said
    assert trained(lent) == trained(worked) and len(trained(lent)) == 3
    assert archived(lent.results) == archived(worked.results)


def test_programs_that_run_at_once_all_stop_in_time(home, tmp_path):
    lent = Lent(home.root / "toy.tar", tmp_path)
    process = lent.start("--at-once", "3")
    while len(list(lent.folder.glob("logs/**/*.log"))) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    said, wrong = process.communicate(timeout=100)
    assert process.returncode == 0 and "Traceback" not in wrong
    assert "0 failed" in said and lent.results.is_file()
    assert lent.run("--at-once", "2").startswith("3 of 3 runs are trained")


def test_results_that_cant_be_written_end_all_programs(home, tmp_path):
    lent = Lent(home.root / "toy.tar", tmp_path)
    process = lent.start("--at-once", "2")
    while not list(lent.folder.glob("logs/**/*.log")):
        time.sleep(0.05)
    lent.results.mkdir()
    _, wrong = process.communicate(timeout=200)
    assert "mend the cause, and run the same again" in sentence(wrong) and process.returncode == 1
    lent.results.rmdir()
    assert lent.run().startswith("3 of 3 runs are trained")
