"""The hash of code draws the line: `model/` decides numbers, `workflow/runtime` does not."""

from pathlib import Path

from workflow import ROOT
from workflow.lent.imports import files, imported
from workflow.planning.code import Project
from workflow.planning.configured import configured
from workflow.planning.experiments import SCALES
from workflow.planning.identity import measuring_roots, run_roots
from workflow.planning.modules import module_file

ABSENT = {"snakemake", "pandas", "pydantic", "yaml"}
LATER = {"workflow.runtime.locking"}
"""Imports Snakemake in the function that changes it."""
ELSEWHERE = {"model.hugging_face"}
"""Serves models of transformers, and needs all of `model/` without `workflow/`."""


def modules(folder: str) -> set[str]:
    """The modules of a folder that are no rooms."""
    paths = [path.relative_to(ROOT) for path in (ROOT / folder).rglob("*.py")]
    return {".".join(path.with_suffix("").parts) for path in paths if path.stem != "__init__"}


def test_model_is_what_decides_weights_and_measures(tmp_path: Path) -> None:
    roots: dict[str, None] = {}
    for scale in SCALES:
        settings = dict.fromkeys(("seeds", "mirror", "overlay")) | {"mechanisms": {}}
        plan = configured(ROOT, scale=scale, experiments="all", results=str(tmp_path), **settings)
        for name, experiment in plan.experiments.items():
            for variant in experiment.variants(scale):
                found = plan.run(name, variant, 0).settings
                nodes = [*found.evaluators.values(), *filter(None, [found.record])]
                roots |= dict.fromkeys(
                    (
                        *run_roots({"model": found.model, "objective": found.objective}),
                        *(root for node in nodes for root in measuring_roots(node)),
                    )
                )
    reached = {module for module, _ in Project(ROOT).reached(roots)}
    assert modules("model") - reached == ELSEWHERE
    assert {module.partition(".")[0] for module in reached} == {"model"}


def test_the_room_and_the_runner_import_nothing_that_a_lent_machine_lacks() -> None:
    room = modules("workflow/runtime") | {"workflow.lent.runner", "workflow.lent.compare"}
    paths = files(room - LATER, ROOT)
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    tops = {one.partition(".")[0] for name in names for one in imported(name, ROOT)}
    assert len(room) > 12 and not tops & ABSENT
    assert {top for top in tops if module_file(top, ROOT)} <= {"model", "workflow"}
