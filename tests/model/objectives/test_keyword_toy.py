"""The keyword toy: log-odds at the right places, hypothesis 2 by hand, and a model that learns."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.architectures.lstm_classifier import Classified
from model.batches.batching import collate
from model.objectives.keyword_toy import PLACES, KeywordToy, places
from model.probes.copying.keyword_toy import hypothesis_2, keyword_toy
from model.probes.measure import Subject
from tests.model.corpora import CPU, learned, write_corpus
from tests.model.specs import brief, part

SEQUENCES = [[4, 3, 5, 6], [4, 5, 6, 7], [3, 6, 4, 4], [7, 7, 5, 3], [5, 5, 3, 7]]
LABELS = [1, 0, 1, 1, 1]


class Told(torch.nn.Module):
    """A classifier with given log-odds, by the sequence's first two words."""

    def __init__(self) -> None:
        super().__init__()
        values = np.random.default_rng(0).normal(size=(len(SEQUENCES), 4))
        self.gamma = {tuple(s[:2]): row for s, row in zip(SEQUENCES, values, strict=True)}

    def forward(self, tokens: torch.Tensor, real: torch.Tensor) -> Classified:
        rows = [self.gamma[tuple(s[:2])] for s in tokens.tolist()]
        gamma = torch.tensor(np.array(rows))
        return Classified(gamma.mean(dim=1), torch.full_like(gamma, 0.25), gamma)


def corpus(folder):
    keyword = [int(word == 3) for sequence in SEQUENCES for word in sequence]
    columns = {name: {"label": LABELS, "keyword": keyword} for name in ("train", "dev", "test")}
    return write_corpus(folder, dict.fromkeys(columns, SEQUENCES), 8, {}, columns)


def slow(model: Told) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in PLACES}
    for sequence in SEQUENCES:
        gamma = model.gamma[tuple(sequence[:2])]
        if 3 in sequence[:-1]:
            at = sequence.index(3)
            read = (gamma[at], gamma[at + 1], sum(gamma) / 4, gamma[3], gamma[0])
            for name, value in zip(PLACES, read, strict=True):
                found[name].append(value)
    return found


def test_the_metrics_equal_a_slow_count(tmp_path):
    model, batch = Told(), collate(corpus(tmp_path / "c").split("test"), np.arange(5))
    loss = KeywordToy().loss(model, batch, epoch=0)
    assert loss.units == 5
    assert float(loss.sums["located"]) == 3
    for name, values in slow(model).items():
        assert float(loss.sums[name]) == pytest.approx(sum(values), rel=1e-5)
    logits = [model.gamma[tuple(s[:2])].mean() for s in SEQUENCES]
    signs = [1 if label else -1 for label in LABELS]
    entropy = [np.log1p(np.exp(-s * x)) for s, x in zip(signs, logits, strict=True)]
    assert float(loss.mean) == pytest.approx(np.mean(entropy), rel=1e-5)
    right = sum((x > 0) == bool(label) for x, label in zip(logits, LABELS, strict=True))
    assert float(loss.sums["accuracy"]) == 100 * right


def test_the_probe_equals_a_slow_count_whatever_its_batches(tmp_path):
    model = Told()
    subject = Subject(model, corpus(tmp_path / "c"), CPU, 0)
    expected = slow(model)
    means = {name: np.mean(values) for name, values in expected.items()}
    excess = np.array(expected["keyword"]) - expected["mean"]
    for tokens in (1, 12, 8192):
        found = keyword_toy(subject, [], tokens=tokens)
        for name, mean in means.items():
            assert found.scalars[f"gamma_{name}"]["value"] == pytest.approx(mean)
        end = max(means["last"], means["first"])
        assert found.scalars["gamma_end"]["value"] == pytest.approx(end)
        assert found.scalars["end_excess"]["value"] == pytest.approx(end - means["keyword"])
        assert found.scalars["excess"]["value"] == pytest.approx(excess.mean())
        assert found.scalars["excess"]["std"] == pytest.approx(excess.std(ddof=1))
        assert found.scalars["excess"]["n"] == 3
        assert found.scalars["reversed"]["value"] == float(excess.mean() < 0)
        assert sorted(found.arrays["excess"]) == pytest.approx(sorted(excess))


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 2**31))
def test_places_by_a_loop_with_padding(lengths, seed):
    """What snell2021 eq. 19, 20, 21 compare."""
    random = np.random.default_rng(seed)
    width = max(lengths)
    real = np.arange(width) < np.array(lengths)[:, None]
    gamma = random.normal(size=real.shape)
    keyword = np.zeros(real.shape, dtype=np.int64)
    for row, length in enumerate(lengths):
        if random.random() < 0.7:
            keyword[row, random.integers(length)] = 1
    found = places(*(torch.from_numpy(part) for part in (gamma, keyword, real)))
    expected = []
    for row, length in enumerate(lengths):
        (at,) = np.nonzero(keyword[row]) if keyword[row].any() else ([length],)
        if at[0] < length - 1:
            inside = gamma[row, :length]
            expected.append(
                [inside[at[0]], inside[at[0] + 1], inside.mean(), inside[-1], inside[0]]
            )
    assert torch.stack(list(found.values())).T.tolist() == [pytest.approx(row) for row in expected]


@pytest.mark.parametrize(
    ("keyword", "beside", "mean", "last", "holds"),
    [
        (3.0, 1.0, 0.1, 0.0, True),
        (3.0, 1.0, 0.0, 0.1, True),
        (1.0, 3.0, 0.1, 0.0, False),
        (3.0, 0.15, 0.1, 0.0, False),  # one after it is no higher than the rest differs
        (1.05, 1.0, 0.1, 0.0, False),  # the keyword hardly above one after it
        (3.0, 2.0, 1.0, -0.5, False),  # mean and last are not alike
        (0.1, 0.05, 0.0, 0.0, False),  # as of a model that knows nothing
        (3.0, 1.0, 4.0, 5.0, False),  # observation 3
        (None, None, None, None, False),
    ],
)
def test_hypothesis_2_by_hand(keyword, beside, mean, last, holds):
    """snell2021 eq. 20, read with a margin."""
    gamma = {"keyword": keyword, "next": beside, "mean": mean, "last": last, "first": 0.0}
    assert hypothesis_2(gamma) is holds


HOLDS, NOT, BELOW = (3, 1, 0.1, 0, 0), (0, 0, 0, 0, 0), (1, 0.5, 2, 5, 4)


def history(*rows: tuple[float, ...] | None) -> list[dict]:
    """Rows as training writes them, half of the sequences located; None: none of them."""
    return [
        {"split": "train", "step": 2 * at, "located": 0.0 if row is None else 0.5}
        | {name: value / 2 for name, value in zip(PLACES, row or NOT, strict=True)}
        for at, row in enumerate(rows, start=1)
    ]


@pytest.mark.parametrize(
    ("rows", "seen_at", "reversed_at"),
    [
        ([NOT, HOLDS, HOLDS, HOLDS, NOT, BELOW, BELOW], 4, 12),
        ([BELOW, HOLDS, HOLDS, HOLDS], 4, None),
        ([HOLDS, HOLDS, NOT, HOLDS, HOLDS, BELOW], None, None),
        ([HOLDS, HOLDS, None, HOLDS, HOLDS, HOLDS, None, BELOW], 8, 16),
        ([], None, None),
    ],
)
def test_the_way_is_read_from_the_history(tmp_path, rows, seen_at, reversed_at):
    written = history(*rows)
    written.insert(len(written) // 2, {"split": "dev", "step": 3})
    found = keyword_toy(Subject(Told(), corpus(tmp_path / "c"), CPU, 0), written)
    assert found.scalars["hypothesis_2_at"]["value"] == seen_at
    assert found.scalars["hypothesis_2"]["value"] == float(seen_at is not None)
    assert found.scalars["reversed_at"]["value"] == reversed_at
    assert found.arrays["step"] == [2 * at for at in range(1, len(rows) + 1)]
    for place, name in enumerate(PLACES):
        curve = [None if row is None else row[place] for row in rows]
        assert found.arrays[f"{name}_curve"] == curve


def test_a_model_finds_the_keyword_under_uniform_attention(tmp_path):
    random = np.random.default_rng(0)

    def split(n: int) -> tuple[list[list[int]], dict[str, list[int]]]:
        words = random.integers(4, 12, size=(n, 8))
        words[: n // 2, :][np.arange(n // 2), random.integers(8, size=n // 2)] = 3
        where = words == 3
        labels = where.any(axis=1).astype(int)
        return words.tolist(), {"label": labels.tolist(), "keyword": where.ravel().tolist()}

    made = {name: split(n) for name, n in (("train", 3200), ("dev", 16), ("test", 200))}
    examples, columns = ({name: one[i] for name, one in made.items()} for i in (0, 1))
    data = write_corpus(tmp_path / "c", examples, 12, {}, columns)
    settings = {"width": 16, "hidden": 16, "normalizer": part("normalizers.uniform:Uniform")}
    node = part("architectures.lstm_classifier:LSTMClassifier", **settings)
    spec = brief(node, "model.objectives.keyword_toy:KeywordToy")
    found = keyword_toy(*learned(spec, data))
    assert found.scalars["accuracy"]["value"] > 98
    assert found.scalars["gamma_mean"]["value"] > 1
    assert found.arrays["step"] == list(range(1, 101))
    # On the way there the keyword's own position knows most.
    curves = [np.array(found.arrays[f"{name}_curve"]) for name in ("keyword", "next", "mean")]
    before = (curves[0] > curves[1] + 0.5) & (curves[0] > curves[2] + 0.5)
    assert before[:50].any()
