"""Pack runs for a lent GPU, where torch is enough: no Snakemake, no git.

Data that is not there yet is made first. Claims that are undecided tell which runs are worth most
for their time. Runs that the store has are left out; weights that others start from go along.
"""

import argparse
import math
import shlex
import sys
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from model.build import Node
from workflow import PUBLISHED, ROOT
from workflow.datasets.io.checksums import read_manifest
from workflow.lent import imports
from workflow.lent.priority import (
    QueuedRun,
    chosen,
    lineage,
    open_claims,
    planned,
    prioritise,
    published,
    with_parents,
)
from workflow.lent.program import PackedJob
from workflow.lent.runner import LIBRARIES, LISTING, SCHEMA
from workflow.planning.budget import check_built
from workflow.planning.code import Project
from workflow.planning.configured import configured, file_named
from workflow.planning.corpora import missing_file
from workflow.planning.equivalents import FILE
from workflow.planning.estimator import Estimator
from workflow.planning.identity import (
    ResolvedSpec,
    canonical,
    complete,
    data_folder,
    measuring_roots,
    paths,
    run_roots,
)
from workflow.planning.inputs import Inputs
from workflow.planning.modules import module_file
from workflow.planning.plan import Plan, Run
from workflow.planning.targets import Targets
from workflow.runtime.atomic import unwritable
from workflow.runtime.errors import InputError
from workflow.runtime.failure import exit_on_user_error
from workflow.runtime.integrity import check_files, with_checksum, write_archive
from workflow.runtime.provenance import commit
from workflow.runtime.store import Entry, read_result
from workflow.terminal import arguments

PROGRAMS = ("train", "record", "measure")
THERE = "results"
"""The folder of results in a bundle."""
SAVE_EVERY = 30
"""Seconds between states there, where the machine may go at any time."""
PackedFiles = dict[str, Path | bytes]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.share(parser, "--scale", "--results", "--mirror", "--configfile")
    parser.add_argument("--runs", nargs="*", default=[], help="EXPERIMENT/VARIANT[/seed-N], with *")
    parser.add_argument("--to", default="", help="file to write, such as bundle.tar")
    most = "leave out what takes more"
    parser.add_argument("--minutes", type=arguments.minutes, default=math.inf, help=most)


def main(args: argparse.Namespace) -> None:
    """Make the data of the runs, and pack them."""
    check(args.to)
    plan, settings = arguments.plan_of(args), arguments.settings(args)
    runs = chosen(plan, [pattern for text in args.runs for pattern in text.split()])
    if arguments.make_quietly(data(plan, runs), settings, args.configfile, leave_out="all"):
        sys.exit("error: the data can't be made, as said above; the same command tries again.")
    with exit_on_user_error(Path(plan.results)), file_named(ROOT, args.configfile, settings):
        there = configured(ROOT, args.configfile, **settings | {"results": THERE})
        bundle = Bundle(plan, Inputs(Targets(there)), runs, args.minutes)
        bundle.write(Path(args.to))
    print("\n".join(bundle.summary(Path(args.to))))


def check(to: str) -> None:
    """Raise InputError where a file can't hold a bundle."""
    if not to:
        raise InputError("no file for the bundle; name one: make bundle RUNS=... TO=bundle.tar")
    if why := unwritable(Path(to)):
        raise InputError(f"TO={to}: {why}; name another file, such as TO=bundle.tar")
    if not to.endswith((".tar", ".tar.gz")):
        raise InputError(f"TO={to}: must end in .tar or .tar.gz, such as TO=bundle.tar")


def data(plan: Plan, runs: Iterable[Run]) -> list[str]:
    """Return the folders of encoded data that runs, and those that they start from, read.

    Raises InputError for a file that a person has to get.
    """
    recipes = {}
    for run in with_parents(plan, runs):
        recipes[run.data] = run.recipe
        recipes |= {data_folder(further): further for further in run.settings.further_data.values()}
    for recipe in recipes.values():
        if advice := missing_file(plan, recipe):
            raise InputError(advice)
    return [plan.encoded(folder) for folder in recipes]


class Bundle:
    """What is packed.

    Args:
        plan: of the results here.
        inputs: what jobs are told there.
        runs: that were chosen.
        minutes: that all may take.
    """

    def __init__(self, plan: Plan, inputs: Inputs, runs: Sequence[Run], minutes: float) -> None:
        self.plan, self.inputs = plan, inputs
        self.store = Path(plan.results) / "store"
        self.project, self.commit = Project(ROOT), commit(ROOT)
        self.files: PackedFiles = {}
        self.packed: dict[str, QueuedRun] = {}
        self._specs: dict[str, ResolvedSpec] = {}
        estimator = Estimator(plan, True, PUBLISHED)
        check_built(runs, estimator)
        waiting: dict[str, QueuedRun] = {}
        for run in with_parents(plan, runs):
            spec = self.spec(run)
            if not Entry(self.store, spec["identity"]).finished() and run.key not in waiting:
                parents = [waiting.get(queued.key) for queued in plan.parents(run).values()]
                took = planned(plan.duplicate_of(run) or run, estimator) / 60
                waiting[run.key] = QueuedRun(run, spec, took, [*filter(None, parents)])
        self.finished = len({run.key for run in runs} - waiting.keys())
        identities = published(plan)
        new = [it for it in waiting.values() if it.spec["identity"] not in identities]
        prioritise(new, open_claims(plan))
        for queued in sorted(waiting.values(), key=lambda queued: (-queued.worth, queued.run.seed)):
            self._take(queued, minutes)
        self.left_out = len(waiting) - len(self.packed)
        if not self.packed:
            raise InputError(
                f"nothing to pack: of the runs named, {self.finished} are finished, and "
                f"{self.left_out} take longer than MINUTES; name others"
            )
        for queued in self.packed.values():
            self._fill(queued)
        self._drop_waiting()

    def spec(self, run: Run) -> ResolvedSpec:
        """Return the spec of a run whose data is made."""
        if run.key not in self._specs:
            digest = read_manifest(Path(self.plan.encoded(run.data)))["digest"]
            parents = self.plan.parents(run).items()
            identities = {name: self.spec(parent)["identity"] for name, parent in parents}
            self._specs[run.key] = complete(self.plan.draft(run), digest, identities)
        return self._specs[run.key]

    def _take(self, queued: QueuedRun, minutes: float) -> None:
        """Take a run, after those that it waits for, where all of them fit into the minutes."""
        both = self.packed | {
            it.run.key: it for it in lineage(queued) if it.run.key not in self.packed
        }
        if sum(it.minutes for it in both.values()) <= minutes:
            self.packed = both

    def _fill(self, queued: QueuedRun) -> None:
        """Say how a run is trained, recorded and measured, and pack what that reads."""
        run = queued.run
        asked = SimpleNamespace(
            experiment=run.experiment.name, variant=run.variant, seed=str(run.seed)
        )
        scale = f"{THERE}/{self.plan.scale}"
        folder, own = f"{scale}/runs/{run.key}", f"{scale}/runs/{run.key}/run.json"
        self._folder(self.inputs.encoded(asked))
        shared = ["--data", self.inputs.encoded(asked), "--store", f"{THERE}/store"]
        before = []
        for parent in self.plan.parents(run).values():
            self._finished(parent, f"{scale}/runs/{parent.key}")
            before.append(f"{scale}/runs/{parent.key}/run.json")
        options = ["--draft", self.inputs.draft(asked), *self.inputs.parents(asked)]
        options += ["--save-every", str(SAVE_EVERY)]
        queued.jobs.append(job("train", own, [*shared, "--out", folder, *options], before))
        shared += ["--spec", f"{folder}/spec.json", "--run", folder]
        if run.settings.record is not None:
            out, recorder = f"{scale}/records/{run.key}", self.inputs.recorder(asked)
            options = ["--out", f"{out}.npz", "--recorder", recorder]
            needs = self.libraries(measuring_roots(run.settings.record))
            queued.jobs.append(job("record", f"{out}.json", [*shared, *options], [own], needs))
        self._measure(queued, asked, shared, own)

    def _measure(self, queued: QueuedRun, asked: Any, shared: list[str], own: str) -> None:
        """Say how a run is measured: in a job those evaluators that need the same."""
        further = [tuple(text.split("=", 1)) for text in self.inputs.further(asked) if "=" in text]
        nodes = self.plan.evaluators(queued.run)
        for _, path in further:
            if path.endswith(".npz"):
                self._record(path)
            else:
                self._folder(path)

        def needs(name: str) -> tuple[list[str], list[str]]:
            read = [path for key, path in further if key.startswith(f"{name}.")]
            records = [path for path in read if path.endswith(".npz")]
            return self.libraries(measuring_roots(nodes[name])), [own, *records]

        for number, (needed, group) in enumerate(groupby(sorted(nodes, key=needs), needs)):
            libraries, files = needed
            evaluators = canonical({name: nodes[name] for name in group})
            out = f"{THERE}/{self.plan.scale}/measures/{queued.run.key}.{number}.json"
            options = ["--out", out, "--evaluators", evaluators, *self.inputs.further(asked)]
            queued.jobs.append(job("measure", out, [*shared, *options], files, libraries))

    def _drop_waiting(self) -> None:
        """Leave out the jobs that would wait for records that are neither here nor made there."""
        jobs = [task for queued in self.packed.values() for task in queued.jobs]
        there = {*self.files, *(task["out"] for task in jobs)}
        there |= {
            task["out"].replace(".json", ".npz") for task in jobs if "/records/" in task["out"]
        }
        for queued in self.packed.values():
            queued.jobs = [task for task in queued.jobs if {*task["needs"]} <= there]

    def libraries(self, roots: Iterable[str]) -> list[str]:
        """Return what code has to have installed beside what every bundle needs."""
        modules = {module for module, _ in self.project.reached(roots)}
        names = {name for module in modules for name in imports.imported(module, ROOT)}
        tops = {name.partition(".")[0] for name in names}
        packed = {*LIBRARIES, *sys.stdlib_module_names}
        return sorted(name for name in tops - packed if not module_file(name, ROOT))

    def _folder(self, folder: str) -> None:
        here = Path(self.plan.results, Path(folder).relative_to(THERE))
        if f"{folder}/manifest.json" in self.files:
            return
        files = read_manifest(here)["files"]
        check_files(here, files)
        for name in ("manifest.json", *files):
            self.files[f"{folder}/{name}"] = here / name

    def _record(self, path: str) -> None:
        """Pack a record that is here already."""
        here = Path(self.plan.results, Path(path).relative_to(THERE))
        if here.is_file():
            self.files[path] = here
            self.files[path.replace(".npz", ".json")] = here.with_suffix(".json")

    def _finished(self, parent: Run, folder: str) -> None:
        """Pack the spec and the weights of a run that is finished."""
        spec = self.spec(parent)
        entry = Entry(self.store, spec["identity"])
        if entry.finished():
            self.files[f"{folder}/spec.json"] = with_checksum(spec)
            for name in ("run.json", *read_result(entry.result)["files"]):
                self.files[f"{folder}/{name}"] = entry.result / name

    def write(self, to: Path) -> None:
        """Write the tar."""
        specs = [queued.spec for queued in self.packed.values()]
        roots = {path for spec in specs for path in run_roots(spec)}
        roots |= {path for queued in self.packed.values() for path in paths(nodes(queued.run))}
        programs = {f"workflow.scripts.{name}" for name in PROGRAMS}
        modules = {path.partition(":")[0] for path in roots} | programs
        modules |= {"workflow.lent.runner", "workflow.lent.compare"}
        code = {*(ROOT / "model").rglob("*.py"), *imports.files(modules, ROOT)}
        equivalent = {ROOT / FILE} if (ROOT / FILE).is_file() else set()
        files = {str(path.relative_to(ROOT)): path for path in sorted(code | equivalent)}
        runs = [
            {
                "key": queued.run.key,
                "identity": queued.spec["identity"],
                "minutes": round(queued.minutes, 3),
                "jobs": queued.jobs,
            }
            for queued in self.packed.values()
        ]
        listing = {"schema": SCHEMA, "scale": self.plan.scale, "runs": runs, **self.commit}
        listing["keep_checkpoints"] = bool(self.plan.config.get("keep_checkpoints"))
        write_archive(to, {**self.files, **files}, f"{folder_name(to)}/{LISTING}", listing)

    def summary(self, to: Path) -> list[str]:
        """Return what was packed, and how it is used."""
        first = next(iter(self.packed.values()))
        minutes = sum(one.minutes for one in self.packed.values())
        folder = shlex.quote(folder_name(to))
        unpack = f"tar xf {shlex.quote(to.name)} && cd {folder}"
        dirty = "Not committed: run.json will name a commit that files differ from; commit first"
        return [
            f"{to}: {len(self.packed)} runs, {minutes:.3g} minutes of a GPU as planned, "
            f"{to.stat().st_size / 1e6:.1f} MB; {self.finished} are finished here, "
            f"{self.left_out} left out; first {first.run.key}",
            *([dirty] if self.commit["dirty"] else []),
            f"There: {unpack} && python -m workflow.lent.runner --minutes 10",
            "Here:  make merge FROM=results.tar",
        ]


def job(
    program: str, out: str, arguments: list[str], needs: Any, libraries: Sequence[str] = ()
) -> PackedJob:
    """Return a job as the bundle says it."""
    return {
        "program": f"workflow.scripts.{program}",
        "arguments": arguments,
        "out": out,
        "needs": list(needs),
        "libraries": list(libraries),
    }


def nodes(run: Run) -> list[Node]:
    """Return the nodes of what records and measures a run."""
    record = [run.settings.record] if run.settings.record is not None else []
    return [*run.settings.evaluators.values(), *record]


def folder_name(to: Path) -> str:
    """Return the folder that a bundle is unpacked into."""
    return to.name.removesuffix(".gz").removesuffix(".tar") or "bundle"
