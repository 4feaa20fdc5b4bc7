"""See that what computes a run is what the hash of its code reached, by running it.

    python -m tests.laboratory.executed RESULTS

For each kind of run of a finished demo, a run of a few updates is trained, stopped and resumed, and
the demo's run is measured and recorded; every function of `model/` that is called meanwhile has to
be among the definitions that the hash reached.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.laboratory.flips import Job, forked, jobs_of
from tests.sealing import change, put
from workflow import ROOT
from workflow.planning.code import DefinitionKey, Project
from workflow.planning.identity import canonical, identity, measuring_roots, run_roots
from workflow.runtime.integrity import read_verified

OPTIMIZED = 1
"""The flag of the code of functions, which that of modules and classes lacks."""


class Calls:
    """The functions of `model/` that are called, as module and outermost name."""

    def __init__(self) -> None:
        self.seen: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """Note a call; what `sys.setprofile` wants."""
        if event == "call":
            self.seen.add(frame.f_code)

    @property
    def found(self) -> set[DefinitionKey]:
        """What was called."""
        keys = set()
        for code in self.seen:
            path = Path(code.co_filename)
            if code.co_flags & OPTIMIZED and path.is_relative_to(ROOT / "model"):
                module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                keys.add((module.removesuffix(".__init__"), code.co_qualname.partition(".")[0]))
        return keys


def unseen(called: Iterable[DefinitionKey], roots: Iterable[str]) -> set[DefinitionKey]:
    """What was called and is not reached by roots; `<lambda>` and the like are of their module."""
    reached = Project(ROOT).reached(roots)
    modules = {module for module, _ in reached}
    return {
        (module, name)
        for module, name in called
        if (module, name) not in reached and not (name.startswith("<") and module in modules)
    }


def short(spec: dict[str, Any]) -> dict[str, Any]:
    """The draft of a run of four updates that is otherwise like a demo's."""
    training = {name: value for name, value in spec["training"].items() if name != "epochs"}
    training["updates"] = 4
    if training.get("average"):
        training["average"] = {"last": 2, "updates": 1}
    return spec | {"training": training, "checkpoints": [2] if spec["checkpoints"] else []}


def train(job: Job) -> set[DefinitionKey]:
    """What is called when a short run like that of a job is trained, stopped and resumed."""
    with tempfile.TemporaryDirectory() as name:
        aside = Path(name)
        command = [*job.command, "--save-every", "0"]
        draft = canonical(short(json.loads(job.option("--draft"))))
        told = {"--draft": draft, "--store": str(aside / "store"), "--out": str(aside / "out")}
        for option, value in told.items():
            command[command.index(option) + 1] = value
        found = called(command, stopped=True) | called(command)
        assert (aside / "out" / "run.json").is_file(), f"{job.spec}: not trained"
    return found


def measure(job: Job) -> set[DefinitionKey]:
    """What is called when the run of a job is measured, or recorded, for the first time.

    It is recorded as it ended: of a finished demo the weights along training are gone.
    """
    with tempfile.TemporaryDirectory() as name:
        command, aside = list(job.command), Path(name)
        for option in ("--store", "--out"):
            command[command.index(option) + 1] = str(aside / option / "made")
        if "--recorder" in command:
            run = shutil.copytree(job.option("--run"), aside / "run")
            spec = read_verified(run / "spec.json") | {"checkpoints": []}
            spec |= {"identity": identity(spec)}
            change(run / "run.json", lambda told: told.update(identity=spec["identity"]))
            command[command.index("--spec") + 1] = str(put(run / "spec.json", spec))
            command[command.index("--run") + 1] = str(run)
        return called(command)


def called(command: list[str], stopped: bool = False) -> set[DefinitionKey]:
    """What a program calls of `model/`, in a process of its own; stopped after two updates."""
    calls = Calls()

    def begin() -> None:
        if stopped:
            from workflow.runtime.disk_checkpointer import DiskCheckpointer

            def stopping(self: DiskCheckpointer) -> bool:
                return self.newest() >= 2

            DiskCheckpointer.stopping = stopping  # type: ignore[method-assign]
        sys.setprofile(calls)

    def end() -> list[DefinitionKey]:
        sys.setprofile(None)
        return sorted(calls.found)

    status, said, found = forked(command, begin, end)
    assert status == (75 if stopped else 0), f"{' '.join(command)}: {said}"
    return {(module, name) for module, name in found}


def kind(job: Job) -> str:
    """What tells jobs apart whose code may differ: the parts of the run and what measures it."""
    spec = read_verified(job.spec)
    nodes = job.option("--evaluators") or job.option("--recorder")
    training = {key: spec["training"].get(key) for key in ("average", "select", "start_from")}
    batch = sorted(spec["training"]["batch"])
    return json.dumps([run_roots(spec), training, batch, nodes if job.rule != "train" else ""])


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="folder of results of a finished demo")
    given = parser.parse_args()
    os.environ["SACCADE_KEEP_CHECKPOINTS"] = "1"
    for path in sorted((ROOT / "model").rglob("*.py")):
        __import__(".".join(path.relative_to(ROOT).with_suffix("").parts))
    rules = ("train", "measure", "record")
    jobs = [job for job in jobs_of(given.results) if job.rule.removesuffix("_locally") in rules]
    kinds = {(job.rule, kind(job)): job for job in jobs}
    missing = 0
    for job in kinds.values():
        spec = read_verified(job.spec)
        rule = job.rule.removesuffix("_locally")
        nodes = json.loads(job.option("--evaluators") or "{}")
        nodes = [*nodes.values(), *filter(None, [json.loads(job.option("--recorder") or "null")])]
        roots = [*run_roots(spec), *(root for node in nodes for root in measuring_roots(node))]
        found = unseen(train(job) if rule == "train" else measure(job), roots)
        missing += len(found)
        for module, name in sorted(found):
            print(f"{rule} {spec['run']['experiment']}/{spec['run']['variant']}: {module}:{name}")
    print(f"{len(kinds)} kinds of jobs: {missing} functions were called that no hash reached")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
