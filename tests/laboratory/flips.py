"""Flip single bits of the results of a finished demo, and see that none reaches a table unseen.

    python -m tests.laboratory.flips RESULTS [--flips 500] [--seed 0]

Of each kind of file some are drawn, and of each a bit. `make verify` has to name the file, and a
job that reads it, run on its own, has to refuse, or to make what it made before. What no job reads
and nothing verifies must be of a kind that is known to be so.
"""

import argparse
import contextlib
import io
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.sealing import flip
from workflow.commands import verify
from workflow.runtime import locking

KINDS = {
    "raw data": "data/*/*/raw/*",
    "prepared data": "data/*/*/prepared/*",
    "encoded data": "data/*/*/encoded/*",
    "stored weights": "store/*/result/weights.safetensors",
    "stored weights along training": "store/*/result/checkpoints/*",
    "stored history": "store/*/result/history.jsonl",
    "stored run.json": "store/*/result/run.json",
    "stored records": "store/*/records/*",
    "stored measures": "store/*/measures/*",
    "claims on a run in the store": "store/*/generation-*",
    "askers for a run in the store": "store/*/asked",
    "specs": "*/runs/*/*/*/spec.json",
    "weights": "*/runs/*/*/*/weights.safetensors",
    "weights along training": "*/runs/*/*/*/checkpoints/*",
    "history": "*/runs/*/*/*/history.jsonl",
    "run.json": "*/runs/*/*/*/run.json",
    "records": "*/records/*/*/*",
    "measures": "*/measures/*/*/*",
    "tables": "*/tables/*/*",
    "figures": "*/figures/*/*",
    "claims": "*/claims/*",
    "report": "*/report.*",
    "explorer": "*/explorer.*",
    "logs": "**/logs/**/*.log",
    "times of Snakemake": "**/.snakemake_timestamp",
    "the folder's README": "README.md",
}
UNREAD = (
    *("claims on a run in the store", "askers for a run in the store", "logs"),
    *("times of Snakemake", "the folder's README"),
)
"""Kinds of which nothing is made, and that need no checksum."""
SHORT = 0.75
"""How many of the runs that would be trained again are not."""
READS = {"result": "train", "records": "record", "measures": "measure"}
"""What reads a folder of the store."""


@dataclass(frozen=True)
class Job:
    """A job of the workflow: what it reads and makes, and its program's command line."""

    rule: str
    reads: tuple[Path, ...]
    makes: tuple[Path, ...]
    command: tuple[str, ...]

    @property
    def spec(self) -> Path:
        """The spec of the job's run, which a training makes."""
        return Path(self.option("--spec") or Path(self.option("--out"), "spec.json"))

    def option(self, name: str) -> str:
        """The value of an option of the program, empty without it."""
        return self.command[self.command.index(name) + 1] if name in self.command else ""


def jobs_of(results: Path) -> list[Job]:
    """The jobs behind a finished demo, from a dry run of all of them."""
    asked = ["--dry-run", "--forceall", "--printshellcmds", "--nolock", "--cores", "1"]
    config = ["--config", "scale=demo", f"results={results}"]
    said = subprocess.run(
        [sys.executable, "-m", "snakemake", *asked, *config],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = []
    block = r"^(?:local)?rule (\w+(?: [\w/]+)?):\n((?:    .*\n)+)Shell command: (.*)$"
    for rule, lines, shell in re.findall(block, said.stdout + said.stderr, re.M):
        told = dict(re.findall(r"^    (input|output): (.*)$", lines, re.M))
        reads, makes = (
            tuple(Path(name) for name in told.get(key, "").split(", ") if name)
            for key in ("input", "output")
        )
        shell = re.sub(r"\$\{SLURM[^}]*\}", "", shell).replace("$SACCADE_DEVICE", "cpu")
        command = [word for word in shlex.split(shell) if word != "exec"]
        if "-m" not in command:
            continue
        package, end = command.index("-m") + 1, command.index(">")
        program = ".".join(command[package : package + 2])
        found.append(Job(rule, reads, makes, (program, *command[package + 2 : end])))
    return found


class Demo:
    """A finished demo, whose files are damaged and made whole again."""

    def __init__(self, results: Path, seed: int) -> None:
        self.results = results
        self.random = random.Random(seed)
        self.jobs = jobs_of(results)
        self.checks = [*verify.of_results(results)]
        lock = results / locking.NAME
        every = {path for path in results.rglob("*") if path.is_file() and path != lock}
        self.files: dict[str, list[Path]] = {}
        for kind, pattern in reversed(KINDS.items()):
            mine = sorted(every & set(results.glob(pattern)))
            every -= set(mine)
            self.files[kind] = [path for path in mine if path.stat().st_size]
        assert not every, f"of no known kind: {sorted(every)[:5]}"

    def readers(self, path: Path) -> list[Job]:
        """The jobs that read a file, or a folder that it is in."""
        parts = path.relative_to(self.results).parts
        if parts[0] == "store":
            rule = READS.get(parts[2], "")
            return [
                job
                for job in self.jobs
                if job.rule.removesuffix("_locally") == rule and self.identity(job) == parts[1]
            ]
        above = {path, *path.parents}
        found = [job for job in self.jobs if above & set(job.reads) and job.rule != "all"]
        # A training only waits for the run.json of an equal run, and reads the store.
        trains = ("train", "train_locally") if path.name == "run.json" else ()
        return [job for job in found if job.rule not in trains]

    def identity(self, job: Job) -> str:
        """The identity of a job's run."""
        return str(json.loads(job.spec.read_bytes())["identity"])

    @contextlib.contextmanager
    def damaged(self, path: Path) -> Iterator[None]:
        """Flip a bit of a file for a while; its times stay."""
        whole, times = path.read_bytes(), path.stat()
        flip(path, self.random.randrange(8 * len(whole)))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        try:
            yield
        finally:
            path.write_bytes(whole)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def verified(self, path: Path) -> bool:
        """Whether `make verify` names a file that was damaged."""
        near = [one for one in self.checks if path.is_relative_to(one[0].parent)]
        return any(path == error.path for error in verify.verify(near))

    def outcome(self, job: Job, path: Path) -> str:
        """Run a job on what is damaged: whether it refuses, makes the same, or something else."""
        with tempfile.TemporaryDirectory() as name:
            aside = Path(name)
            out = aside / "out"
            command = list(job.command)
            old = Path(job.option("--out"))
            command[command.index("--out") + 1] = str(out / old.name)
            if "--store" in command:
                command[command.index("--store") + 1] = str(aside / "store")
                if path.is_relative_to(self.results / "store"):
                    run = path.relative_to(self.results / "store").parts[0]
                    shutil.copytree(self.results / "store" / run, aside / "store" / run)
            refused, said = _run(command, path, self.random.random() < SHORT)
            if refused:
                return refused
            if "and measured again" in said:  # a speed is another one each time
                return "made the same"
            weights = [made for made in job.makes if made.name == "weights.safetensors"]
            whole = all(_same(made, _remade(made, old, out)) for made in weights or job.makes)
            return "made the same" if whole else "REACHED WHAT IT MAKES"


def _run(command: list[str], path: Path, short: bool) -> tuple[str, str]:
    """Run a program on what is damaged; `refused` where it ends with an error, and what it said.

    A `short` one that begins to train a run again, which takes long, counts as such.
    """

    def begin() -> None:
        if short and command[0].endswith(".train"):
            vars(import_module(command[0]))["_train"] = _stop

    status, said, _ = forked(command, begin, lambda: None)
    if not status:
        return "", said
    named = path.name in said or path.parent.name in said
    clear = named and "Traceback" not in said
    return "refused" if clear else f"refused, unclear: {said[-300:]}", said


def _stop(*_: object) -> None:
    sys.exit("error: it is trained again")


def forked(
    command: Sequence[str], begin: Callable[[], None], end: Callable[[], Any]
) -> tuple[int, str, Any]:
    """Run a program in a process that is forked from this one, with all that it has loaded.

    Args:
        command: its module and its arguments.
        begin: called in the new process before the program.
        end: likewise, after it.

    Returns:
        The exit status, what was said, and what `end` returned.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        said, status = io.StringIO(), 0
        os.environ.pop("SACCADE_STORE", None)
        os.environ["SACCADE_KEEP_CHECKPOINTS"] = "1"
        sys.argv = [*command]
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                begin()
                import_module(command[0]).main()
            except SystemExit as error:
                status = error.code if isinstance(error.code, int) else 1
                print(error.code)
            except BaseException:
                status = 1
                traceback.print_exc()
            returned = end()
        with os.fdopen(writing, "wb") as stream:
            stream.write(json.dumps([status, said.getvalue()[-9000:], returned]).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        told = stream.read()
    os.waitpid(child, 0)
    status, text, returned = json.loads(told)
    return status, text, returned


def _remade(made: Path, old: Path, out: Path) -> Path:
    """Where a program that wrote `made` to the file or folder `old` writes it in another folder."""
    inside = made != old and made.is_relative_to(old)
    return out / old.name / made.relative_to(old) if inside else out / made.name


def _same(old: Path, new: Path) -> bool:
    """Whether a file or folder was made again with the same contents, but for what tells time."""
    if old.is_dir():
        names = [path.relative_to(old) for path in old.rglob("*") if path.is_file()]
        names = [name for name in names if name.name != ".snakemake_timestamp"]
        return all(_same(old / name, new / name) for name in names)
    if not new.is_file():
        return False
    if old.suffix == ".json":
        return _timeless(json.loads(old.read_bytes())) == _timeless(json.loads(new.read_bytes()))
    return old.read_bytes() == new.read_bytes()


def _timeless(value: Any) -> Any:
    """A value of JSON without seconds and the checksum over them."""
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if k not in ("sha256", "seconds")}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="folder of results of a finished demo")
    parser.add_argument("--flips", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    import model.training.loop  # noqa: F401 (once, before processes are made of this one)

    demo = Demo(given.results, given.seed)
    kinds = [kind for kind, files in demo.files.items() if files]
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    wrong = []
    for number in range(given.flips):
        kind = kinds[number % len(kinds)]
        path = demo.random.choice(demo.files[kind])
        readers = demo.readers(path)
        with demo.damaged(path):
            named = demo.verified(path)
            job = demo.random.choice(readers) if readers else None
            found = demo.outcome(job, path) if job else "no job reads it"
        counts[kind]["flips"] += 1
        counts[kind]["verify names it" if named else "verify is silent"] += 1
        counts[kind][found if not found.startswith("refused, ") else "refused, unclear"] += 1
        harmless = kind in UNREAD and found in ("no job reads it", "made the same")
        if found.startswith(("REACHED", "refused, unclear")) or not (named or harmless):
            wrong.append(f"{path} ({job.rule if job else 'unread'}): {found}, verified: {named}")
    print("| kind of file | files | flips | verify names it | a job refuses | makes the same |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind, count in counts.items():
        cells = (len(demo.files[kind]), *(count[name] for name in COLUMNS))
        print(f"| {kind} | {' | '.join(map(str, cells))} |")
    print("\n".join(wrong))
    print(f"{len(wrong)} of {given.flips} flips were not noticed where they should have been")
    sys.exit(bool(wrong))


COLUMNS = ("flips", "verify names it", "refused", "made the same")
if __name__ == "__main__":
    main()
