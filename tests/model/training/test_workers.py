"""Processes that share a run: their updates are those of one process; each keeps freed memory."""

import ctypes
import multiprocessing
import os
import socket
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from model.training.loop import train
from model.training.process_group import SINGLE_PROCESS, DistributedGroup
from tests.model.corpora import CPU, MemoryKeeper, run
from tests.model.specs import SOFTMAX
from workflow.runtime.preflight import keep_freed_memory, prepare_process

SIZE = 2


class Stops(MemoryKeeper):
    """Keeps what the rows were, and wishes to stop after so many updates."""

    def record(self, rows):
        self.rows = rows


def work(rank, port, tasks, answers):
    """Be one of the processes: do each task until there is none."""
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(SIZE)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    group = DistributedGroup(CPU, seed=3)
    while task := tasks.get():
        function, *arguments = task
        answers.put((rank, function(group, *arguments)))
    torch.distributed.barrier()  # else one may leave while the other still connects
    torch.distributed.destroy_process_group()


@pytest.fixture(scope="module")
def in_a_group():
    """What a function returns in each process of a group, which all tests of this file share."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("spawn")
    answers, tasks = context.Queue(), [context.SimpleQueue() for _ in range(SIZE)]
    processes = [
        context.Process(target=work, args=(rank, port, tasks[rank], answers), daemon=True)
        for rank in range(SIZE)
    ]
    for process in processes:
        process.start()

    def call(*task):
        for queue in tasks:
            queue.put(task)
        results = dict(answers.get(timeout=250) for _ in tasks)
        return [results[rank] for rank in range(SIZE)]

    yield call
    for queue in tasks:
        queue.put(None)
    for process in processes:
        process.join(60)
        assert process.exitcode == 0


def trained(group, spec, corpus, stop=None):
    keeper = Stops(save_at=stop if group.rank else None)
    try:
        done = train(spec, corpus, keeper, CPU, {}, lambda line: None, group)
    except Exception as error:
        return type(error).__name__, keeper.seen
    weights = {name: value.numpy() for name, value in done.weights.items()}
    return done.progress.rows, weights


@pytest.fixture
def spec(language_spec):
    """Nothing drawn at random: soft attention, no dropout."""
    language_spec["model"]["decoder"]["normalizer"] = SOFTMAX
    language_spec["training"] |= {"epochs": 2, "batch": {"examples": 32, "micro_tokens": 250}}
    return language_spec


def test_two_processes_have_the_loss_curve_of_one_that_accumulates(spec, copies, in_a_group):
    alone = run(spec, copies)
    (rows, weights), (_, others) = in_a_group(trained, spec, copies)
    names = ("step", "split", "loss", "field_size")
    for one, both in zip(alone.progress.rows, rows, strict=True):
        assert [both.get(n) for n in names[:2]] == [one.get(n) for n in names[:2]]
        assert [both[n] for n in names[2:]] == pytest.approx([one[n] for n in names[2:]], rel=1e-4)
    for name, value in alone.weights.items():
        assert np.array_equal(weights[name], others[name])
        # A bias of the keys cancels in the softmax: its gradient is rounding, which Adam scales up.
        if "key.bias" not in name:
            assert np.allclose(weights[name], value.numpy(), atol=1e-4), name


def test_an_update_with_fewer_examples_than_processes(spec, copies, in_a_group):
    """The last update of an epoch has one example, and is told in a row of its own."""
    spec["training"]["batch"] = {"examples": len(copies.split("train")) - 1}
    alone = run(spec, copies)
    (rows, weights), (_, others) = in_a_group(trained, spec, copies)
    assert [row["step"] for row in rows] == [1, 2, 2, 3, 4, 4]
    for one, both in zip(alone.progress.rows, rows, strict=True):
        assert both["loss"] == pytest.approx(one["loss"], rel=1e-4)
    assert all(np.array_equal(weights[name], others[name]) for name in alone.weights)


def test_the_wish_of_one_process_stops_all(spec, copies, in_a_group):
    assert in_a_group(trained, spec, copies, 5) == [("Interrupted", 5)] * SIZE


def random_numbers(group):
    torch.manual_seed(group.seed)
    before = torch.rand(4)
    torch.manual_seed(group.seed)
    group.seed_by_rank(7)
    return before.tolist(), torch.rand(4).tolist()


def test_each_process_draws_its_own_random_numbers_and_the_first_keeps_those_of_the_run(in_a_group):
    (first, kept), (same, other) = in_a_group(random_numbers)
    assert first == kept == same != other


def share(group, examples):
    return [part.tolist() for part in group.share(examples)]


def test_every_example_is_worked_on_once(in_a_group):
    micro = [np.arange(5), np.array([7]), np.array([9, 8])]
    parts = in_a_group(share, micro)
    assert parts == [[[0, 2, 4], [7], [9]], [[1, 3], [8]]]
    assert SINGLE_PROCESS.share(micro) is micro


def counted(group):
    return group.add([1.0, 2.0, 3.0][: 3 - group.rank])


def test_a_process_that_counted_less_adds_what_it_has(in_a_group):
    assert in_a_group(counted) == [[2.0, 4.0, 3.0], [2.0, 4.0]]


def gradients(group):
    model = torch.nn.Linear(2, 1)
    if not group.rank:
        model.weight.grad = torch.tensor([[1.0, 2.0]])
    units = group.add_gradients(model, 3 - group.rank)
    return float(units), model.weight.grad.tolist(), model.bias.grad.tolist()


def test_a_process_without_examples_adds_nothing(in_a_group):
    assert in_a_group(gradients) == [(5.0, [[1.0, 2.0]], [0.0])] * SIZE


def test_glibc_is_told_to_keep_freed_memory(monkeypatch):
    told = {}

    class Library:
        def mallopt(self, option: int, value: int) -> None:
            told[option] = value

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    keep_freed_memory()
    # M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD of malloc.h; mallopt takes a C int.
    assert sorted(told) == [-3, -2, -1]
    assert all(2**20 <= value < 2**31 for value in told.values())


def test_without_glibc_nothing_happens(monkeypatch):
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    keep_freed_memory()


def test_attention_is_not_planned_anew_for_every_shape(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(ctypes, "CDLL", lambda name: SimpleNamespace(mallopt=lambda *_: None))
        torch.backends.cuda.enable_cudnn_sdp(True)
        prepare_process()
        assert not torch.backends.cuda.cudnn_sdp_enabled()
