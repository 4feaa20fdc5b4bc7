"""Estimates against published runs and computations by hand."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.planning.conftest import CONFIG
from tests.sealing import flip, put
from workflow.datasets.kinds.sizes import Data
from workflow.planning import estimator as estimating
from workflow.planning.built import parameters
from workflow.planning.estimator import RATES, Estimate, Estimator, tokens_read
from workflow.planning.plan import Plan, Run
from workflow.runtime.errors import InputError
from workflow.runtime.json_lines import read_lines, write_lines

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "docs" / "reproduction"
SYMBOLS = 10
"""of the stack language, with the reserved ones"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """The project's own experiments at scale lite, with no results."""
    return Plan({**CONFIG, "scale": "lite", "results": str(tmp_path / "results")}, ROOT)


@pytest.fixture
def run(plan: Plan) -> Run:
    """One of its runs."""
    return plan.run("stack_language", "uniform_soft", 0)


def published() -> Iterator[dict[str, Any]]:
    """The records of the published runs on the stack language."""
    yield from read_lines(PUBLISHED / "lite/runs/stack_language.jsonl").values()


def record(run: Run, name: str, seconds: float, **others: Any) -> dict[str, Any]:
    """What a finished run leaves behind."""
    spec = {"run": {"data": run.recipe}}
    spec |= {part: getattr(run.settings, part) for part in ("model", "objective", "training")}
    found = {"identity": name, "device": "cpu", "device_seconds": seconds, "tokens": 6_200_000}
    return {**found, "peak_memory_mb": 100.0, "spec": spec, **others}


@pytest.fixture
def estimator(plan: Plan, tmp_path: Path) -> Callable[..., Estimator]:
    """Gives an estimator that knows these records of published runs."""

    def of(*records: dict[str, Any], gpu: bool = False) -> Estimator:
        lines = {f"variant/seed-{number}": one for number, one in enumerate(records)}
        write_lines(tmp_path / "published/lite/runs/any.jsonl", lines)
        return Estimator(plan, gpu, tmp_path / "published")

    return of


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[dict[str, Any]], Estimate]:
    """Gives the estimate of a run whose encoder an overlay changes."""

    def of(encoder: dict[str, Any]) -> Estimate:
        changes = {"variants": {"sst_topk": {"model": {"encoder": encoder}}}}
        overlay = {"name": "x", "experiments": {"mechanism_matrix": changes}}
        plan = Plan({**CONFIG, "results": str(tmp_path / "results"), "overlay": overlay}, ROOT)
        run = plan.run("mechanism_matrix", "sst_topk", 0)
        return Estimator(plan, False, tmp_path / "none").estimate(run)

    return of


def test_parameters_and_tokens_are_those_that_runs_recorded():
    for one in published():
        spec = one["spec"]
        count, counted = parameters(spec["model"], SYMBOLS)
        assert count == one["parameters"]
        assert count - counted == SYMBOLS * spec["model"]["decoder"]["width"]
        made = spec["run"]["data"]
        data = Data(made["train"], made["train"] * (made["length"] + 1), SYMBOLS)
        assert tokens_read(spec["training"], data) == one["tokens"]


def test_tokens_of_a_number_of_updates():
    data = Data(examples=100, tokens=700, vocabulary=5)
    assert tokens_read({"updates": 3, "batch": {"tokens": 50}}, data) == 150
    assert tokens_read({"updates": 3, "batch": {"examples": 4}}, data) == 3 * 4 * 7


def test_seeds_of_measured_runs_take_their_median(plan, run, estimator):
    records = (
        record(run, "a", 100.0),
        record(run, "b", 900.0, peak_memory_mb=700.0),
        record(run, "c", 120.0),
        record(run, "d", 7.0, device="NVIDIA H200"),
    )
    found = estimator(*records).estimate(plan.run("stack_language", "uniform_soft", 17))
    assert (found.source, found.seconds, found.memory) == ("measured", 120.0, 700.0)
    assert found.disk == pytest.approx(2 * 4 * parameters(run.settings.model, 10_000)[0] / 1e6)
    on_gpu = estimator(*records, gpu=True).estimate(run)
    assert (on_gpu.source, on_gpu.seconds) == ("measured", 7.0)


def test_a_cpu_without_bf16_takes_longer_for_what_was_measured_with_it(plan, run, estimator):
    estimator(record(run, "a", 100.0, bf16=True))
    published = Path(plan.results).parent / "published"
    for other in (run, plan.run("stack_language", "uniform_discrete", 0)):
        with_it, without = (
            Estimator(plan, False, published, bf16=bf16).estimate(other).seconds
            for bf16 in (True, False)
        )
        assert without == pytest.approx(2 * with_it)


def test_a_run_of_one_update_does_not_decide_the_rate(plan, run, estimator):
    other = plan.run("stack_language", "half_digits_soft", 0)
    whole = estimator(record(run, "a", 100.0)).estimate(other).seconds
    untrained = record(run, "b", 4.0, tokens=2_000)
    assert estimator(record(run, "a", 100.0), untrained).estimate(other).seconds < 1.05 * whole


def test_a_run_read_once_is_not_counted_twice(run, estimator):
    once, twice = record(run, "a", 10.0), record(run, "b", 20.0)
    assert estimator(once, twice, twice, twice).estimate(run).seconds == 15.0


def test_a_damaged_record_is_left_out(run, estimator, tmp_path):
    made = estimator(record(run, "a", 10.0), record(run, "b", 20.0))
    path = tmp_path / "published/lite/runs/any.jsonl"
    flip(path, 8 * path.read_bytes().index(b"\n") + 999)
    assert made.estimate(run).seconds == 10.0


def test_other_data_is_scaled_by_tokens(plan, run, estimator):
    other = plan.run("stack_language", "half_digits_soft", 0)
    found = estimator(record(run, "a", 100.0, tokens=3_100_000)).estimate(other)
    assert (found.source, found.seconds) == ("scaled", pytest.approx(200.0))


def test_a_file_that_no_line_lists_is_named(plan, estimator, monkeypatch):
    monkeypatch.setattr(estimating, "load_sources", dict)
    monkeypatch.setattr(estimating, "stated", lambda *_: None)
    says = r"workflow/sources.tsv: imdb/.* is not listed; add a line for it, with tabs"
    with pytest.raises(InputError, match=says):
        estimator().estimate(plan.run("text_classification", "imdb_soft", 0))


def test_another_normaliser_is_scaled_and_another_architecture_is_not(plan, run, estimator):
    made = estimator(record(run, "a", 100.0))
    assert made.estimate(plan.run("stack_language", "uniform_discrete", 0)).source == "scaled"
    assert made.estimate(plan.run("permutation_copying", "same_40", 0)).source == "FLOPs"


def test_a_deep_model_of_an_overlay_is_estimated(changed):
    assert changed({"layers": 200, "normalizer": {"k": 4}}).seconds > 0


@pytest.mark.parametrize(
    "change",
    [{"path": "model.normalizers.of_mine:Gone"}, {"temperature_of_old": 2.0}],
    ids=["a part whose code is gone", "an argument with another name"],
)
def test_a_measured_run_that_no_longer_fits_the_code_is_left_out(run, estimator, change):
    old = deepcopy(record(run, "a", 100.0))
    old["spec"]["model"]["decoder"]["normalizer"] |= change
    assert estimator(old).estimate(run).source == "FLOPs"
    both = estimator(old, record(run, "b", 70.0)).estimate(run)
    assert (both.source, both.seconds) == ("measured", 70.0)


@pytest.mark.parametrize("gpu", [False, True])
def test_operations_by_hand(plan, run, tmp_path, gpu):
    decoder = run.settings.model["decoder"]
    width, hidden, layers = decoder["width"], decoder["hidden"], decoder["layers"]
    # Four products of attention and two of the feed-forward part with their biases, two norms; a
    # norm, learned positions and the output. The data are not made: 10,000 words.
    layer = 4 * width * (width + 1) + 2 * width * hidden + hidden + width + 4 * width
    counted = layers * layer + (2 + decoder["max_length"]) * width + 10_000 * (width + 1)
    tokens = 4 * 50_000 * 31
    operations = (6 * counted + 12 * layers * width * 31) * tokens
    found = Estimator(plan, gpu, tmp_path / "none").estimate(run)
    assert found.source == "FLOPs"
    least = 0.01 * tokens / (64 * 31) if gpu else 0  # a GPU waits for Python at every update
    seconds = operations / RATES["gpu" if gpu else "cpu"]
    assert found.seconds == pytest.approx(max(seconds, least))
    assert found.memory == 2000  # what the experiment asks for
    resources = replace(run.settings.resources, gpu=4)
    run = replace(run, settings=replace(run.settings, resources=resources))
    shared = Estimator(plan, gpu, tmp_path / "none").estimate(run)
    devices = 4 if gpu else 1
    assert shared.seconds == pytest.approx(max(seconds / devices, least))
    assert shared.units == pytest.approx(devices * shared.seconds)


@pytest.mark.parametrize("remembers", [True, False])
def test_a_text_is_read_by_segments_with_the_memory_of_the_model(plan, tmp_path, remembers):
    run = plan.run("language_modelling", "prefix_softmax", 0)
    if not remembers:
        model = plan.run("stack_language", "uniform_soft", 0).settings.model
        run = replace(run, settings=replace(run.settings, model=model))
    model, training = run.settings.model, run.settings.training
    stack = model if remembers else model["decoder"]
    read = run.settings.objective["segment"] + stack.get("memory", 0)
    each = 6 * parameters(model, 203)[1] + 12 * stack["layers"] * stack["width"] * read
    tokens = training["updates"] * training["batch"]["tokens"]
    found = Estimator(plan, False, tmp_path / "none").estimate(run)
    assert found.seconds == pytest.approx(each * tokens / RATES["cpu"])


def test_what_the_store_has_costs_nothing(plan, run, tmp_path):
    estimator = Estimator(plan, False, tmp_path / "none")
    assert estimator.identity(run) is None
    encoded = Path(plan.results) / "data" / run.data / "encoded"
    splits = {"train": {"examples": 10, "tokens": 300}}
    manifest = {"digest": "d", "splits": splits, "vocabulary_size": SYMBOLS}
    put(encoded / "manifest.json", manifest)
    assert estimator.data(run.recipe) == Data(10, 310, SYMBOLS)
    assert estimator.estimate(run).source == "FLOPs"
    pairs = {"examples": 10, "tokens": 700, "source_tokens": 400, "target_tokens": 300}
    put(encoded / "manifest.json", {**manifest, "splits": {"train": pairs}})
    assert estimator.data(run.recipe) == Data(10, 310, SYMBOLS), "a training counts the target's"
    put(encoded / "manifest.json", manifest)
    name = estimator.identity(run)
    (Path(plan.results) / "store" / name / "result").mkdir(parents=True)
    assert (estimator.estimate(run).source, estimator.estimate(run).units) == ("store", 0)
    other = plan.run("stack_language", "uniform_soft", 1)
    assert estimator.estimate(other).source == "FLOPs"


def test_a_published_identity_is_found_again(plan):
    """The identity in a record follows from its own spec as the estimator computes it."""
    one = next(one for one in published())
    labels = one["spec"]["run"]
    run = plan.run(labels["experiment"], labels["variant"], labels["seed"])
    encoded = Path(plan.results) / "data" / run.data / "encoded"
    digest = one["spec"]["data"]["digest"]
    put(encoded / "manifest.json", {"digest": digest})
    assert Estimator(plan, False, PUBLISHED).identity(run) == one["identity"]
