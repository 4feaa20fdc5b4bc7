# The plan, and what the rules of every stage ask it (workflow/planning/inputs.py). A mistake of the
# user ends here, in a sentence.

import gc
import inspect
import os
import shlex
import time
import uuid

from snakemake.io import IOFile
from snakemake.settings.types import DeploymentMethod, RerunTrigger

from workflow.datasets.kinds.captioned_images import FEATURES
from workflow.planning.batches import batches
from workflow.planning.configured import configuration, file_named
from workflow.planning.identity import canonical
from workflow.planning.inputs import Inputs
from workflow.planning.plan import Plan
from workflow.planning.targets import FOLDERS, Targets
from workflow.runtime.failure import failures
from workflow.planning.folders import check_submittable
from workflow.runtime.fork_server import PLACE
from workflow.runtime.locking import lock_with

# Jobs of thousands of runs stay: looking for garbage among them time and again finds none.
gc.set_threshold(100_000)

STARTED = time.time()
ENVIRONMENT = str(ROOT / "envs" / "conda.yaml")

# Of --config, or of the workflow that this is a module of.
SETTINGS = dict(config) if MODULE else workflow.config_settings.config or {}

with exit_on_user_error(), file_named(ROOT, OWN_FILES, SETTINGS):
    PLAN = Plan(configuration(ROOT, OWN_FILES, SETTINGS), ROOT)
    TARGETS = Targets(PLAN)
    INPUTS = Inputs(TARGETS)
    LOCAL, BATCHES = INPUTS.local, list(batches(TARGETS))

# A run that failed for good is not tried again by the same invocation, on whatever node.
os.environ.setdefault("SACCADE_INVOCATION", uuid.uuid4().hex)

# No parameters of the jobs that read them: another mirror is no reason to fetch what is there, nor
# another device one to train again.
os.environ.update(
    SACCADE_MIRROR=PLAN.mirror,
    SACCADE_STORE=f"{PLAN.results}/store",
    SACCADE_DEVICE=PLAN.config["device"],
    SACCADE_KEEP_CHECKPOINTS="1" if PLAN.config.get("keep_checkpoints") else "",
)

RESULTS = PLAN.results
SCALE = PLAN.folder
lock_with(RESULTS)


wildcard_constraints:
    dataset="[a-z0-9_]+",
    recipe="[0-9a-f]{12}",
    experiment="[a-z][a-z0-9_]*",
    variant="[a-z][a-z0-9_]*",
    seed="[0-9]{1,10}",
    paper="[a-z][a-z0-9_]*",
    table="[a-z][a-z0-9_]*",
    figure="[a-z][a-z0-9_]*",


def shell_prefix():
    """Let every job find the project, and the Python that runs Snakemake unless conda brings one."""
    path = f"export PYTHONPATH={shlex.quote(str(ROOT))}; "
    if DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method:
        return f"{path}unset {PLACE}; "
    return f"{path}export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH; "


shell.prefix(shell_prefix())


def signed(ask):
    """Keep a function's signature with it: Snakemake wants it several times a job."""
    ask.__signature__ = inspect.signature(ask)
    return ask


def sentence(function):
    """Let a mistake that an input function or parameter meets end in its sentence."""

    @signed
    def ask(wildcards):
        with exit_on_user_error():
            return function(wildcards)

    return ask


def compared(function, file, outdated=lambda wildcards: True):
    """Make a job's output again when it is outdated and was not made from this working folder.

    Of what was made here Snakemake itself notices that parameters changed; its `file` is not read.
    """

    @signed
    def ask(wildcards):
        with exit_on_user_error():
            if RerunTrigger.PARAMS in workflow.rerun_triggers:
                made = IOFile(file(wildcards))
                foreign = os.path.exists(made) and not workflow.persistence.metadata(made)
                if foreign and outdated(wildcards):
                    workflow.dag.forcefiles.add(made)
            return function(wildcards)

    return ask


def page_files(folder):
    """The templates, styles and scripts of a page; those of all share their colours and bar."""
    shared = (ROOT / "workflow" / "report" / name for name in ("colours.css", "bar.css"))
    paths = sorted({*(ROOT / "workflow" / folder).rglob("*"), *shared})
    return [os.path.relpath(path) for path in paths if path.suffix in (".j2", ".css", ".js")]


def resource(name, most=None):
    """A resource of a run's jobs: what its experiment asks for, or the most that a job can use."""

    @signed
    def ask(wildcards):
        found = getattr(INPUTS.resources(wildcards), name)
        return found if most is None else min(found, most)

    return ask


@signed
def runtime(wildcards):
    """The minutes that a training asks for; in an allocation of one's own it has a year.

    Such an allocation runs many jobs, and says when it ends. A change of resources, unlike one of
    the shell command, trains nothing again.
    """
    submitted = workflow.non_local_exec or workflow.remote_exec
    if submitted:
        with exit_on_user_error():
            check_submittable(ROOT, Path(RESULTS))
    if "SLURM_JOB_ID" in os.environ and not (submitted or workflow.dryrun):
        return 365 * 24 * 60
    return INPUTS.resources(wildcards).runtime


SHOWN = {"tables": ".csv", "figures": ".png", "corpora": ".csv", "claims": ".json"}


def results_of(batch):
    """The files of a batch; one of each table, figure and claims is for `snakemake --report`."""
    for item in batch.items:
        folder = FOLDERS.get(item.kind, item.kind)
        named = {folder.removesuffix("s"): item.name} if item.name else {}
        for file in batch.files(item):
            told = report(
                file,
                caption=f"../report/captions/{item.kind}.rst",
                category=batch.paper.title,
                subcategory=folder,
                labels={"paper": batch.paper.name, **named, "scale": PLAN.scale},
            )
            yield told if file.endswith(SHOWN[item.kind]) else file
