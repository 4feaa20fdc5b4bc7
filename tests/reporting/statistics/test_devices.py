"""No cell and no claim is over runs of two devices; those of the other stand beside it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

from tests.reporting.synthetic import Results, judged, laid_out, lines, one_run, toy, toy_table
from workflow import ROOT
from workflow.definitions.paper import Paper
from workflow.files import read_json
from workflow.reporting.cells import read_table, records
from workflow.reporting.measures import EvaluatedRun, by_usual_device, numbers_of, usual_device
from workflow.reporting.page.headline import Counts
from workflow.reporting.publication.devices import of_two_devices
from workflow.reporting.tables.tabulating import tabulate

PUBLISHED = ROOT / "docs/reproduction"
SCALES = [path.parent for path in sorted(PUBLISHED.glob("*/index.json"))]


def on(device: str, variant: str, seed: int, value: float) -> EvaluatedRun:
    """Return a run of a device, with a value of `probe.m`."""
    run = one_run(variant, seed, {"m": value})
    return replace(run, provenance={**run.provenance, "device": device})


@pytest.mark.parametrize(
    ("groups", "usual"),
    [
        ([["cpu"], ["H200"], ["H200"]], "H200"),
        ([["H200"], ["cpu"]], "cpu"),
        ([["H200"], ["H100"], ["H200"]], "H200"),
        ([["cpu", "H200"], ["cpu", "H200"], ["H200", "H200"]], "H200"),
        ([["cpu", "H200"]], "cpu"),
        ([], "cpu"),
    ],
)
def test_the_usual_device_is_that_of_most_groups(groups: list[list[str]], usual: str) -> None:
    runs = [[on(device, "one", seed, 0.5) for device in group] for seed, group in enumerate(groups)]
    assert usual_device(runs) == usual


def test_runs_are_parted_by_the_usual_device() -> None:
    runs = [on(device, "one", seed, 0.5) for seed, device in enumerate(["cpu", "H200", "H200"])]
    assert by_usual_device(runs) == (runs[1:], runs[:1])
    assert by_usual_device(runs, among=runs[:1]) == (runs[:1], runs[1:])


def table(*devices: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the line of a cell over runs of some devices, the n-th with .n, and what is below."""
    metrics = {"m": {"measure": "probe.m", "label": "m", "digits": 2}}
    columns = [{"id": "m", "label": "m", "metrics": ["m"], "format": "{m}"}]
    made = toy_table(metrics, columns, [{"id": "one", "label": "one"}])
    built = toy(made, [on(it, "one", seed, (seed + 1) / 10) for seed, it in enumerate(devices)])
    (line,) = lines(built)
    return line, laid_out(made, built).below


def test_a_cell_is_over_the_runs_of_one_device() -> None:
    cell, below = table("cpu", "H200", "cpu", "H200", "H200")
    assert (cell["mean"], cell["n"]) == ("0.366667", "3")
    beside = "0.2 (-0.17) over 2 runs on cpu"
    assert beside in cell["note"] and "seeds 1, 3, 4" in cell["note"]
    assert (
        f"No mean is over two devices, nor do rows of two compare. Other devices: one, m: {beside}."
        in below
    )
    cell, below = table("cpu", "cpu")
    assert (cell["mean"], cell["n"]) == ("0.15", "2")
    assert not any("two devices" in line for line in below)


def two_devices(folder: Path, gpu: Sequence[int]) -> tuple[Counts, list[EvaluatedRun]]:
    """Return what is shown of a run on a CPU and others on a GPU, and these runs.

    The latter measured what the runs of the seeds `gpu` did.
    """
    results = Results(folder / "results", "lite")
    for seed in range(1 + len(gpu)):
        results.add("text_classification", "sst_soft", seed)
        results.add("text_classification", "sst_discrete", seed)
    runs = results.read()
    group = runs.of("text_classification", "sst_soft")
    for at, seed in enumerate(gpu, 1):
        elsewhere = {**group[at].provenance, "device": "H200"}
        group[at] = replace(
            group[at], provenance=elsewhere, evaluators=dict(group[seed].evaluators)
        )
    path = folder / "lite/tables/discrete_transformer/table_6_1"
    tabulate(Paper("discrete_transformer"), "table_6_1", "lite", runs, path)
    return of_two_devices(folder / "lite"), group


def test_both_devices_are_beside_each_other(tmp_path: Path) -> None:
    """A row that both trained is shown once, by its number of quality, the CPU first."""
    shown, group = two_devices(tmp_path, (1, 2))
    of_cpu, *of_gpu = numbers_of(group, "accuracy.accuracy")
    low, high = stats.ttest_ind(of_gpu, [of_cpu]).confidence_interval()
    mean = sum(of_gpu) / 2
    assert shown.rows == (
        (
            "[Table 6.1](kinley2020.md#table_6_1): gradient norm: SST, accuracy",
            f"{of_cpu:.1f} (1)",
            f"{mean:.1f} (2)",
            f"{mean - of_cpu:+.1f} [{low:+.1f}, {high:+.1f}]",
        ),
    )


@pytest.mark.parametrize(
    ("gpu", "why"), [((1,), "one run each"), ((1, 1), "each device's runs are equal")]
)
def test_a_row_without_an_interval_says_why(tmp_path: Path, gpu: Sequence[int], why: str) -> None:
    shown, _ = two_devices(tmp_path, gpu)
    assert shown.rows[0][-1].endswith(f" [none: {why}]")
    assert "0 of 0 intervals leave out 0, and 1 row has none." in shown.about
    assert shown.about.endswith("So few runs do not show that devices are equal.")


def decided(left: Sequence[str], right: Sequence[str], over: str = "runs") -> dict[str, object]:
    """Return what is decided on runs of some devices, seed by seed, all with 1 at the left."""
    sides = {"good": (left, 1.0), "bad": (right, 0.0)}
    runs = [
        on(device, side, seed, value)
        for side, (devices, value) in sides.items()
        for seed, device in enumerate(devices)
    ]
    return judged(runs, measure="probe.m", over=over, unit="fraction", label="m", digits=2)


def test_a_claim_is_over_pairs_of_one_device() -> None:
    found = decided(["cpu", "H200", "H200", "cpu"], ["cpu", "H200", "H200", "H200"])
    assert found["seeds"] == [1, 2] and found["devices"] == {"H200": 4}
    assert decided(["cpu"], ["H200"])["verdict"] == "not run"


def test_a_claim_over_proportions_is_over_groups_of_one_device() -> None:
    found = decided(["cpu"] * 3 + ["H200"], ["cpu"] * 2 + ["H200"] * 2, "proportions")
    assert found["devices"] == {"cpu": 5} and found["n"] == 5


@pytest.mark.parametrize("folder", SCALES, ids=lambda it: it.name)
def test_nothing_published_is_over_two_devices(folder: Path) -> None:
    for path in sorted(folder.glob("tables/*/*.csv")):
        table = read_table(path)
        for cell in records(table.cells):
            devices = {table.about["runs"][run]["device"] for run in cell["runs"]}
            assert len(devices) <= 1 or not isinstance(cell["mean"], float), (path, cell)
    for path in sorted(folder.glob("claims/*.json")):
        for claim in read_json(path)["claims"]:
            assert len(claim["devices"]) <= 1, claim["id"]


@pytest.mark.parametrize("folder", SCALES, ids=lambda it: it.name)
def test_a_count_that_no_training_changes_has_no_device(folder: Path) -> None:
    for path in sorted(folder.glob("tables/*/*.csv")):
        table = read_table(path)
        for cell in records(table.cells):
            fixed = table.about.get("tolerances", {}).get(cell["metric"], {}).get("seed_std") == 0
            assert not (fixed and cell["other_devices"]), (path, cell["row"], cell["metric"])
