"""Snakemake's own options do here what its documentation says; none of these runs a job."""

import pytest

DRY = ("--dry-run", "toy")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (DRY, "Nothing to be done"),
        ((*DRY, "--rerun-triggers", "mtime"), "Nothing to be done"),
        (("--summary", "toy"), "soft/seed-0/weights.safetensors"),
        (("--detailed-summary", "toy"), "workflow.scripts train"),
        (("--list-rules",), "\nsynthesise\n"),
        (("--list-target-rules",), "\ntoy_language\n"),
        (("--dag", "dot", "--", "toy"), "digraph snakemake_dag"),
        (("--rulegraph", "mermaid-js", "--", "toy"), "flowchart TB"),
        (("--filegraph", "--", "toy"), "digraph snakemake_dag"),
        (("--d3dag", "--", "toy"), '"edges"'),
        ((*DRY, "--batch", "toy=1/2"), "Considering only batch 1/2 (rule toy)"),
        (("--list-untracked", "toy"), "workflow/validation.py"),
        (("--delete-all-output", *DRY), "Would delete results/demo/tables/toy/corpora.csv"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_is_finished_is_described(finished, arguments, says):
    assert says in finished.snakemake(*arguments).said


@pytest.mark.parametrize(
    ("arguments", "first", "absent"),
    [
        (("--forcerun", "measure"), "measure", {"encode", "train"}),
        (("--forceall", "--until", "encode"), "encode", {"train", "measure"}),
        (("--forceall", "--omit-from", "measure"), "train", {"measure"}),
        (("--forceall", "--profile", "slurm"), "measure", set()),
        (("--forcerun", "measure", "--consider-ancient", "measure=run"), "measure", {"train"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_part_of_the_jobs_is_chosen(finished, arguments, first, absent):
    rules = {job.split()[0] for job in finished.plan("toy", *arguments).jobs}
    assert first in rules and not rules & absent


def test_resources_of_the_command_line_replace_those_of_a_rule(finished):
    given = ("--set-resources", "train:mem_mb=123", "--set-threads", "train=1")
    said = finished.plan("toy", "--forcerun", "train", *given).said
    assert "mem_mb=123" in said


def test_each_rule_can_have_a_unit_test(finished):
    """`--generate-unit-tests` names a Python function after each rule."""
    said = finished.snakemake("--list-rules").said.splitlines()
    names = [name for name in said if name.startswith(("results", "train", "toy"))]
    assert "results_toy_losses" in names and all(name.isidentifier() for name in names)
