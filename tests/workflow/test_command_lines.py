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
