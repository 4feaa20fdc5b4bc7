"""Accuracy by depth against slow counts over a scripted model's answers."""

import contextlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor, nn

from model.batches.batching import in_order
from model.batches.corpus import Corpus
from model.objectives.multiview import Evaluation
from model.probes.measure import Subject
from model.probes.quality.depths import depths
from model.training.evaluation import evaluate
from tests.model.corpora import CPU, write_corpus

VIEWS = ("infix", "prefix")
SIZES = {"train": 90, "dev": 47, "test": 151}
Example = dict[str, Any]


class Scripted(nn.Module):
    """Answers what the first symbol of a view says: 3 is class 0, 4 is class 1, .."""

    def forward(self, tokens: Tensor, real: Tensor) -> Tensor:
        return nn.functional.one_hot(tokens[:, :, 1] - 3, 5).double()


def drawn(size: int, seed: int) -> list[Example]:
    """Examples of depths 1, 2 and 4, unevenly many; prefix is answered better than infix."""
    random = np.random.default_rng(seed)
    found = []
    for depth in random.choice([1, 2, 4], size, p=[0.3, 0.5, 0.2]):
        label = int(random.choice(5, p=np.roll([0.4, 0.3, 0.1, 0.1, 0.1], depth)))
        answers = [label if random.random() < p else int(random.integers(5)) for p in (0.3, 0.7)]
        rest = [random.integers(3, 8, random.integers(0, 9)).tolist() for _ in VIEWS]
        seen = int(random.random() < 0.6)
        found.append({"label": label, "depth": int(depth), "seen": seen,
                      "texts": [[3 + a, *more] for a, more in zip(answers, rest, strict=True)],
                      "right": [a == label for a in answers]})  # fmt: skip
    return found


def write(folder: Path, splits: dict[str, list[Example]], view: str | None) -> Corpus:
    texts, columns = {}, {}
    for split, examples in splits.items():
        if view is None:
            texts[split] = [infix + prefix for infix, prefix in (e["texts"] for e in examples)]
        else:
            texts[split] = [e["texts"][VIEWS.index(view)] for e in examples]
        columns[split] = {name: [e[name] for e in examples] for name in ("label", "depth", "seen")}
        if view is None:
            columns[split]["infix_length"] = [len(e["texts"][0]) for e in examples]
    corpus = write_corpus(folder, texts, 8, {}, columns)
    corpus.manifest["options"] = {"view": view or "both"}
    return corpus


def history(corpus: Corpus, view: str | None, dev: list[float]) -> list[dict[str, Any]]:
    """Rows of three epochs as training writes them, with an accuracy of one's own choice."""
    objective = Evaluation([1, 2, 4], view)
    context = contextlib.nullcontext()
    metrics = evaluate(Scripted(), objective, in_order(corpus.split("dev"), 40, CPU), context)
    rows = []
    for epoch, accuracy in enumerate(dev, start=1):
        rows.append({"split": "train", "epoch": epoch - 0.5, "accuracy": 99.0})
        rows.append({"split": "dev", "epoch": float(epoch)} | metrics | {"accuracy": accuracy})
    return rows


def percentage(values: list[bool]) -> float | None:
    return 100 * sum(values) / len(values) if values else None


def slow_count(
    splits: dict[str, list[Example]], views: tuple[str, ...]
) -> dict[str, tuple[float | None, int]]:
    """Every scalar but `dev`, with the number of examples it is a mean of."""
    found = {}
    groups = {"all": (1, 2, 4)} | {f"depth_{d}": (d,) for d in (1, 2, 4)}
    for name, members in groups.items():
        chosen = [e for e in splits["test"] if e["depth"] in members]
        for view in views:
            u = VIEWS.index(view)
            right = [e["right"][u] for e in chosen]
            unseen = [e["right"][u] for e in chosen if not e["seen"]]
            found[f"{view}_{name}"] = percentage(right), len(right)
            found[f"{view}_unseen_{name}"] = percentage(unseen), len(unseen)
        labels = Counter(e["label"] for e in splits["train"] if e["depth"] in members)
        (usual, most), (_, second) = labels.most_common(2)
        assert most > second
        hits = percentage([e["label"] == usual for e in chosen])
        found[f"majority_{name}"] = hits, len(chosen)
        found[f"seen_{name}"] = percentage([e["seen"] == 1 for e in chosen]), len(chosen)
    return found


@pytest.mark.parametrize("view", [None, "infix", "prefix"])
@pytest.mark.parametrize("tokens", [1, 60, 8192])
def test_scalars_equal_a_slow_count(tmp_path, view, tokens):
    splits = {split: drawn(size, seed) for seed, (split, size) in enumerate(SIZES.items())}
    corpus = write(tmp_path / "c", splits, view)
    rows = history(corpus, view, [40.0, 55.0, 50.0])
    found = depths(Subject(Scripted(), corpus, CPU, 0), rows, view, tokens).scalars
    expected = {"dev": (55.0, 47)} | slow_count(splits, VIEWS if view is None else (view,))
    # Hardly two of them are alike, so a mix-up would show.
    assert len(set(expected.values())) > 0.9 * len(expected)
    assert {name: (scalar["value"], scalar["n"]) for name, scalar in found.items()} == {
        name: (pytest.approx(value), n) for name, (value, n) in expected.items()
    }
    assert {scalar["unit"] for scalar in found.values()} == {"%"}


@pytest.mark.parametrize("view", [None, "prefix"])
def test_curves_are_the_accuracies_at_each_depth_of_the_development_split(tmp_path, view):
    splits = {split: drawn(size, seed) for seed, (split, size) in enumerate(SIZES.items())}
    corpus = write(tmp_path / "c", splits, view)
    rows = history(corpus, view, [1.0, 2.0, 3.0])
    found = depths(Subject(Scripted(), corpus, CPU, 0), rows, view).arrays
    expected = {"epoch": [1.0, 2.0, 3.0]}
    for u, of_view in enumerate(VIEWS):
        if view in (None, of_view):
            for depth in (1, 2, 4):
                right = [e["right"][u] for e in splits["dev"] if e["depth"] == depth]
                expected[f"{of_view}_depth_{depth}"] = [pytest.approx(percentage(right))] * 3
    assert found == expected


def test_where_every_expression_is_seen_the_accuracy_on_unseen_ones_is_undefined(tmp_path):
    splits = {split: drawn(size, seed) for seed, (split, size) in enumerate(SIZES.items())}
    for example in splits["test"]:
        example["seen"] = int(example["depth"] == 1)
    # What the other splits repeat does not matter.
    for example in splits["train"] + splits["dev"]:
        example["seen"] = int(example["depth"] != 1)
    corpus = write(tmp_path / "c", splits, None)
    found = depths(Subject(Scripted(), corpus, CPU, 0), history(corpus, None, [1.0])).scalars
    for view in VIEWS:
        assert found[f"{view}_unseen_depth_1"] == {"value": None, "unit": "%", "n": 0}
        assert found[f"{view}_unseen_depth_2"] == found[f"{view}_depth_2"]
    shares = {name: found[f"seen_{name}"]["value"] for name in ("depth_1", "depth_2", "depth_4")}
    assert shares == {"depth_1": 100, "depth_2": 0, "depth_4": 0}


@pytest.mark.parametrize(("held", "view"), [(None, "infix"), ("infix", None), ("infix", "prefix")])
def test_another_view_than_that_of_the_data_is_refused(tmp_path, held, view):
    corpus = write(tmp_path / "c", {split: drawn(9, 0) for split in SIZES}, held)
    sentence = f"the data has view '{held or 'both'}' and the evaluator '{view or 'both'}'; give"
    with pytest.raises(ValueError, match=sentence):
        depths(Subject(Scripted(), corpus, CPU, 0), [], view)


def test_a_depth_that_training_did_not_record_is_named(tmp_path):
    corpus = write(tmp_path / "c", {split: drawn(60, 0) for split in SIZES}, "infix")
    rows = history(corpus, "infix", [40.0])
    del rows[-1]["infix_depth_4"]
    with pytest.raises(ValueError, match="recorded no accuracy 'infix_depth_4'; give the obj"):
        depths(Subject(Scripted(), corpus, CPU, 0), rows, "infix")
