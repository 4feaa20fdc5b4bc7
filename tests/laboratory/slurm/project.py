"""Copies of the project, run by the real `snakemake --profile slurm`."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.laboratory.slurm.processes import PATIENCE, Failed, wait
from workflow.runtime.integrity import read_verified

ROOT = Path(__file__).resolve().parents[3]
SAVE_EVERY = 2
"""Seconds between the states of a training."""
SAVING = (" --out {params.folder:q}", f" --out {{params.folder:q}} --save-every {SAVE_EVERY}")
"""The edit of the rule `train` that makes it so; the project itself saves every two minutes."""
UPDATES = 300
RUN = "results/demo+paced/runs/stack_language/uniform_soft/seed-0"
PACED = f"""\
overlay:
  name: paced
  experiments:
    stack_language:
      variants:
        uniform_soft:
          data: {{train: 640, dev: 50, test: 50}}
          model: {{decoder: {{width: 16, hidden: 32, layers: 1}}}}
          objective: {{path: "tests.laboratory.slurm.paced:Paced"}}
          training: {{epochs: null, updates: {UPDATES}, batch: {{examples: 64}}}}
"""
SLURM = (
    *("--profile", "slurm", "--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "2", "--max-status-checks-per-second", "1"),
)
"""The profile, and a status check every few seconds where a cluster wants patience."""
LOCAL = ("--cores", "2")


@dataclass(frozen=True)
class Update:
    """An update that a training process made."""

    time: float
    pid: int
    job: str


class Snakemake:
    """A `snakemake` that was started."""

    def __init__(self, folder: Path, log: Path, arguments: tuple[str, ...], pace: Path):
        self.log = log
        with log.open("w") as said:
            self.process = subprocess.Popen(
                [Path(sys.executable).with_name("snakemake"), *arguments],
                cwd=folder,
                env=os.environ | {"SACCADE_PACE": str(pace)},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        """What it has said so far."""
        return self.log.read_text(errors="replace")

    def end(self, fails: bool = False) -> str:
        """Wait for its end and return what it said; it must succeed, or not where it `fails`."""
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"snakemake was not done after {PATIENCE} s:\n{self.said}") from None
        if (status != 0) != fails:
            raise Failed(f"snakemake ended with exit status {status}:\n{self.said}")
        return self.said

    def kill(self) -> None:
        """Kill it with signal 9, and what it runs on this machine."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Project:
    """A folder with the project's code and one paced run, planned but not trained.

    Args:
        folder: of the copy.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = folder / RUN
        self.pacing = folder.with_name(f"{folder.name}.pacing")
        self.pacing.mkdir()
        self.started: list[Snakemake] = []
        self.pace(0)

    def copy(self, folder: Path) -> "Project":
        """A copy in which files keep their times, so that nothing planned here is done again."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Project(folder)

    def snakemake(self, *arguments: str) -> Snakemake:
        """Start `snakemake` here."""
        log = self.pacing / f"{len(self.started)}.log"
        self.started.append(Snakemake(self.folder, log, arguments, self.pacing))
        return self.started[-1]

    def start(self, *options: str) -> Snakemake:
        """Start the paced run's training on the cluster."""
        return self.snakemake(*SLURM, *options, *self.target("run.json"))

    def train(self, seconds: float, updates: int, *options: str) -> Snakemake:
        """Start at a pace (seconds an update), and wait until so many updates were made."""
        self.pace(seconds)
        main = self.start(*options)
        self.until(updates)
        return main

    def target(self, name: str) -> tuple[str, ...]:
        """Arguments that ask for a file of the paced run."""
        return ("--configfile", "paced.yaml", "--", f"{RUN}/{name}")

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace a text in a file."""
        path = self.folder / file
        text = path.read_text()
        if old not in text:
            raise ValueError(f"{file} has no {old!r} to edit")
        path.write_text(text.replace(old, new))

    def pace(self, seconds: float) -> None:
        """Let each update from now on take so long."""
        new = self.pacing / "pace.new"
        new.write_text(str(seconds))
        new.replace(self.pacing / "pace")

    def want(self, size: int) -> None:
        """Let each update from now on take so many bytes of memory."""
        (self.pacing / "wants").write_text(str(size))

    @property
    def updates(self) -> list[Update]:
        """Every update that any process made."""
        path = self.pacing / "updates"
        rows = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
        return [Update(float(time), int(pid), job) for time, pid, job in rows]

    def until(self, updates: int) -> None:
        """Wait until so many updates were made."""
        wait(f"update {updates}", lambda: len(self.updates) >= updates)

    def until_processes(self, number: int) -> None:
        """Wait until so many processes have made updates."""
        wait(f"process {number} to train", lambda: len(self.pids) >= number)

    @property
    def pids(self) -> list[int]:
        """The processes that made updates, oldest first."""
        return list(dict.fromkeys(update.pid for update in self.updates))

    @property
    def lost(self) -> int:
        """How many updates were made more than once."""
        return len(self.updates) - UPDATES

    @property
    def lost_seconds(self) -> float:
        """How long the first process had worked on the updates that were made again."""
        older = [update.time for update in self.updates if update.pid == self.pids[0]]
        return older[-1] - older[max(0, len(older) - 1 - self.lost)]

    @property
    def pause(self) -> float:
        """Seconds without an update between the first two processes."""
        older, newer = ([u.time for u in self.updates if u.pid == pid] for pid in self.pids[:2])
        return max(0.0, newer[0] - older[-1])

    @property
    def record(self) -> dict[str, Any]:
        """The run's `run.json`."""
        return read_verified(self.run / "run.json")

    @property
    def weights(self) -> bytes:
        """The run's weights."""
        return (self.run / "weights.safetensors").read_bytes()

    @property
    def log(self) -> str:
        """What the training job said."""
        path = self.folder / RUN.replace("/runs/", "/logs/train/")
        log = path.with_suffix(".log")
        return log.read_text(errors="replace") if log.exists() else ""

    @property
    def store(self) -> Path:
        """The run's folder in the store."""
        (found,) = (self.folder / "results" / "store").glob("?" * 16)
        return found


def planned(folder: Path) -> Project:
    """Copy the working tree to a folder and make the data of the paced run there."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    project = Project(folder)
    (folder / "paced.yaml").write_text(PACED)
    project.edit("workflow/rules/train.smk", *SAVING)
    project.snakemake(*LOCAL, "--until", "encode", *project.target("run.json")).end()
    return project
