"""What the rules ask of a plan."""

import json
import re

import pytest

from tests.planning.test_records import compared
from tests.planning.test_targets import targets
from workflow.planning.inputs import Inputs
from workflow.runtime.errors import InputError


class Wildcards(dict[str, str]):
    """Those of a job: attributes, and `get`."""

    __getattr__ = dict.__getitem__


def of(key: str) -> Wildcards:
    """The wildcards of a run's path."""
    return Wildcards(zip(("experiment", "variant", "seed"), key.split("/"), strict=True))


def test_a_child_reads_its_parent_and_waits_for_nobody(project):
    inputs, run = Inputs(targets(project)), of("two/tuned/0")
    parent, data = "out/demo/runs/one/small/seed-0", f"out/data/{inputs.run(run).data}/encoded"
    assert inputs.encoded(run) == data
    parents = [f"{parent}/spec.json", f"{parent}/weights.safetensors"]
    assert inputs.of_train(run) == {"data": data, "parents": parents, "twin": []}
    assert inputs.parents(run) == ["--parent", f"first={parent}"]


def test_an_equal_run_is_waited_for(project):
    project.experiments["three"] = {**project.experiments["one"], "title": "Three"}
    inputs = Inputs(targets(project))
    assert inputs.of_train(of("one/small/0"))["twin"] == []
    twin = ["out/demo/runs/one/small/seed-0/run.json"]
    assert inputs.of_train(of("three/small/0"))["twin"] == twin


def test_what_evaluators_read_is_an_input_and_an_argument(project):
    compared(project)["corpus"] = {"dataset": "stack_language", "length": 9}
    inputs = Inputs(targets(project, scale="lite"))
    run = of("one/small/1")
    (folder,) = inputs.of_measure(run)["further"]
    stems = [f"out/lite/records/one/{name}" for name in ("large/seed-1", "small/seed-0")]
    stems += [f"out/lite/records/one/small/seed-{seed}" for seed in (1, 2)]
    assert inputs.of_measure(run)["records"] == [f"{stem}.npz" for stem in stems]
    assert inputs.of_measure(run)["checksums"] == [f"{stem}.json" for stem in stems]
    given = inputs.further(run)
    pairs = sorted(zip(given[::2], given[1::2], strict=True))
    assert pairs == [
        ("--further", f"compare.corpus={folder}"),
        ("--record", f"compare.large={stems[0]}.npz"),
        ("--record", f"compare.others={stems[1]}.npz"),
        ("--record", f"compare.others={stems[3]}.npz"),
        ("--record", f"compare.own={stems[2]}.npz"),
    ]
    assert json.loads(inputs.recorder(run))["path"] == "model.probe:probe"
    assert set(json.loads(inputs.evaluators(run))) == {"probe", "compare"}
    assert json.loads(inputs.draft(run))["seed"] == 1


def test_a_run_on_a_cpu_asks_for_no_gpu_and_one_process(project):
    project.experiments["one"]["resources"] = {"gpu": 2, "memory": "3GB", "runtime": "2h"}
    project.experiments["one"]["training"] = {**project.experiments["one"]["training"]}
    project.experiments["one"]["training"]["threads"] = 3
    run = of("one/small/0")
    for device, gpu, processes in (("cuda", 2, 2), ("auto", 2, 2), ("cpu", 0, 1)):
        inputs = Inputs(targets(project, device=device))
        stated = inputs.resources(run)
        assert (stated.gpu, stated.memory, stated.runtime) == (gpu, 3000, 120)
        assert (inputs.processes(run), inputs.threads(run)) == (processes, 3)


def test_expressions_find_the_paths_of_what_runs_here_and_of_no_other(project):
    none = Inputs(targets(project))
    assert not re.match(none.local, "one/small/")
    project.experiments["one"]["variants"]["large"]["resources"] = {"where": "local"}
    inputs = Inputs(targets(project))
    found = ("one/large/", "one/larger/", "one/small/", "two/tuned/")
    assert [key for key in found if re.match(inputs.local, key)] == ["one/large/"]


def test_data_are_made_of_what_their_recipe_says(project):
    inputs = Inputs(targets(project))
    dataset, recipe = inputs.run(of("one/small/0")).data.split("/")
    data = Wildcards(dataset=dataset, recipe=recipe)
    assert json.loads(inputs.recipe_json(data)) == inputs.run(of("one/small/0")).recipe
    raw = f"out/data/{dataset}/{recipe}/raw"
    assert inputs.of_prepare(data) == [raw] and inputs.data_threads(data) == 1
    files = inputs.raw_files(data, [raw])
    assert files == [f"{raw}/{split}.txt" for split in ("train", "dev", "test")]
    with pytest.raises(InputError, match="no experiment uses this data"):
        inputs.recipe(Wildcards(dataset=dataset, recipe="0" * 12))


def test_the_report_takes_those_of_its_inputs_that_are_of_a_kind(project):
    given = ["out/demo/runs/a/run.json", "out/demo/tables/a.csv", "out/demo/tables/a.md"]
    assert Inputs(targets(project)).results("tables", ".csv")(Wildcards(), given) == given[1:2]
