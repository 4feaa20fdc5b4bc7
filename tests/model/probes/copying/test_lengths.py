"""Copying at other lengths: against a slow loop, and of a tiny trained model."""

import numpy as np
import pytest
import torch

from model.architectures.copying import Copied
from model.build import build
from model.probes.copying.lengths import copying_lengths
from model.probes.measure import Subject
from tests.model.corpora import CPU, learned, permutations, values
from tests.model.specs import brief, part

SIZES = {"train": 1600, "dev": 10, "test": 10}
MODEL = part("architectures.context_copying:ContextCopyingModel", width=32, hidden=32, heads=1)
MARKS = ("<end>", "<bos>")


def model_of(normalizer: str, **arguments: object) -> dict[str, object]:
    heads = 2 if normalizer.startswith("differential") else 1
    return MODEL | {"heads": heads, "normalizer": part(f"normalizers.{normalizer}", **arguments)}


@pytest.mark.parametrize("node", [
    model_of("softpick:Softpick"), model_of("rela:ReLA", width=32),
    model_of("differential:Differential", head_width=16),
])  # fmt: skip
def test_the_probe_equals_a_slow_count(tmp_path, node):
    corpus = permutations(tmp_path / "c", SIZES, symbols=12, length=3, marks=MARKS)
    torch.manual_seed(1)
    model = build(node, vocabulary_size=14).double().eval()
    model.embedding.weight.data *= 5
    model.query.weight.data *= 20
    seen: list[tuple[np.ndarray, Copied]] = []
    model.register_forward_hook(lambda _, given, made: seen.append((given, made)))
    found = copying_lengths(Subject(model, corpus, CPU, 0), (1, 4), sequences=7, tokens=20)
    totals: dict[int, list[list[float]]] = {}
    for (source, before), copy in seen:
        for row, sequence in enumerate(source.tolist()):
            *symbols, end = sequence
            assert end == 0 and len({*symbols}) == len(symbols) and {*symbols} <= {*range(2, 14)}
            assert before[row].tolist() == [1, *symbols]
            right = weight = empty = 0.0
            for t, symbol in enumerate(symbols):
                weights = [abs(float(one)) for one in copy.weights[row, t]]
                right += int(copy.logits[row, t].argmax()) == symbol
                empty += sum(weights) == 0
                weight += weights[t] / sum(weights) if sum(weights) else 0
            of_sequence = [100 * right, weight, empty]
            shares = [one / len(symbols) for one in of_sequence]
            totals.setdefault(len(symbols) // 3, []).append(shares)
    assert {n: len(of_length) for n, of_length in totals.items()} == {1: 7, 4: 7}
    for n, of_length in totals.items():
        for place, name in enumerate(("accuracy", "weight", "empty")):
            scalar = found.scalars[f"{name}_{n}"]
            assert scalar["value"] == pytest.approx(np.mean(of_length, axis=0)[place], abs=1e-6)
            assert scalar["n"] == 7
            assert found.arrays[name][(1, 4).index(n)] == scalar["value"]
    assert found.arrays["length"] == [3, 12]
    if "differential" not in str(node):
        assert 0 < found.scalars["empty_1"]["value"] < 1


def test_the_sequences_are_those_of_the_seed(tmp_path):
    corpus = permutations(tmp_path / "c", SIZES, symbols=12, length=3, marks=MARKS)
    torch.manual_seed(1)
    s = Subject(build(model_of("softmax:Softmax"), vocabulary_size=14).eval(), corpus, CPU, 0)
    one = copying_lengths(s, (1, 2), sequences=5, tokens=1)
    two = copying_lengths(s, (2,), sequences=5)
    assert one.scalars["weight_2"]["value"] == pytest.approx(two.scalars["weight_2"]["value"])
    other = copying_lengths(s, (2,), sequences=5, seed=1)
    assert other.scalars["weight_2"] != two.scalars["weight_2"]


def test_more_symbols_than_there_are_is_refused(tmp_path):
    corpus = permutations(tmp_path / "c", SIZES, symbols=12, length=4, marks=MARKS)
    with pytest.raises(
        ValueError, match="4 times 4 different symbols are asked for, and the corpus has 12"
    ):
        copying_lengths(Subject(torch.nn.Identity(), corpus, CPU, 0), (4,))


def test_a_trained_model_copies_what_is_longer(tmp_path):
    corpus = permutations(tmp_path / "c", SIZES, symbols=32, length=8, marks=MARKS)
    spec = brief(model_of("softmax:Softmax"), "model.objectives.copying:Copying", epochs=4)
    subject, _ = learned(spec, corpus)
    value = values(copying_lengths(subject, (1, 2, 4), sequences=20))
    assert value["accuracy_1"] > 95 and value["accuracy_2"] > 30
    assert 1 >= value["weight_1"] >= value["weight_2"] > value["weight_4"] > 0.1
    assert value["empty_1"] == 0
