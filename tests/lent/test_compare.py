"""A device that computes something else than the CPU does is told of, by name."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from model import normalizers
from model.build import locate
from model.normalizers.sparsemax import Sparsemax
from model.objectives.classification import BinaryClassification
from tests.model.corpora import CPU
from workflow.lent import compare, runner
from workflow.lent.parts import HALF, RUNS, SINGLE, ComparedPart, mechanisms, parts
from workflow.lent.tiny import corpus, spec, trained, waits

FOLDER = Path(normalizers.__file__).parent


@pytest.fixture
def mechanisms_alone(monkeypatch, tmp_path):
    """Check mechanisms, which takes no time, and train nothing."""

    def few(data: object) -> list[ComparedPart]:
        return [part for part in parts(data) if part.name.startswith("normalizers")]

    monkeypatch.setattr(compare, "parts", few)
    monkeypatch.setattr(compare, "RUNS", {})
    monkeypatch.setattr(sys, "argv", ["python -m workflow.lent.runner", "check"])


def wrong(when: Callable[[Tensor], bool]) -> Callable[[Sparsemax, Tensor], Tensor]:
    """Sparsemax that takes half of the scores, sometimes."""
    right = Sparsemax.forward
    return lambda self, scores: right(self, scores / 2 if when(scores) else scores)


def checked(capsys) -> tuple[int, str, list[str]]:
    """The exit status, what was said last, and what differs."""
    with pytest.raises(SystemExit) as ended:
        runner.main()
    lines = capsys.readouterr().out.splitlines()
    differs = [line.split()[0] for line in lines if line.endswith("DIFFERS")]
    return int(ended.value.code), lines[-1], differs


def test_every_mechanism_is_found():
    found = mechanisms()
    assert {path.partition(":")[0].rpartition(".")[2] for path in found} == {
        path.stem for path in FOLDER.glob("[a-z]*.py")
    }
    assert all(issubclass(locate(path), torch.nn.Module) for path in found)


def test_a_sound_device_passes(mechanisms_alone, capsys):
    assert checked(capsys) == (0, f"{len(mechanisms())} compared, 0 differ", [])


def test_layers_models_searches_and_probes_pass(monkeypatch, capsys):
    def others(data: object) -> list[ComparedPart]:
        return [part for part in parts(data) if not part.name.startswith("normalizers")]

    monkeypatch.setattr(compare, "parts", others)
    monkeypatch.setattr(compare, "RUNS", {})
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert compare.check(), capsys.readouterr().out
    first, *lines, _ = capsys.readouterr().out.splitlines()
    assert first.endswith(" finds no GPU: the CPU is compared with itself")
    assert {re.split(r"[. ]", line)[0] for line in lines} == {
        "layers",
        "architectures",
        "beam",
        "probes",
    }


def test_a_mechanism_that_is_wrong_in_bf16_alone(mechanisms_alone, monkeypatch, capsys):
    monkeypatch.setattr(Sparsemax, "forward", wrong(lambda scores: scores.dtype == HALF))
    status, last, differs = checked(capsys)
    assert status == 1 and last.endswith("1 differ")
    assert differs == ["normalizers.sparsemax:Sparsemax"]


def test_a_mechanism_that_is_wrong_on_the_device(mechanisms_alone, monkeypatch, capsys):
    calls = []
    late = wrong(lambda scores: calls.append(1) or len(calls) > 2)  # the CPU comes first
    monkeypatch.setattr(Sparsemax, "forward", late)
    status, _, differs = checked(capsys)
    assert status == 1 and differs == ["normalizers.sparsemax:Sparsemax"]


def test_a_mechanism_that_fails_on_the_device_stops_no_other(mechanisms_alone, monkeypatch, capsys):
    def fails(self: Sparsemax, scores: Tensor) -> Tensor:
        assert scores.dtype == SINGLE, "no such kernel"
        return scores.softmax(-1)

    monkeypatch.setattr(Sparsemax, "forward", fails)
    status, last, _ = checked(capsys)
    assert status == 1 and last.endswith("1 differ")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([[2.0, 0.0], [0.5]], 0.0),
        ([[2.0, 0.1], [0.5]], 0.05),
        ([[2.0, 0.0], [0.6]], 0.2),
        ([[2.0, 0.0], [float("nan")]], float("inf")),
        ([[2.0], [0.5]], float("inf")),
    ],
)
def test_a_difference_is_relative_to_what_is_expected(found, expected):
    tensors = [torch.tensor(values) for values in found]
    told = compare.largest(tensors, [torch.tensor([2.0, 0.0]), torch.tensor([0.5])])
    assert told == pytest.approx(expected)


@pytest.mark.parametrize("name", RUNS)
def test_a_stopped_training_goes_on_and_another_seed_differs(name, tmp_path):
    model, objective, kind = RUNS[name]
    data = corpus(tmp_path / kind, kind)
    run = spec(model, objective, "fp32", 12)
    whole = trained(run, data, CPU)
    resumed = trained(run, data, CPU, 5)
    other = trained({**run, "seed": 1}, data, CPU)
    assert compare.largest([*resumed.values()], [*whole.values()]) == 0
    assert compare.largest([*other.values()], [*whole.values()]) > 1e-3


def test_what_an_update_waits_for_is_counted(tmp_path, monkeypatch):
    model, objective, kind = RUNS["LSTM"]
    data = corpus(tmp_path / kind, kind)
    before = waits(model, objective, data, CPU)
    right = BinaryClassification.loss

    def waiting(self, model, batch, epoch):
        loss = right(self, model, batch, epoch)
        assert loss.mean.item() > 0
        return loss

    monkeypatch.setattr(BinaryClassification, "loss", waiting)
    after = waits(model, objective, data, CPU)
    assert after["aten::item"] == before["aten::item"] + 1
    assert after["compilations"] == before["compilations"] == 0
