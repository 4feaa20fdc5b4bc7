"""Disturb trainings at random instants, many hundred times; each has to end as if undisturbed.

    python -m tests.laboratory.endurance [--kills 1000] [--hours 2] [--seed 0]

Tiny runs of seven kinds are trained in processes that are killed, stopped, overtaken, and whose
disk is full or read-only, until they are finished. Weights, checkpoints, history and records are
compared with those of undisturbed processes, bit for bit. The store lies on a disk in memory.
"""

import argparse
import ctypes
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from model.training.checkpointer import HistoryRow, TrainingState
from tests.model.corpora import encoded, keyword_texts
from tests.model.specs import CLASSIFIER, SOFTMAX, Node, tiny
from tests.scripts.conftest import Job, as_encoded, planned
from tests.scripts.processes import ROOT, Outcome, Running, coded
from tests.scripts.test_group import GROUP
from tests.scripts.test_kinds import DRAWINGS, PAIRS, job_of, text
from tests.scripts.test_train import child
from workflow.planning.identity import canonical
from workflow.runtime.watchdog import LEAST

MOST = 8
"""Faults that a run meets at most before it is left in peace."""
INTERVALS = ("0", "0.03", "0.2")
"""Seconds between states; 0: one after every update."""
MEGABYTES = 24
ENDS = (0, 75, -signal.SIGKILL, -signal.SIGTERM)
FITTING = (
    *("has taken over run", "what was saved before is whole: mend the cause and run"),
    "cannot be recorded: [Errno ",
)
"""What a process says that ends with status 1."""
REMOUNT, READ_ONLY, DETACH = 32, 1, 2
ALONE = "SACCADE_ENDURANCE"
RECORDER = {
    "path": "model.probes.learning.learning_record:learning_record",
    "values": {"path": "tests.scripts.probes:said"},
    "dev": 7,
}


class Attempt:
    """A process that works on a run."""

    def __init__(self, job: Job, kind: "Kind", interval: str, slurm: bool = False) -> None:
        watched = partial(watch, job.folder / "seen", slurm)
        if kind.recorder:
            given = job.reading(job.folder / "record.npz", "--recorder", kind.recorder)
            self.running = Running("record", given, job.folder / "said.txt", watched)
        else:
            self.running = job.start("--save-every", interval, before=watched)

    def signal(self, number: int) -> None:
        """Send a signal."""
        with suppress(ProcessLookupError):
            os.kill(self.running.process.pid or 0, number)

    def end(self) -> Outcome:
        """Wait for its end."""
        return self.running.end()


HANGS = LEAST + 100
"""Seconds after which a group should have ended: the watchdog ends one that hangs after `LEAST`."""


class GroupAttempt(Attempt):
    """Two processes that work on a run, and torchrun, which starts them."""

    def __init__(self, job: Job, kind: "Kind", interval: str, slurm: bool = False) -> None:
        given = job.arguments("--save-every", interval, *GROUP)
        environment = {"OMP_NUM_THREADS": "1"} | ({"SLURM_JOB_ID": "7"} if slurm else {})
        self.group = subprocess.Popen(
            [sys.executable, "-m", "workflow.scripts.train", *given], cwd=ROOT,
            env=os.environ | environment, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.group.pid, number)

    def end(self) -> Outcome:
        try:
            said, _ = self.group.communicate(timeout=HANGS)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            raise AssertionError(f"its processes still run after {HANGS} s") from None
        # How its processes ended torchrun tells in a report with traces of its own.
        left = self.group.returncode == 1 and ("exitcode  : " in said or "SignalException" in said)
        return Outcome(75 if left else self.group.returncode, said)


@dataclass(frozen=True)
class Kind:
    """A kind of run: how to begin one in a folder, and one that nobody disturbed."""

    begin: Callable[[Path], Job]
    whole: Job
    attempt: type[Attempt] = Attempt
    recorder: str = ""
    """As JSON: the run is trained, and the program that records its checkpoints is disturbed."""
    took: float = 0.0
    """Seconds of a process that nobody disturbs."""

    def alike(self, job: Job) -> bool:
        """Whether a finished run is as the undisturbed one, to the last bit."""
        if self.recorder:
            one, other = ((each.folder / "record.npz").read_bytes() for each in (job, self.whole))
            return one == other
        return job.like(self.whole)


def kinds(folder: Path) -> dict[str, Kind]:
    """Train one run of each kind without a fault."""
    sizes = {"train": 240, "dev": 40, "test": 40}
    texts = as_encoded(keyword_texts(folder / "texts", sizes, 9, shortest=2, longest=6))
    usual = tiny(
        CLASSIFIER, "model.objectives.classification:Classification", epochs=3,
        batch={"tokens": 100}, schedule={"name": "cosine", "warmup": 5}, clip=1.0,
        select={"metric": "accuracy", "mode": "max"},
    )  # fmt: skip
    calm = {**CLASSIFIER, "encoder": CLASSIFIER["encoder"] | {"dropout": 0, "normalizer": SOFTMAX}}

    def classifier(place: Path, **changes: Node) -> Job:
        return Job(place, planned(usual | changes, texts, [4, 13]), texts)

    corpora = {
        "captions": encoded(folder / "drawings", DRAWINGS),
        "pairs": encoded(folder / "translations", PAIRS),
        "text": text(folder / "characters"),
    }
    made = {"two streams": _kind(folder, "two_streams", classifier)}
    for name, data in corpora.items():
        made[NAMES[name]] = _kind(folder, name, partial(job_of, name, data=data))
    parent = made["two streams"].whole
    tuned = _kind(folder, "tuned", lambda place: child(classifier(place), parent))
    grouped = _kind(folder, "group", partial(classifier, model=calm), attempt=GroupAttempt)
    recorder = canonical(coded(RECORDER))
    recorded = _kind(folder, "recorded", classifier, recorder=recorder)
    return made | {
        "tuned from a parent": tuned,
        "two processes": grouped,
        "record of checkpoints": recorded,
    }


NAMES = {"captions": "captioner", "pairs": "translator", "text": "with a memory"}


def _kind(folder: Path, name: str, begin: Callable[[Path], Job], **more: Any) -> Kind:
    """Train a run that nobody disturbs, and see how long a second one takes, all being loaded."""
    whole, second = begin(folder / name), begin(folder / f"{name}_timed")
    kind = Kind(begin, whole, **more)
    for job in (whole, second):
        job.folder.mkdir()
        if kind.recorder:
            assert job.train().status == 0
        began = time.monotonic()
        outcome = kind.attempt(job, kind, "120").end()
        assert outcome.status == 0, outcome.said
    kind = replace(kind, took=time.monotonic() - began)
    assert kind.alike(second), f"{name}: two undisturbed runs differ"
    return kind


def watch(seen: Path, slurm: bool) -> None:
    """Let a process, before it begins, note its begin, what it resumes from, and its updates."""
    from workflow.runtime.disk_checkpointer import DiskCheckpointer

    if slurm:
        os.environ["SLURM_JOB_ID"] = "7"

    def note(kind: str, update: int) -> None:
        with seen.open("a") as stream:
            stream.write(f"{kind} {update} {time.monotonic()}\n")

    load, record = DiskCheckpointer.load, DiskCheckpointer.record

    def loading(self: DiskCheckpointer) -> TrainingState | None:
        state = load(self)
        note("resumed", state["progress"]["update"] if state else 0)
        return state

    def recording(self: DiskCheckpointer, rows: list[HistoryRow]) -> None:
        record(self, rows)
        note("made", rows[-1]["step"])

    DiskCheckpointer.load = loading  # type: ignore[method-assign]
    DiskCheckpointer.record = recording  # type: ignore[method-assign]
    note("began", 0)


@dataclass
class Tally:
    """What happened to the runs that met a kind of fault."""

    faults: int = 0
    lost: list[int] = field(default_factory=list)
    """Updates that were made again."""
    seconds: list[float] = field(default_factory=list)
    """From the begin of the next process to its first update."""


class Campaign:
    """Trains runs, and disturbs them.

    Args:
        folder: to work in.
        disk: a folder on a small disk that can be filled and made read-only, None without one.
        seed: of what is drawn; what an instant hits depends on the machine too.
    """

    def __init__(self, folder: Path, disk: Path | None, seed: int) -> None:
        self.folder, self.disk, self.random = folder, disk, random.Random(seed)
        self.tallies: dict[str, Tally] = {}
        self.runs, self.wrong = 0, list[str]()
        self.kinds = kinds(folder)
        self.faults: dict[str, Callable[[Kind, Job, float], list[Attempt]]] = {
            "SIGKILL": partial(self._signals, [signal.SIGKILL]),
            "SIGTERM": partial(self._signals, [signal.SIGTERM]),
            "requeue": partial(self._signals, [signal.SIGTERM, signal.SIGKILL], slurm=True),
            "suspended": partial(self._signals, [signal.SIGSTOP, signal.SIGCONT]),
            "torn state": self._torn,
            "two at once": self._two,
        }
        if disk:
            self.faults["full disk"] = partial(self._without, self._full, disk)
            self.faults["read-only disk"] = partial(self._without, self._read_only, disk)

    @property
    def count(self) -> int:
        """How many faults there were."""
        return sum(one.faults for one in self.tallies.values())

    def run(self, kills: int, seconds: float) -> None:
        """Disturb runs until there were so many faults, or so many seconds have passed."""
        end = time.monotonic() + seconds
        while self.count < kills and time.monotonic() < end:
            # What takes long, as to start two processes, is done seldom.
            weights = [1 / (1 + kind.took) for kind in self.kinds.values()]
            (name,) = self.random.choices([*self.kinds], weights)
            try:
                self._one(self.kinds[name])
            except AssertionError as error:
                self.wrong.append(f"{name}: {error}")
            self.runs += 1

    def _one(self, kind: Kind) -> None:
        """Train a run among faults, and compare it."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            job, met = kind.begin(Path(name)), list[str]()
            if self.disk:
                store = Path(tempfile.mkdtemp(dir=self.disk))
                job.store.symlink_to(store, target_is_directory=True)
            if kind.recorder:
                assert job.train().status == 0
            finished = False
            for _ in range(self.random.randint(1, MOST)):
                fault = self.random.choice([*self.faults])
                met.append(fault)
                finished = self._fault(fault, kind, job)
                if finished:
                    break
            if not finished:
                self._note("", job)
                outcome = kind.attempt(job, kind, "1").end()
                assert not outcome.status, f"after {', '.join(met)}: {outcome.said}"
            assert kind.alike(job), f"after {', '.join(met)} it ends otherwise"
            if not kind.recorder and kind.attempt is Attempt:
                self._tally(job.folder / "seen")
            shutil.rmtree(job.store.resolve())

    def _fault(self, fault: str, kind: Kind, job: Job) -> bool:
        """Disturb a process; returns whether the run is finished."""
        self.tallies.setdefault(fault, Tally()).faults += 1
        self._note(fault, job)
        instant = self.random.uniform(0, 1.1) * kind.took
        outcomes = [one.end() for one in self.faults[fault](kind, job, instant)]
        for outcome in outcomes:
            told = "Traceback" not in outcome.said and any(one in outcome.said for one in FITTING)
            fitting = outcome.status in ENDS or (outcome.status == 1 and told)
            assert fitting, f"{fault}: status {outcome.status}: {outcome.said[-2000:]}"
        return any(not outcome.status for outcome in outcomes)

    def _note(self, fault: str, job: Job) -> None:
        """Let what processes note begin anew, with the fault that the next one meets."""
        with (job.folder / "seen").open("a") as stream:
            stream.write(f"fault {[*self.faults, ''].index(fault)} 0\n")

    def _tally(self, seen: Path) -> None:
        """Note what each fault cost: what the process before it had made, and the next resumed."""
        fault = before = ""
        top, began, resumed = 0, 0.0, None
        for line in seen.read_text().splitlines():
            what, number, at = line.split()
            if what == "fault":
                before, fault = fault or before, [*self.faults, ""][int(number)]
            elif what == "began":
                began, resumed = float(at), None
            elif what == "resumed":
                resumed = int(number)
            else:
                if resumed is not None and before not in ("", "two at once"):
                    self.tallies[before].lost.append(max(top - resumed, 0))
                    self.tallies[before].seconds.append(float(at) - began)
                top, resumed, before = int(number), None, ""

    def _begin(self, kind: Kind, job: Job, **more: bool) -> Attempt:
        return kind.attempt(job, kind, self.random.choice(INTERVALS), **more)

    def _signals(
        self, numbers: Sequence[int], kind: Kind, job: Job, instant: float, slurm: bool = False
    ) -> list[Attempt]:
        """Send signals, the first at an instant, the next a moment later."""
        attempt = self._begin(kind, job, slurm=slurm)
        for number in numbers:
            time.sleep(instant)
            attempt.signal(number)
            instant = self.random.uniform(0, 0.2)
        return [attempt]

    def _torn(self, kind: Kind, job: Job, instant: float) -> list[Attempt]:
        """Kill it, and cut its newest state, as a power cut may."""
        (attempt,) = self._signals([signal.SIGKILL], kind, job, instant)
        attempt.end()
        for state in job.states[-1:]:
            os.truncate(state, self.random.randrange(state.stat().st_size))
        return [attempt]

    def _two(self, kind: Kind, job: Job, instant: float) -> list[Attempt]:
        """Begin a second process at an instant."""
        first = self._begin(kind, job)
        time.sleep(instant)
        return [first, self._begin(kind, job)]

    def _without(
        self, broken: Callable[[Path], AbstractContextManager[None]], disk: Path,
        kind: Kind, job: Job, instant: float,
    ) -> list[Attempt]:  # fmt: skip
        """Let the disk take nothing more from an instant on."""
        attempt = self._begin(kind, job)
        time.sleep(instant)
        with broken(disk):
            attempt.end()
        return [attempt]

    @contextmanager
    def _full(self, disk: Path) -> Iterator[None]:
        filler = disk / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as stream:
            while stream.write(bytes(4096)):
                pass
        os.truncate(filler, max(filler.stat().st_size - self.random.choice((0, 8192, 65536)), 0))
        try:
            yield
        finally:
            filler.unlink()

    @contextmanager
    def _read_only(self, disk: Path) -> Iterator[None]:
        for _ in range(400):  # not while a file is being written
            if not _mount(disk, REMOUNT | READ_ONLY):
                break
            time.sleep(0.002)
        try:
            yield
        finally:
            assert not _mount(disk, REMOUNT)


def _mount(place: Path, flags: int) -> int:
    """Mount a disk in memory, or mount it again with other flags; returns not 0 where it fails."""
    size = f"size={MEGABYTES}m".encode()
    failed: int = ctypes.CDLL(None).mount(b"tmpfs", bytes(place), b"tmpfs", flags, size)
    return failed


@contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """A disk in a folder, None where this process may not mount one."""
    if not os.environ.get(ALONE):
        yield None
        return
    folder.mkdir()
    assert not _mount(folder, 0)
    try:
        yield folder
    finally:
        ctypes.CDLL(None).umount2(bytes(folder), DETACH)


def be_alone() -> None:
    """Start again where this process may mount disks that nobody else sees, if that is allowed."""
    if os.environ.get(ALONE):
        return
    if not subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
        os.environ[ALONE] = "1"
        again = [sys.executable, "-m", "tests.laboratory.endurance", *sys.argv[1:]]
        os.execvp("unshare", ["unshare", "-rm", *again])
    sentence = "this machine allows no unshare -rm: no disk is filled or made read-only"
    if os.environ.get("CI"):
        sys.exit(f"error: {sentence}")
    print(f"{sentence}.")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="how many faults")
    parser.add_argument("--hours", type=float, default=24.0, help="how long at most")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    be_alone()
    with tempfile.TemporaryDirectory() as name, small_disk(Path(name, "disk")) as disk:
        campaign = Campaign(Path(name), disk, given.seed)
        campaign.run(given.kills, 3600 * given.hours)
    print("| fault | times | lost updates: median, 99 % | seconds to the next: median, 99 % |")
    print("| --- | --: | --: | --: |")
    for fault, tally in sorted(campaign.tallies.items()):
        lost, seconds = (_told(one) for one in (tally.lost, tally.seconds))
        print(f"| {fault} | {tally.faults} | {lost} | {seconds} |")
    print(*campaign.wrong, sep="\n")
    print(
        f"{campaign.runs} runs met {campaign.count} faults (seed {given.seed}); "
        f"{len(campaign.wrong)} did not end as if undisturbed"
    )
    sys.exit(bool(campaign.wrong))


def _told(values: Sequence[float]) -> str:
    """Median and 99th percentile of some numbers."""
    if not values:
        return "–"
    cut = sorted(values)[min(int(0.99 * len(values)), len(values) - 1)]
    return f"{statistics.median(values):.2g}, {cut:.2g}"


if __name__ == "__main__":
    main()
