"""What `make` prints, and how it remembers the environment that it made."""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = "bash cat cut env git make python3 sed sh sha256sum which"
"""What make and its recipes start."""


class Environment:
    """A copy of the project with an environment that `make` takes for its own."""

    def __init__(self, project, folder: Path, torch: str) -> None:
        self.project, self.folder = project, folder
        folder.mkdir()
        for name in ("bin", "lib"):
            (folder / name).symlink_to(Path(sys.prefix) / name)
        shared = "true" if torch == "keep" else "false"
        (folder / "pyvenv.cfg").write_text(
            f"home = {sys.base_prefix}/bin\ninclude-system-site-packages = {shared}\n"
        )
        lock = (project.root / "envs/lock.txt").read_bytes()
        (folder / f".ready-{torch}-{hashlib.sha256(lock).hexdigest()[:16]}").touch()

    def make(self, *arguments: str, fails: bool = False) -> str:
        """Run make and return what it says."""
        done = subprocess.run(
            ["make", "--no-print-directory", f"VENV={self.folder}", *arguments],
            cwd=self.project.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stdout
        return done.stdout


@pytest.fixture
def venv(fresh, tmp_path):
    """An environment of the lock, with the project before its first run."""
    return Environment(fresh, tmp_path / "venv", "lock")


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    """Run make as from a shell, also where these tests are run by make."""
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "TORCH", "RESULTS", "SCALE", "VENV", "CI"):
        monkeypatch.delenv(name, raising=False)


def test_help_has_a_line_for_every_target(fresh, venv):
    makefile = (fresh.root / "Makefile").read_text()
    (phony,) = [line for line in makefile.splitlines() if line.startswith(".PHONY: ")]
    lines = venv.make("help").splitlines()
    assert {line.split()[0] for line in lines if line.startswith("  ")} == {*phony.split()[1:]}
    groups = [line for line in lines if line and not line.startswith(" ")]
    assert groups == ["Start", "Run", "Results", "Checks", "Upkeep"]
    assert max(map(len, lines)) <= 100


def test_plan_names_each_job(venv):
    lines = venv.make("plan", "LIST=1").splitlines()
    jobs = [line.split() for line in lines[:-1]]
    for rule in ("train", "measure"):
        assert [rule, "toy_language/soft/seed-0"] in jobs
    assert ["results_toy_tuned_losses"] in jobs
    assert ["report"] in jobs
    assert lines[-1] == f"{len(jobs)} jobs would run"
    said = venv.make("plan", "SCALE=dmo", fails=True)
    assert 'scale: "dmo" is not allowed' in said


def test_results_lie_where_the_configuration_has_them(fresh, venv):
    config = fresh.root / "config.yaml"
    config.write_text(re.sub(r"(?m)^results: results", "results: my results", config.read_text()))
    reading = ("demo", "plan", "run", "mirror", "so-far", "explore", "publish")
    for target in (*reading, "verify", "mend", "forget", "gc"):
        assert "--results" not in venv.make("-n", target)
        assert '--results "theirs"' in venv.make("-n", target, "RESULTS=theirs")
    assert "my results/store holds no run 'x'" in venv.make("forget", "RUN=x", fails=True)


def test_run_reads_the_file_of_changes_before_snakemake_does(fresh, venv):
    mine = fresh.root / "mine.yaml"
    for target in ("run", "plan", "so-far"):
        mine.write_text("seeds: 1\n\tscale: lite\n")
        (line, *_) = venv.make(target, "OVERLAY=mine.yaml", fails=True).splitlines()
        assert line.startswith("error: mine.yaml, line 2: not valid YAML: "), (target, line)
        mine.unlink()
        (line, *_) = venv.make(target, "OVERLAY=mine.yaml", fails=True).splitlines()
        assert line.startswith("error: mine.yaml: cannot be read (No such file"), (target, line)
    assert not (fresh.root / "results").exists()


def test_a_configuration_that_cannot_be_read_is_named(fresh, venv):
    with (fresh.root / "config.yaml").open("ab") as config:
        config.write(b"# caf\xe9\n")
    for target in ("run", "plan"):
        (line, _) = venv.make(target, fails=True).splitlines()
        assert re.search(r"^error: .*config\.yaml, line \d+: not valid YAML: a byte", line)


@pytest.mark.parametrize(
    ("given", "near"),
    [("scale=lite", "SCALE"), ("SCALES=lite", "SCALE"), ("OVERLY=mine.yaml", "OVERLAY")],
)
def test_a_variable_that_nothing_reads_is_refused(venv, given, near):
    for target in ("plan", "run", "demo"):
        said = venv.make(target, given, fails=True)
        name = given.partition("=")[0]
        assert f'error: {name}= is no variable of this Makefile; did you mean "{near}"?' in said


@pytest.mark.parametrize(
    ("name", "value", "sign"),
    [
        *(("RESULTS", it, it[1]) for it in ('a"b', "a`touch X`", "a$(shell touch X)", "a\\b")),
        ("SCALE", 'demo"; touch X; "', '"'),
        ("ONLY", "toy; touch X", ";"),
        ("VENV", ".venv; touch X; #", ";"),
    ],
)
def test_a_variable_that_a_shell_would_read_is_refused(fresh, venv, monkeypatch, name, value, sign):
    says = f"error: {name}: the shell would read the {sign} in it; give a name without that"
    assert says in venv.make("plan", f"{name}={value}", fails=True)
    if name != "VENV":
        monkeypatch.setenv(name, value)
        assert says in venv.make("plan", fails=True)
    assert not (fresh.root / "X").exists()


def test_a_variable_of_two_lines_is_refused(fresh, venv):
    assert "ONLY: it has more than one line" in venv.make("plan", "ONLY=toy\ntouch X", fails=True)
    assert not (fresh.root / "X").exists()


def test_spaces_and_letters_of_other_languages_stay_accepted(venv):
    results = "mein (bester) Lauf, übung & it's 1 von 2; *"
    assert f'--results "{results}"' in venv.make("-n", "gc", f"RESULTS={results}")
    assert " 'a b' c " in venv.make("-n", "plan", "ONLY='a b' c")


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("toy,toy_language", 'nothing makes the target "toy,toy_language"; put a space between'),
        ("results/demo/runs/toy_language/soft/seed-x.json", 'seed-x.json"; name a paper'),
    ],
)
def test_a_target_that_nothing_makes_is_a_sentence(venv, target, says):
    for command in ("plan", "run"):
        said = venv.make(command, f"ONLY={target}", fails=True)
        assert says in said and "error: command line: " in said and "Exception" not in said


@pytest.mark.parametrize("there", [True, False])
def test_a_profile_of_slurm_without_slurm_is_a_sentence(fresh, venv, tmp_path, monkeypatch, there):
    """`sinfo` that fails stands for a machine with Slurm's programs and no Slurm."""
    commands = tmp_path / "commands"
    commands.mkdir()
    for name in PROGRAMS.split():
        if path := shutil.which(name):
            (commands / name).symlink_to(path)
    for name in ("sinfo", "squeue", "sacct") if there else ():
        (commands / name).write_text("#!/bin/bash\necho 'sinfo: fatal: no source' >&2; exit 1\n")
        (commands / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(commands))
    said = venv.make("run", "PROFILE=slurm", "ONLY=toy", fails=True)
    fault = "sinfo: fatal: no source" if there else "sinfo is not installed"
    assert f"error: PROFILE=slurm submits to Slurm, and none answers here ({fault}); run" in said
    assert not (fresh.root / "results").exists()


def test_run_asks_for_targets_before_the_file_of_changes(fresh, venv):
    (fresh.root / "mine.yaml").write_text("seeds: [3]\n")
    run = "results/lite/runs/toy_language/soft/seed-3"
    only = f"ONLY={run}/history.jsonl {run}/run.json"
    said = venv.make("run", "SCALE=lite", only, "OVERLAY=mine.yaml", "JOBS=1").splitlines()
    assert (fresh.root / run / "run.json").is_file()
    assert re.fullmatch(r"Ran:      \d+ jobs, 1 of them trainings, in .* s", said[-2])
    assert said[-1].startswith("Next:     make so-far")
    said = venv.make("-n", "run", "ONLY=toy", "PROFILE=slurm", "JOBS=7")
    assert "workflow run toy " in said and '--jobs "7" --profile "slurm"' in said


def test_a_run_that_fails_says_the_sentence_and_what_is_done(fresh, venv):
    run = "results/demo/runs/toy_language/soft/seed-0"
    (fresh.root / "workflow/scripts/train.py").write_text('raise SystemExit("error: it is ill.")')
    said = venv.make("run", f"ONLY={run}/run.json", fails=True)
    log = "results/demo/logs/train/toy_language/soft/seed-0.log"
    assert re.search(rf"^train toy_language/soft/seed-0 failed: .* \({log}\)$", said, re.M)
    assert re.search(r"^Stopped: \d of \d jobs are done after .*; the same command", said, re.M)
    assert "Ran: " not in said and "CalledProcessError" not in said
    assert "Stopped" not in venv.make("run", "ONLY=toi", fails=True)


@pytest.mark.parametrize("parallel", ["0", "-3"])
def test_a_plan_is_of_one_run_at_once_or_more(venv, parallel):
    said = venv.make("plan", f"PARALLEL={parallel}", fails=True).splitlines()[0]
    wanted = f'"{parallel}" is not a whole number of 1 or more'
    assert said == f"error: PARALLEL= (--parallel): {wanted}"


def test_the_scale_is_the_configured_one_but_nothing_is_published_unnamed(fresh, venv):
    fresh.edit("config.yaml", "scale: demo", "scale: lite")
    assert "lite/measures: nothing was measured yet" in venv.make("so-far", fails=True)
    assert "scale lite downloads" in venv.make("mirror", "TO=there")
    assert "scale demo downloads" in venv.make("mirror", "TO=there", "SCALE=demo")
    assert "--scale is missing; name what to publish" in venv.make("publish", fails=True)


@pytest.mark.parametrize("target", ["publish", "so-far"])
def test_an_overlay_is_read_with_its_file(venv, target):
    said = venv.make("-n", target, "SCALE=demo+mine", "OVERLAY=my changes.yaml")
    assert '--scale "demo+mine"' in said and '--configfile "my changes.yaml"' in said
    assert "--configfile" not in venv.make("-n", target)
    (line,) = [line for line in venv.make("help").splitlines() if line.startswith("  publish")]
    assert "OVERLAY=file" in line


def test_what_is_done_so_far_is_shown_and_nothing_else_changes(project, tmp_path):
    venv = Environment(project, tmp_path / "venv", "lock")
    results = project.root / "results/demo"
    measures = sorted((results / "measures").rglob("*.json"))
    (results / "measures/toy_language/soft/seed-0.json").unlink()
    before = {path: path.stat().st_mtime_ns for path in results.rglob("*") if path.is_file()}
    *_, said, where = venv.make("so-far").splitlines()
    assert where == "Report so far:  results/demo/so_far/report.html"
    assert said.startswith(f"{len(measures) - 1} of {len(measures)} planned runs; ")
    losses = (results / "so_far/tables/toy/losses.md").read_text().splitlines()
    rows = {line.split("|")[1].strip(): line for line in losses if line.count("|") > 2}
    assert "- Not run: soft." in losses and "not run" not in rows["discrete"]
    assert "Not run" not in (results / "tables/toy/losses.md").read_text()
    for path, changed in before.items():
        assert path.stat().st_mtime_ns == changed
    said = venv.make("so-far", "SCALE=lite", fails=True)
    assert "error: results/lite/measures: nothing was measured yet; run this scale." in said


def test_an_environment_of_another_lock_follows_the_lock_that_it_includes(fresh, venv):
    before = venv.make("-n", "plan", "LOCK=envs/lock-captions.txt")
    with (fresh.root / "envs/lock.txt").open("a") as lock:
        lock.write("# changed\n")
    after = venv.make("-n", "plan", "LOCK=envs/lock-captions.txt")
    ready = re.compile(r"\.ready-lock-\w+")
    assert ready.search(before).group() != ready.search(after).group()


@pytest.mark.parametrize("torch", ["lock", "cpu", "keep"])
def test_the_kind_of_torch_is_remembered(fresh, tmp_path, torch):
    venv = Environment(fresh, tmp_path / "venv", torch)
    assert "install.py" not in venv.make("-n", "plan")
    with (fresh.root / "envs/lock.txt").open("a") as lock:
        lock.write("# changed\n")
    assert f"--torch {torch} --lock envs/lock.txt" in venv.make("-n", "plan")
    cuda = {"lock": "lock", "cpu": "lock", "keep": "keep"}[torch]
    said = venv.make("-n", "plan", "LOCK=envs/lock-cuda.txt")
    assert f"--torch {cuda} --lock envs/lock-cuda.txt" in said


def test_ci_skips_nothing_and_takes_torch_of_the_default_index(fresh, tmp_path, monkeypatch):
    script = Path(__file__).resolve().parents[2] / ".ci/run"
    assert "export CI=1\nmake test\n" in script.read_text()
    monkeypatch.setenv("CI", "1")
    said = Environment(fresh, tmp_path / "venv", "cpu").make("-n", "plan", f"VENV={tmp_path}/none")
    assert "--torch lock " in said
