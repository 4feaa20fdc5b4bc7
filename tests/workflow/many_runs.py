"""A project of many small runs, and a bare workflow of the same shape, to measure planning with.

    python -m tests.workflow.many_runs FOLDER [--variants 50 --seeds 100]

writes FOLDER/project and FOLDER/bare; `snakemake --dry-run` in both is what is compared. Both have
the same jobs, files and edges; the bare one has constant parameters and reads nothing else.
"""

import argparse
from pathlib import Path

import yaml

from tests.workflow.conftest import TOY, Project, copy_code

BARE = """\
VARIANTS = {variants}
SEEDS = range({seeds})
PIECES = ("weights.safetensors", "history.jsonl", "run.json")
DATA = "results/data/stack_language/0123456789ab"
RUN = "results/demo/runs/{{experiment}}/{{variant}}/seed-{{seed}}"
MEASURES = "results/demo/measures/{{experiment}}/{{variant}}/seed-{{seed}}.json"
TABLE = "results/demo/tables/many/losses"
ALL = dict(experiment="many_runs", variant=[f"v{{n}}" for n in range(VARIANTS)], seed=SEEDS)


rule report:
    input:
        [expand(f"{{RUN}}/{{name}}", **ALL) for name in PIECES],
        expand(MEASURES, **ALL),
        multiext(TABLE, ".csv", ".md", ".tex", ".json"),
    output:
        "results/demo/report.html",
        "results/demo/report.json",
    shell:
        "touch {{output}}"


rule synthesise:
    output:
        directory(f"{{DATA}}/raw"),
    shell:
        "mkdir {{output}}"


rule prepare:
    input:
        rules.synthesise.output,
    output:
        directory(f"{{DATA}}/prepared"),
    shell:
        "mkdir {{output}}"


rule encode:
    input:
        rules.prepare.output,
    output:
        directory(f"{{DATA}}/encoded"),
    shell:
        "mkdir {{output}}"


rule train:
    input:
        rules.encode.output,
    output:
        spec=f"{{RUN}}/spec.json",
        files=[f"{{RUN}}/{{name}}" for name in PIECES],
        checkpoints=directory(f"{{RUN}}/checkpoints"),
    log:
        "results/demo/logs/train/{{experiment}}/{{variant}}/seed-{{seed}}.log",
    shell:
        "mkdir -p {{output.checkpoints}}; touch {{output.spec}} {{output.files}} 2> {{log}}"


rule measure:
    input:
        rules.train.output,
        rules.encode.output,
    output:
        MEASURES,
    log:
        "results/demo/logs/measure/{{experiment}}/{{variant}}/seed-{{seed}}.log",
    shell:
        "echo measures > {{output}} 2> {{log}}"


rule results:
    input:
        expand(MEASURES, **ALL),
        expand(f"{{RUN}}/run.json", **ALL),
    output:
        multiext(TABLE, ".csv", ".md", ".tex", ".json"),
    shell:
        "touch {{output}}"
"""


def write_project(folder: Path, variants: int, seeds: int) -> Project:
    """Write the project's code with one paper of `variants` times `seeds` small runs."""
    folder.mkdir(parents=True)
    project = copy_code(folder)
    toy = {
        name: yaml.safe_load((TOY / f"{name}.yaml").read_text(encoding="utf-8"))
        for name in ("experiments", "tables")
    }
    experiment = toy["experiments"]["experiments"]["toy_language"]
    names = [f"v{number}" for number in range(variants)]
    for name in ("mechanisms", "scales"):
        del experiment[name]
    # The settings of each are its own, as in a search.
    experiment["variants"] = {
        name: {"training": {"optimizer": {"lr": (1 + number) / 10_000}}}
        for number, name in enumerate(names)
    }
    experiment["seeds"] = seeds
    table = toy["tables"]["tables"]["losses"]
    del table["mechanisms"]
    table["experiment"] = "many_runs"
    table["rows"] = [{"id": name, "label": name} for name in names]
    paper = {
        "experiments": {"experiments": {"many_runs": experiment}},
        "tables": {**toy["tables"], "tables": {"losses": table}},
    }
    target = project.root / "workflow" / "papers" / "many"
    target.mkdir(parents=True)
    for name, content in paper.items():
        text = yaml.safe_dump(content, sort_keys=False)
        (target / f"{name}.yaml").write_text(text, encoding="utf-8")
    for name in ("expected.csv", "paper.yaml"):
        (target / name).write_bytes((TOY / name).read_bytes())
    return project


def write_bare(folder: Path, variants: int, seeds: int) -> None:
    """Write a workflow with the jobs and files of `write_project`, and nothing else."""
    folder.mkdir(parents=True)
    text = BARE.format(variants=variants, seeds=seeds)
    (folder / "Snakefile").write_text(text, encoding="utf-8")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--variants", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=100)
    given = parser.parse_args()
    write_project(given.folder / "project", given.variants, given.seeds)
    write_bare(given.folder / "bare", given.variants, given.seeds)


if __name__ == "__main__":
    main()
