"""The cores that the jobs of data declare to Snakemake are those that they are told to use."""

import re

from tests.planning.conftest import CONFIG
from tests.workflow.conftest import Project
from workflow.datasets.kinds.recipe import threads
from workflow.planning.plan import Plan


def test_pairs_are_prepared_with_the_cores_that_are_declared(real: Project) -> None:
    plan = Plan({**CONFIG, "scale": "lite", "results": "results"}, real.root)
    run = plan.run("sparse_translation", "multi30k_de_en_softmax", 0)
    cores = threads(run.recipe) - 1  # given to Snakemake, whatever this machine has
    assert cores > 1
    said = real.plan(
        f"results/data/{run.data}/encoded",
        "--printshellcmds",
        *("--cores", str(cores)),
        config=("scale=lite",),
    ).said
    for rule in ("prepare", "encode"):
        (block,) = re.findall(rf"^(?:local)?rule {rule}:\n((?: .*\n)+)", said, re.M)
        assert re.search(rf"^ +threads: {cores}$", block, re.M), block  # as there are no more
        (command,) = re.findall(rf"workflow.scripts.{rule} .*", said)
        assert f" --threads {cores} " in command
