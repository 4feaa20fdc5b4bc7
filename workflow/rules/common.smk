# The plan, and what the rules of every stage ask it. A mistake of the user ends here, in a sentence.

import os
import shlex
import time
import uuid

from snakemake.settings.types import DeploymentMethod

from workflow.datasets.kinds.captioned_images import FEATURES
from workflow.datasets.kinds.feature_files import state as features_state
from workflow.datasets.kinds.recipe import files as recipe_files
from workflow.datasets.kinds.recipe import threads as recipe_threads
from workflow.errors import unknown
from workflow.planning.failures import failures
from workflow.planning.identity import canonical
from workflow.planning.identity import data_folder as folder_of
from workflow.planning.plan import Plan
from workflow.planning.resources import Resources as RunResources
from workflow.planning.targets import FIGURE_FORMATS, TABLE_FORMATS, Targets

STARTED = time.time()
ENVIRONMENT = str(ROOT / "envs" / "conda.yaml")

with one_sentence():
    PLAN = Plan(config, ROOT)
    TARGETS = Targets(PLAN)

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

# The tables that are made from the data alone, as an expression for `<paper>/<table>.`.
CORPORA = "|".join(
    f"{n}/{t}" for n, paper in TARGETS.papers.items() for t in paper.items("corpora")
)
CORPORA = rf"(?:{CORPORA})\."

# The variants whose jobs run where Snakemake runs, as an expression for `<experiment>/<variant>/`.
LOCAL = "|".join(
    f"{name}/{variant}"
    for name, experiment in PLAN.experiments.items()
    for variant in experiment.definition["variants"]
    if RunResources.of(PLAN.run(name, variant, 0).settings).where == "local"
)
LOCAL = rf"(?:{LOCAL})/"

RESULTS = PLAN.results
SCALE = PLAN.folder


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
        return path
    return f"{path}export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH; "


shell.prefix(shell_prefix())


def sentence(function):
    """Let a mistake that an input function or parameter meets end in its sentence."""

    def ask(wildcards):
        with one_sentence():
            return function(wildcards)

    return ask


def code_of(script, *parts):
    """A hash of the code that a job runs, so that editing it runs the job again."""
    return PLAN.code(f"workflow.scripts.{script}:main", *parts)


def run_of(wildcards):
    """The run that a path belongs to."""
    return PLAN.run(wildcards.experiment, wildcards.variant, int(wildcards.seed))


def threads_of(wildcards):
    """The threads that a run is defined to be computed with."""
    return run_of(wildcards).settings["training"]["threads"]


def resource(name):
    """A resource: what the experiment asks for, the same for each attempt; a CPU needs no GPU."""

    def ask(wildcards):
        if name == "gpu" and PLAN.config["device"] == "cpu":
            return 0
        return getattr(RunResources.of(run_of(wildcards).settings), name)

    return ask


def runtime(wildcards):
    """The minutes that a training asks for; in an allocation of one's own it has a year.

    Such an allocation runs many jobs, and says when it ends. A change of resources, unlike one of
    the shell command, trains nothing again.
    """
    submitted = workflow.non_local_exec or workflow.remote_exec
    if "SLURM_JOB_ID" in os.environ and not (submitted or workflow.dryrun):
        return 365 * 24 * 60
    return resource("runtime")(wildcards)


def one_gpu(wildcards):
    """The GPU of a job that computes in one process, where its experiment asks for any."""
    return min(1, resource("gpu")(wildcards))


def processes_of(wildcards):
    """The processes that train a run: one for each GPU, whichever way the site asks for them."""
    return max(1, resource("gpu")(wildcards))


def run_folder(run):
    """The folder of a run's results."""
    return f"{SCALE}/runs/{run.key}"


def data_folder(run):
    """The folder of a run's encoded data."""
    return f"{RESULTS}/data/{run.data}/encoded"


def further_data_of(wildcards):
    """What the evaluators of a run read beside its data, by `<evaluator>.<argument>`."""
    return {
        name: f"{RESULTS}/data/{folder_of(recipe)}/encoded"
        for name, recipe in run_of(wildcards).further_data.items()
    }


def records_of(wildcards):
    """The records that the evaluators of a run read, each as (`<evaluator>.<argument>`, file)."""
    return [
        (name, f"{SCALE}/records/{run.key}.npz")
        for name, runs in PLAN.records(run_of(wildcards)).items()
        for run in runs
    ]


def further_arguments(wildcards):
    """What the evaluators of a run read beside its data, as arguments of `measure`."""
    corpora = further_data_of(wildcards).items()
    given = [("--further", f"{name}={folder}") for name, folder in corpora]
    given += [("--record", f"{name}={file}") for name, file in records_of(wildcards)]
    return [text for pair in given for text in pair]


def parents_of(run, file):
    """The file of that name of each parent of a run."""
    return [f"{run_folder(parent)}/{file}" for parent in PLAN.parents(run).values()]


def inputs_of_resolve(wildcards):
    """The data of a run and the specs of its parents."""
    run = run_of(wildcards)
    return {"data": data_folder(run), "parents": parents_of(run, "spec.json")}


def inputs_of_train(wildcards):
    """The data of a run, its parents, and an equal run to wait for: only one of two is trained."""
    run = run_of(wildcards)
    twin = PLAN.twin(run)
    return {
        "data": data_folder(run),
        "parents": parents_of(run, "weights.safetensors"),
        "twin": [f"{run_folder(twin)}/run.json"] if twin else [],
    }


def inputs_of_measure(wildcards):
    """The data of a run, and what its evaluators read beside it."""
    further = further_data_of(wildcards).values()
    return {
        "data": data_folder(run_of(wildcards)),
        "further": sorted(set(further)),
        "records": sorted({file for _, file in records_of(wildcards)}),
        "checksums": sorted({file.replace(".npz", ".json") for _, file in records_of(wildcards)}),
    }


def parent_arguments(wildcards, *file):
    """The parents of a run as `--parent name=path`, the path being its folder or a file in it."""
    return [
        argument
        for name, run in PLAN.parents(run_of(wildcards)).items()
        for argument in ("--parent", f"{name}={'/'.join([run_folder(run), *file])}")
    ]


def recipe_of(wildcards):
    """The data recipe that a path belongs to."""
    return TARGETS.recipe(f"{wildcards.dataset}/{wildcards.recipe}")


def recipe_json(wildcards):
    """The data recipe as canonical JSON."""
    return canonical(recipe_of(wildcards))


def data_threads(wildcards):
    """The cores that preparing and encoding the data can make use of."""
    return recipe_threads(recipe_of(wildcards))


def dataset_code(script):
    """A parameter: the hash of a script's code and of the dataset that it imports on demand."""
    return sentence(
        lambda wildcards: code_of(script, f"workflow.datasets.{wildcards.dataset}:Data")
    )


def features_found(wildcards):
    """A parameter: what tells features got by hand from others that are put in their place."""
    index = f"{RESULTS}/data/features/{wildcards.dataset}/{FEATURES}"
    return features_state(Path(f"{RESULTS}/data/manual"), wildcards.dataset, Path(index))


def raw_input(wildcards):
    """What `prepare` reads: downloaded files and features, or the folder of generated files."""
    files = recipe_files(recipe_of(wildcards))
    if files["sources"]:
        found = [f"{RESULTS}/data/sources/{wildcards.dataset}/{name}" for name in files["sources"]]
        made = [f"{RESULTS}/data/features/{wildcards.dataset}/{name}" for name in files["features"]]
        return [*found, *made]
    return [f"{RESULTS}/data/{wildcards.dataset}/{wildcards.recipe}/raw"]


def raw_files(wildcards, input):
    """The files that `prepare` reads, one by one."""
    files = recipe_files(recipe_of(wildcards))
    if files["sources"]:
        return list(input)
    return [f"{input[0]}/{name}" for name in files["raw"]]


def paper_of(wildcards):
    """The paper that a path belongs to."""
    if wildcards.paper not in TARGETS.papers:
        raise unknown(PLAN.papers, "paper", wildcards.paper, TARGETS.papers)
    return TARGETS.papers[wildcards.paper]


def definition(kind):
    """A parameter: what the paper's YAML says about this table or figure, and no other."""
    return sentence(lambda wildcards: paper_of(wildcards).definition(kind, asked(wildcards, kind)))


def code_behind(kind, script):
    """A parameter: the hash of the code that draws this table or figure."""
    return sentence(
        lambda wildcards: code_of(script, *paper_of(wildcards).code(kind, asked(wildcards, kind)))
    )


def asked(wildcards, kind):
    """The name of the table or figure that a path belongs to; claims have none."""
    what, paper = kind.removesuffix("s"), paper_of(wildcards)
    name = wildcards.get(what, "")
    if kind in ("tables", "figures") and name not in getattr(paper, kind)[kind]:
        raise unknown(f"{paper.folder / kind}.yaml", what, name, getattr(paper, kind)[kind])
    return name


def measures_behind(kind):
    """An input: the measures of the runs that a table, a figure or the claims are made of."""
    return sentence(
        lambda wildcards: TARGETS.measures(paper_of(wildcards).runs(kind, asked(wildcards, kind)))
    )


def run_files_behind(kind):
    """An input: the `run.json` of those runs."""
    return sentence(
        lambda wildcards: TARGETS.run_files(paper_of(wildcards).runs(kind, asked(wildcards, kind)))
    )


def expected_values(wildcards):
    """An input: the numbers that the paper prints."""
    return os.path.relpath(paper_of(wildcards).folder / "expected.csv")


def base_table(wildcards):
    """An input: the table of the scale that an overlay stands on, where it was made."""
    base = PLAN.config["scale"]
    path = f"{RESULTS}/{base}/tables/{wildcards.paper}/{wildcards.table}.csv"
    return [path] if PLAN.scale != base and os.path.exists(path) else []


def described(wildcards):
    """The corpora behind a table that is made from the data alone, by the id of their rows."""
    return paper_of(wildcards).described(wildcards.table)


def corpora_behind(wildcards):
    """An input: the encoded data of those corpora, but for what is missing."""
    found = described(wildcards).values()
    return [f"{RESULTS}/data/{one.folder}/encoded" for one in found if not one.missing]


def corpora_json(wildcards):
    """A parameter: those corpora as canonical JSON."""
    return canonical(
        {
            name: {"recipe": one.recipe, "folder": one.folder, "missing": one.missing}
            for name, one in described(wildcards).items()
        }
    )


def kind_of(kind, suffix):
    """A parameter: the input files of one kind of results."""
    return lambda wildcards, input: [
        file for file in input if file.startswith(f"{SCALE}/{kind}/") and file.endswith(suffix)
    ]


def files_behind(target):
    """An input: the files behind a target; no name of a file is made for one not asked for."""
    return lambda wildcards: TARGETS.files(target)


@sentence
def refuse(wildcards):
    """End with the sentence about a name that is no target."""
    raise TARGETS.refusal(wildcards.unknown)


def check_names():
    """End with a sentence when a target has the name of a rule, of a file or of another target."""
    with one_sentence():
        TARGETS.check_names(rule.name for rule in workflow.rules)
