"""Real processes of `train` and `measure`, and what can happen to them.

The processes are forked from one that has imported torch, which saves seconds each. An
*interference* is called in the new process before it begins.
"""

import ctypes
import importlib
import itertools
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from workflow.planning.code import Project
from workflow.planning.identity import measuring_roots

ROOT = Path(__file__).resolve().parents[2]
NEVER = 10**9
Interference = Callable[[], None]

_fork = multiprocessing.get_context("forkserver")
_fork.set_forkserver_preload(
    ["pytest", "torch._dynamo", "workflow.runtime.disk_checkpointer", "model.training.loop"]
)
_WITHOUT_TORCH = """
import importlib, sys
sys.modules["torch"] = None
importlib.import_module(sys.argv.pop(1)).main()
"""


def coded(node: dict[str, Any]) -> dict[str, Any]:
    """A node of an evaluator or a recorder with the hash of its code."""
    return node | {"code": Project(ROOT).code(measuring_roots(node))}


@dataclass(frozen=True)
class Outcome:
    """How a process ended and what it said."""

    status: int
    said: str

    @property
    def error(self) -> str:
        """The one sentence of a process that refused to go on."""
        lines = [line for line in self.said.splitlines() if line.startswith("error: ")]
        assert self.status == 1 and len(lines) == 1 and "Traceback" not in self.said, self.said
        assert self.said.endswith(lines[0] + "\n"), self.said
        return lines[0].removeprefix("error: ")


class Running:
    """A process that was started."""

    def __init__(
        self, script: str, arguments: list[str], said: Path, before: Interference | None
    ) -> None:
        self.said = said
        said.touch()
        self.process = _fork.Process(target=_child, args=(script, arguments, said, before))
        self.process.start()

    def until(self, path: Path) -> None:
        """Wait until a file is there."""
        while not path.exists():
            assert self.process.is_alive(), self.said.read_text()
            time.sleep(0.01)

    def end(self) -> Outcome:
        """Wait for its end."""
        self.process.join(120)
        if self.process.exitcode is None:
            self.process.kill()
        assert self.process.exitcode is not None, f"hangs: {self.said.read_text()}"
        return Outcome(self.process.exitcode, self.said.read_text())


def command(script: str, arguments: list[str], torch: bool = True, **more: str) -> Outcome:
    """Run a script as the workflow does; where it needs no torch, show it by hiding torch."""
    module = f"workflow.scripts.{script}"
    call = ["-m", module] if torch else ["-c", _WITHOUT_TORCH, module]
    done = subprocess.run(
        [sys.executable, *call, *arguments],
        cwd=ROOT,
        env=os.environ | _environment(arguments) | more,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    return Outcome(done.returncode, done.stdout)


def kill(after: int, save_every: int) -> Interference:
    """Kill the process with signal 9 after so many updates."""
    return partial(_at_update, after, save_every, partial(_signal, signal.SIGKILL))


def terminate(after: int, save_every: int) -> Interference:
    """Ask the process to stop, as a cluster does, after so many updates."""
    return partial(_at_update, after, save_every, partial(_signal, signal.SIGTERM))


def preempt(warned: int, killed: int) -> Interference:
    """Send what Slurm sends its job: SIGTERM after so many updates, and SIGKILL some later."""
    signals = {warned: signal.SIGTERM, killed: signal.SIGKILL}
    return partial(_in_slurm, {update: partial(_signal, name) for update, name in signals.items()})


def wait_for(path: Path, after: int, save_every: int) -> Interference:
    """Hold the process after so many updates until a file is there."""
    return partial(_at_update, after, save_every, partial(_await, path))


def wait_in_loading(path: Path) -> Interference:
    """Hold a process that has loaded a run's model until a file is there; tell that it waits."""
    return partial(_wait_in_loading, path)


def fill_disk(after: int, save_every: int, limit: int) -> Interference:
    """Let no file grow beyond a limit (bytes) after so many updates."""
    return partial(_at_update, after, save_every, partial(_limit_files, limit))


def stop(after: int, seconds: float) -> Interference:
    """Stop the process, as a terminal does, after so many updates, of so many seconds each."""
    return partial(_at_slow_update, after, seconds, partial(_signal, signal.SIGSTOP))


def block_history(after: int, folder: Path, seconds: float) -> Interference:
    """After so many such updates let the history be a pipe without a reader: it never opens."""
    return partial(_at_slow_update, after, seconds, partial(_pipe, folder / "history.jsonl"))


def paced(seconds: float) -> Interference:
    """Let every update take so many seconds."""
    return partial(_at_slow_update, NEVER, seconds, os.getpid)


def begin_with(action: Callable[[], None]) -> Interference:
    """Let something happen where mechanisms are tried, before the first update."""
    return partial(_at_the_check, action)


def loop() -> None:
    """Loop for ever, as a mechanism can."""
    while True:
        pass


def crash() -> None:
    """Read what is no memory (SIGSEGV)."""
    ctypes.string_at(0)


def leave() -> None:
    """End the process without a word."""
    os._exit(3)


def new_code(module: str) -> Interference:
    """Let the hash of a module's code be `new`, as if it had been edited."""
    return partial(_rehash, module)


def kill_while_saving(nth: int, save_every: int) -> Interference:
    """Kill the process while it writes its nth state."""
    return partial(_in_save, nth, save_every)


def _child(script: str, arguments: list[str], said: Path, before: Interference | None) -> None:
    handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.chdir(ROOT)
    os.environ |= _environment(arguments)
    sys.argv = [script, *arguments]
    module = importlib.import_module(f"workflow.scripts.{script}")
    if before is not None:
        before()
    module.main()


def _environment(arguments: list[str]) -> dict[str, str]:
    """The variable in which the workflow says where the store is."""
    given = dict(itertools.pairwise(arguments))
    return {"SACCADE_STORE": given["--store"]} if "--store" in given else {}


def kill_at_the_end() -> None:
    """Kill the process with signal 9 when it has the final weights, and not yet written them.

    It saves a state after every update.
    """
    _at_updates({}, save_every=1)
    train = importlib.import_module("workflow.scripts.train")
    vars(train)["_put_result"] = lambda *_: _signal(signal.SIGKILL)


def kill_while_copying_out(out: Path) -> None:
    """Kill the process with signal 9 when a checkpoint lies aside in its folder of results."""
    import workflow.runtime.atomic as files

    flush = files.flush

    def flushing(path: Path) -> None:
        if path.is_relative_to(out / "checkpoints"):
            _signal(signal.SIGKILL)
        flush(path)

    files.flush = flushing


def _at_update(after: int, save_every: int, action: Callable[[], None]) -> None:
    """Act after so many updates of the process; save a state every so many."""
    _at_updates({after: action}, save_every)


def _at_updates(actions: Mapping[int, Callable[[], None]], save_every: int) -> None:
    from workflow.runtime.disk_checkpointer import DiskCheckpointer

    counter = itertools.count(1)

    def due(keeper: DiskCheckpointer) -> bool:
        update = next(counter)
        if update in actions:
            actions[update]()
        return keeper.asked_to_save or update % save_every == 0

    DiskCheckpointer.due = due  # type: ignore[method-assign]


def _at_slow_update(after: int, seconds: float, action: Callable[[], None]) -> None:
    from workflow.runtime.disk_checkpointer import DiskCheckpointer

    _at_update(after, NEVER, action)
    due = DiskCheckpointer.due

    def slow(keeper: DiskCheckpointer) -> bool:
        time.sleep(seconds)
        return due(keeper)

    DiskCheckpointer.due = slow  # type: ignore[method-assign]


def _in_slurm(actions: Mapping[int, Callable[[], None]]) -> None:
    os.environ["SLURM_JOB_ID"] = "7"
    _at_updates(actions, NEVER)


def _in_save(nth: int, save_every: int) -> None:
    _at_update(NEVER, save_every, lambda: None)
    replace, counter = os.replace, itertools.count(1)

    def killing(source: Path, target: Path) -> None:
        if target.name.startswith("state-") and next(counter) == nth:
            os.truncate(source, source.stat().st_size // 2)
            _signal(signal.SIGKILL)
        replace(source, target)

    os.replace = killing  # type: ignore[assignment]


def _await(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _wait_in_loading(path: Path) -> None:
    from workflow.scripts import record

    load = record.load_subject

    def loading(*given: Any) -> Any:
        subject = load(*given)
        path.with_suffix(".waits").touch()
        _await(path)
        return subject

    record.load_subject = loading


def _signal(number: int) -> None:
    os.kill(os.getpid(), number)


def _at_the_check(action: Callable[[], None]) -> None:
    import workflow.runtime.mechanism_check as checked

    vars(checked)["check_mechanisms"] = lambda *_: action()


def _rehash(module: str) -> None:
    from workflow.scripts import job

    known = job.Project.hash
    job.Project.hash = lambda project, roots: (
        "new" if any(root.startswith(f"{module}:") for root in roots) else known(project, roots)
    )


def _limit_files(limit: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
