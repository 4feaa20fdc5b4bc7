"""What can go wrong on a cluster, each made to happen to a real training job.

A case is given a bench, does its harm, checks that the run ends with the weights of an undisturbed
one, and returns what it measured. Its docstring says what is promised.
"""

import hashlib
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.laboratory.slurm.bench import Bench, Plant
from tests.laboratory.slurm.cluster import GRACE, KILL_WAIT, NODES
from tests.laboratory.slurm.processes import Failed, wait
from tests.laboratory.slurm.project import LOCAL, RUN, SAVE_EVERY, SAVING, SLURM, Project
from workflow.planning.configured import configured
from workflow.planning.identity import canonical
from workflow.runtime.integrity import read_verified

Case = Callable[[Bench], str]
SLOW = 3.0
"""Seconds an update while another process starts: the one before must not end meanwhile."""
LEAVING = ('"asked_to_save" if', '"asked_to_stop" if')
"""The edit of `train` that makes a process under Slurm leave at SIGTERM."""


def demo(bench: Bench) -> str:
    """Two models of the stack language demo, from nothing to their measures, as on one machine."""
    variants = ("uniform_soft", "uniform_discrete_penalty")
    runs = [f"stack_language/{variant}/seed-0" for variant in variants]
    targets = ("--", *(f"results/demo/measures/{run}.json" for run in runs))
    cluster, local = bench.project("demo"), bench.project("demo_local")
    on_cluster = cluster.snakemake(*SLURM, *targets)
    local.snakemake(*LOCAL, *targets).end()
    on_cluster.end()
    for run in runs:
        one, other = (project.folder / "results" / "demo" for project in (cluster, local))
        name = f"runs/{run}/weights.safetensors"
        require((one / name).read_bytes() == (other / name).read_bytes(), f"{name} differs")
        name = f"measures/{run}.json"
        require(measured(one / name) == measured(other / name), f"{name} differs")
    jobs = bench.cluster.jobs(cluster.folder)
    gpus = [job.get("TresPerJob") for job in jobs]
    require(gpus == ["gres:gpu:1"] * 2 * len(runs), f"GPUs asked for: {gpus}")
    return f"{len(jobs)} jobs with a GPU each; weights and measures equal those of a local run"


def changed_rate(bench: Bench) -> str:
    """A table from raw text on; then a learning rate changes, and only that run trains again."""
    project = bench.project("changed_rate")
    project.snakemake(*SLURM, "explicit_sparse_table_4").end()
    tables = project.folder / "results/demo/tables/explicit_sparse"
    written = [tables / f"table_4.{kind}" for kind in ("csv", "tex", "md")]
    before, made = (
        len(bench.cluster.jobs(project.folder)),
        [file.stat().st_mtime for file in written],
    )
    old = "multi30k_en_de_topk: {<<: *generated, evaluators: {}"
    new = f"{old}, training: {{epochs: 7, optimizer: {{lr: 5.0e-4}}}}"
    project.edit("workflow/papers/explicit_sparse/experiments.yaml", old, new)
    said = project.snakemake(*SLURM, "explicit_sparse_table_4").end()
    trained = re.findall(r"^rule train:\n(?: .*\n)*?    wildcards: (.*)$", said, re.M)
    run = "experiment=sparse_translation, variant=multi30k_en_de_topk, seed=0"
    require(trained == [run], f"trained again: {trained}")
    after = bench.cluster.jobs(project.folder)[before:]
    require(len(after) == 2, f"{len(after)} jobs, not a training and what measures it")
    newer = [file.stat().st_mtime > time for file, time in zip(written, made, strict=True)]
    require(all(newer), "the table is the old one")
    return f"{before} jobs, then {len(after)} for the changed rate; CSV, TeX and Markdown are new"


def deadline(bench: Bench) -> str:
    """A run that knows its limit leaves in time, and its retry loses nothing."""
    project = bench.project("deadline")
    limit = "          resources: {runtime: 3m}\n"
    project.edit("paced.yaml", "        uniform_soft:\n", f"        uniform_soft:\n{limit}")
    project.pace(0.5)
    main = project.start()
    project.until_processes(2)
    project.pace(0)
    said = main.end()
    require("Trying to restart" in said, "no retry")
    require(project.lost == 0, f"{project.lost} updates lost")
    return bench.whole(project)


def time_limit(bench: Bench) -> str:
    """A run that Slurm ends at a limit it did not know is retried from its last state."""
    return _time_limit(bench, bench.project("time_limit"))


def time_limit_leaving(bench: Bench) -> str:
    """The same where a process leaves at SIGTERM."""
    project = bench.project("time_limit_leaving")
    project.edit("workflow/scripts/train.py", *LEAVING)
    return _time_limit(bench, project)


def _time_limit(bench: Bench, project: Project) -> str:
    project.edit("workflow/rules/train.smk", *reversed(SAVING))
    main = project.train(0.5, 40)
    job = bench.job(project)
    bench.cluster.do("scontrol", "update", f"jobid={job}", "TimeLimit=1")
    project.until_processes(2)
    project.pace(0)
    main.end()
    return f"{bench.state(project, job)}; {bench.whole(project, 2 * KILL_WAIT)}"


def requeue(bench: Bench) -> str:
    """A run that is requeued goes on under the same job id."""
    project = bench.project("requeue")
    main = project.train(0.1, 80)
    bench.cluster.do("scontrol", "requeue", bench.job(project))
    main.end()
    jobs = bench.cluster.jobs(project.folder)
    require([job["Restarts"] for job in jobs] == ["1"], f"jobs: {jobs}")
    return f"restarted as the same job; {bench.whole(project)}"


def node(bench: Bench) -> str:
    """When a node is lost its run goes on elsewhere; the process left behind writes no more."""
    project = bench.project("node")
    main = project.train(0.3, 40)
    name = bench.cluster.jobs(project.folder)[0]["NodeList"]
    bench.cluster.kill(name)
    project.pace(SLOW)
    project.until_processes(2)
    older = project.pids[0]
    wait("the process left behind to leave", lambda: not Path(f"/proc/{older}").exists())
    bench.cluster.start_node(name)
    project.pace(0)
    main.end()
    wait("the node to be back", lambda: bench.cluster.states() == ["idle"] * len(NODES))
    return f"{bench.overlap(project)}; {bench.whole(project, 2 * SAVE_EVERY + SLOW)}"


def controller(bench: Bench) -> str:
    """A run does not notice that the controller is restarted."""
    project = bench.project("controller")
    main = project.train(0.1, 80)
    bench.cluster.kill("slurmctld")
    project.until(130)
    bench.cluster.start_controller()
    main.end()
    require(len(project.pids) == 1 and project.lost == 0, "the run was disturbed")
    return f"one process from beginning to end; {bench.whole(project)}"


def killed_main(bench: Bench) -> str:
    """After the main Snakemake is killed a new one takes the run over; two never both write."""
    project = bench.project("killed_main")
    main = project.train(0.3, 40)
    older = bench.job(project)
    main.kill()
    project.pace(SLOW)
    main = project.start()
    project.until_processes(2)
    wait("the orphan to end", lambda: bench.state(project, older) in ("FAILED", "COMPLETED"))
    require(bench.state(project, older) == "FAILED", "the orphan has trained to the end")
    project.pace(0)
    main.end()
    return f"{bench.overlap(project)}; {bench.whole(project, 2 * SAVE_EVERY + SLOW)}"


def cancelled(bench: Bench) -> str:
    """A job that is cancelled counts as failed, and a retry goes on from its last state."""
    project = bench.project("cancelled")
    main = project.train(0.1, 80)
    job = bench.job(project)
    bench.cluster.do("scancel", job)
    said = main.end()
    require(f"SLURM-job '{job}' failed, SLURM status is: 'CANCELLED'" in said, said)
    return f"the user is told CANCELLED; {bench.whole(project)}"


def two_people(bench: Bench) -> str:
    """Whoever starts the workflow second in one folder is told so."""
    project = bench.project("two_people")
    main = project.train(0.1, 20)
    said = project.start().end(fails=True)
    require("works on" in said and "Traceback" not in said, said)
    main.end()
    require(len(project.pids) == 1 and project.lost == 0, "the first was disturbed")
    return f"the second is told that the folder is locked; {bench.whole(project)}"


def two_jobs(bench: Bench) -> str:
    """Of two jobs on one run the newer wins, and the older leaves with a sentence."""
    project = bench.project("two_jobs")
    project.pace(0.3)
    data = next((project.folder / "results" / "data" / "stack_language").glob("*/encoded"))
    plan = configured(project.folder, [project.folder / "paced.yaml"])
    draft = plan.draft(plan.run("stack_language", "uniform_soft", 0))
    command = [sys.executable, "-m", "workflow.scripts.train", "--draft", canonical(draft)]
    command += ["--data", str(data), "--store", "results/store", "--out", RUN]
    command += ["--save-every", str(SAVE_EVERY)]
    older = bench.submit(project, "older.log", f"exec {shlex.join(command)}")
    project.until(40)
    project.pace(SLOW)
    newer = bench.submit(project, "newer.log", f"exec {shlex.join(command)}")
    wait("the older to leave", lambda: bench.state(project, older) == "FAILED")
    project.pace(0)
    wait("the newer to end", lambda: bench.state(project, newer) == "COMPLETED")
    said = (project.folder / "older.log").read_text()
    require("has taken over run" in said and "Traceback" not in said, said)
    return f"{bench.overlap(project)}; {bench.whole(project, 2 * SAVE_EVERY + SLOW)}"


def disk_full(bench: Bench) -> str:
    """With a full disk a run stops with a sentence; with room again it goes on."""
    project = bench.project("disk_full")
    project.pace(0.1)
    store = project.folder / "results" / "store"
    store.mkdir()
    bench.cluster.do("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(store))
    main = project.start("--retries", "0")
    project.until(80)
    filler = store / "filler"
    fill(filler)
    main.end(fails=True)
    require("No space left on device" in project.log, project.log)
    require("what was saved before is whole" in project.log, project.log)
    require("Traceback" not in project.log, project.log)
    states = sorted(project.store.glob("state-*.pt"))
    require(states and all(map(is_whole, states)), f"states: {states}")
    filler.unlink()
    project.pace(0)
    project.start().end()
    return bench.whole(project)


def out_of_memory(bench: Bench) -> str:
    """A job that takes more memory than it asked for is killed, and told; with more it goes on."""
    bench.needs(bench.cluster.limits_memory, "root can't limit memory by control groups (v1) here")
    project = bench.project("out_of_memory")
    asked = "          resources: {memory: 1GB}\n"
    project.edit("paced.yaml", "        uniform_soft:\n", f"        uniform_soft:\n{asked}")
    main = project.train(0.1, 80, "--retries", "0")
    project.want(1_500_000_000)
    said = main.end(fails=True)
    require("training was killed for memory: raise `memory`" in said, said)
    project.edit("paced.yaml", "1GB", "4GB")
    project.want(0)
    project.pace(0)
    project.start().end()
    return f"the log says so; {bench.whole(project)}"


def job_limit(bench: Bench) -> str:
    """Who submits more jobs than allowed is told the limit; with fewer at once all are made."""
    bench.needs(bench.cluster.accounts, "only with --accounts")
    project = bench.project("job_limit")
    limit = ("sacctmgr", "-i", "modify", "user", "root", "set")
    bench.cluster.do(*limit, "MaxSubmitJobs=1")
    variants = ("uniform_soft", "uniform_discrete_penalty")
    targets = [f"results/demo/runs/stack_language/{one}/seed-0/run.json" for one in variants]
    try:
        said = project.snakemake(*SLURM, "--", *targets).end(fails=True)
        require("AssocMaxSubmitJobLimit" in said and "Traceback" not in said, said)
        made = [target for target in targets if (project.folder / target).exists()]
        require(len(made) == 1, f"made: {made}")
        project.snakemake(*SLURM, "--jobs", "1", "--", *targets).end()
    finally:
        bench.cluster.do(*limit, "MaxSubmitJobs=-1")
    return "one run was made, the other told AssocMaxSubmitJobLimit; made with --jobs 1"


def damaged_state(bench: Bench) -> str:
    """A damaged newest state is named, and the run goes on from the one before."""
    project = bench.project("damaged_state")
    main = project.train(0.1, 80, "--retries", "0")
    os.kill(project.pids[0], signal.SIGKILL)
    main.end(fails=True)
    newest = sorted(project.store.glob("state-*.pt"))[-1]
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 1
    newest.write_bytes(content)
    project.pace(0)
    project.start().end()
    require(f"{newest.name} is damaged and was removed" in project.log, project.log)
    return f"the log names it; {bench.whole(project, 4 * SAVE_EVERY)}"


def preempted(bench: Bench) -> str:
    """A preempted run is requeued by Slurm and costs no retry."""
    return _preempted(bench, bench.project("preempted"), retries=0)


def preempted_leaving(bench: Bench) -> str:
    """The same where a process leaves at SIGTERM: Slurm sees a failure, which costs a retry."""
    project = bench.project("preempted_leaving")
    project.edit("workflow/scripts/train.py", *LEAVING)
    return _preempted(bench, project, retries=1)


def _preempted(bench: Bench, project: Project, retries: int) -> str:
    project.edit("workflow/rules/train.smk", *reversed(SAVING))
    main = project.train(0.5, 40, "--retries", str(retries))
    urgent = bench.submit(project, "urgent.log", "sleep 5", "--partition=urgent", "--gpus=8")
    project.until_processes(2)
    project.pace(0)
    main.end()
    require(bench.state(project, urgent) == "COMPLETED", "the urgent job did not run")
    states = [job["JobState"] for job in bench.cluster.jobs(project.folder)]
    return f"jobs: {', '.join(states)}; {bench.whole(project, GRACE + 2 * KILL_WAIT)}"


TOGETHER: tuple[Case, ...] = (
    demo,
    changed_rate,
    deadline,
    time_limit,
    requeue,
    killed_main,
    cancelled,
    two_people,
    two_jobs,
    disk_full,
    out_of_memory,
    damaged_state,
)
"""Cases that do no harm to one another."""
ALONE: tuple[Case, ...] = (node, controller, preempted, job_limit)
"""Cases that every job on the cluster would feel."""
COMPARED: tuple[Case, ...] = (time_limit_leaving, preempted_leaving)
"""What was not chosen, to compare with; only when asked for."""


def require(holds: object, complaint: str) -> None:
    """Fail with a complaint unless something holds."""
    if not holds:
        raise Failed(complaint)


def measured(file: Path) -> dict[str, Any]:
    """What a run's evaluators found, but for the time that they took."""
    evaluators = read_verified(file)["evaluators"]
    return {
        name: {key: value for key, value in found.items() if key != "seconds"}
        for name, found in evaluators.items()
    }


def fill(path: Path) -> None:
    """Write a file that takes all room that is left."""
    with path.open("wb", buffering=0) as stream:
        for size in (4096, 1):
            try:
                while stream.write(bytes(size)):
                    pass
            except OSError:
                continue


def is_whole(state: Path) -> bool:
    """Whether a state's content has the checksum that it begins with."""
    content = state.read_bytes()
    return hashlib.sha256(content[32:]).digest() == content[:32]


UNFENCED = (
    "workflow/runtime/disk_checkpointer.py",
    "        self.claim.check()\n        self.asked",
    "        self.asked",
)
"""An older process goes on saving when a newer one has taken the run over."""

PLANTS: dict[str, Plant] = {
    "demo": ("workflow/rules/measure.smk", 'gpu=resource("gpu", most=1)', "gpu=0"),
    "deadline": ("workflow/scripts/train.py", "- margin(args.time_limit)", "+ 600"),
    "time_limit": ("workflow/scripts/train.py", "setattr(checkpointer, wish, True)", "None"),
    "requeue": (
        "workflow/runtime/disk_checkpointer.py",
        "states = self._states()\n",
        "states = []\n",
    ),
    "node": UNFENCED,
    "killed_main": UNFENCED,
    "cancelled": ("slurm/config.yaml", "retries: 3", "retries: 0"),
    "two_people": ("slurm/config.yaml", "retries: 3", "retries: 3\nnolock: true"),
    "two_jobs": UNFENCED,
    "disk_full": ("workflow/scripts/train.py", "except OSError as", "except LookupError as"),
    "out_of_memory": ("workflow/runtime/watchdog.py", "return next(", "return 0 * next("),
    "damaged_state": ("workflow/runtime/integrity.py", ".digest() != stamp", ".digest() is None"),
    "preempted": ("workflow/scripts/train.py", *LEAVING),
}
"""A mistake for each case, which the case must notice; the others are Slurm's own doing."""
