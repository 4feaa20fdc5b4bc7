"""Copies of the project, most with one small paper, run by the real Snakemake.

Snakemake and its jobs are forks of one process, as the jobs of `make run` are.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from tests.forked import Forked

ROOT = Path(__file__).resolve().parents[2]
TOY = Path(__file__).parent / "toy"
CODE = ("Makefile", "Snakefile", "config.yaml", "model", "workflow", "envs", "profiles", "slurm")


@dataclass(frozen=True)
class Outcome:
    """What one invocation of Snakemake said and did (or, in a dry run, would do)."""

    said: str

    @property
    def jobs(self) -> list[str]:
        """The jobs as `rule run` (or `rule table`), sorted."""
        found = []
        block = r"^(?:local)?rule (\w+):\n((?: .*\n)+)"
        for rule, lines in re.findall(block, self.said, re.M):
            line = re.search(r"wildcards: (.*)", lines)
            pairs = dict(item.split("=") for item in line[1].split(", ")) if line else {}
            names = ("experiment", "variant", "seed", "table", "figure", "file")
            values = [pairs[name] for name in names if name in pairs]
            if "seed" in pairs:
                values[-1] = f"seed-{values[-1]}"
            found.append(" ".join([rule, "/".join(values)]).strip())
        return sorted(found)

    @property
    def trained(self) -> list[str]:
        """The runs of the `train` jobs."""
        return [job.removeprefix("train ") for job in self.jobs if job.startswith("train ")]

    @property
    def error(self) -> str:
        """The one line that begins with `error: `."""
        lines = [line for line in self.said.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, self.said
        return lines[0].removeprefix("error: ")


class Project:
    """A folder with the project's code and the toy paper."""

    forked: Forked

    def __init__(self, root: Path) -> None:
        self.root = root

    def snakemake(
        self, *arguments: str, config: tuple[str, ...] = (), fails: bool = False
    ) -> Outcome:
        """Run Snakemake here; the exit status must be 0, or not 0 where it `fails`."""
        command = ["snakemake", "--cores", "2", *arguments]
        if config:
            command += ["--config", *config]
        return Outcome(self._python(*command, fails=fails))

    def command(self, name: str, *arguments: str, fails: bool = False) -> str:
        """Run a command of the project here and return what it says."""
        return self._python("workflow", name, *arguments, fails=fails)

    def _python(self, *module: str, fails: bool) -> str:
        done = self.forked(*module, folder=self.root)
        assert (done.returncode != 0) == fails, done.stdout
        return done.stdout

    def plan(self, *arguments: str, config: tuple[str, ...] = ()) -> Outcome:
        """Ask Snakemake which jobs would run."""
        return self.snakemake("--dry-run", *arguments, config=config)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text in a file where it stands first."""
        file = self.root / path
        text = file.read_text(encoding="utf-8")
        assert old in text, f"{path} has no {old!r}"
        file.write_text(text.replace(old, new, 1), encoding="utf-8")

    def log(self, rule: str, run: str) -> str:
        """What the job of a rule said about a run."""
        return (self.root / f"results/demo/logs/{rule}/{run}.log").read_text(encoding="utf-8")

    def weights(self, run: str) -> bytes:
        """The weights of a run."""
        return (self.root / f"results/demo/runs/{run}/weights.safetensors").read_bytes()


@pytest.fixture(scope="session", autouse=True)
def _forked(forked: Forked) -> None:
    Project.forked = forked


def copy_code(target: Path, *papers: Path) -> Project:
    """Copy the code to a folder, with these papers."""
    ignored = shutil.ignore_patterns("__pycache__", "papers")
    for name in CODE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=ignored)
        else:
            target.mkdir(exist_ok=True)
            shutil.copy2(source, target / name)
    for paper in papers:
        shutil.copytree(paper, target / "workflow" / "papers" / paper.name)
    return Project(target)


@pytest.fixture
def fresh(tmp_path: Path) -> Project:
    """The toy project before its first run."""
    return copy_code(tmp_path / "project", TOY)


@pytest.fixture
def real(tmp_path: Path) -> Project:
    """The project itself, with the real papers and no results."""
    return copy_code(tmp_path / "project", *(ROOT / "workflow" / "papers").iterdir())


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project itself, as `real` is, for tests that leave it as good as it was."""
    papers = (ROOT / "workflow" / "papers").iterdir()
    return copy_code(tmp_path_factory.mktemp("copied") / "project", *papers)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, worker_id: str, testrun_uid: str) -> Project:
    """The toy project after a whole run; shared, so not to be changed (use `project`)."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / f"toy-{testrun_uid}"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            building = copy_code(folder.with_name(f"{folder.name}-building"), TOY)
            building.snakemake("toy")
            building.root.rename(folder)
    return Project(folder)


@pytest.fixture
def project(finished: Project, tmp_path: Path) -> Project:
    """A copy of the finished toy project to change and run again."""
    shutil.copytree(finished.root, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")
