"""The copying model against its equations, its loss and its probe against hand-made attention."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from model.architectures.copying import Copied, CopyingModel
from model.architectures.multihead_copying import AveragedCopyingModel, MultiheadCopyingModel
from model.batches.batching import Batch, collate
from model.batches.corpus import Corpus
from model.build import build
from model.kernels.recurrence import SymbolLSTM
from model.normalizers.softmax import Softmax
from model.objectives.copying import Copying
from model.probes.copying.outcome import copying
from model.probes.measure import Subject
from tests.model.compare import close, gradients
from tests.model.corpora import CPU, learned, permutations, write_corpus
from tests.model.specs import brief, part

END = 3


def loop_lstm(layer: SymbolLSTM, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """An LSTM over embedded symbols x (T, D), one position at a time."""
    lstm, states = layer.lstm, []
    for symbol in x:
        gates = lstm.weight_ih_l0 @ symbol + lstm.bias_ih_l0 + lstm.weight_hh_l0 @ h
        i, f, g, o = (gates + lstm.bias_hh_l0).chunk(4)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        states.append(h)
    return torch.stack(states), h, c


def loop_head(model: nn.Module, k: int) -> tuple[Tensor, Tensor]:
    """W and b of head k; a plain copying model has one head."""
    weight, bias = (part.chunk(getattr(model, "heads", 1))[k] for part in model.query.parameters())
    return weight, bias


def output(model: nn.Module, context: Tensor, s: Tensor) -> Tensor:
    """N([c, s]) as probabilities (V,)."""
    projected = model.context.weight @ context + model.context.bias
    u = model.combine.weight @ torch.cat([s, projected]) + model.combine.bias
    return (model.output.weight @ u.tanh() + model.output.bias).softmax(dim=0)


def loop_copy(model: nn.Module, source: Tensor, before: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """One sequence (T,), a position and a head at a time: p, mean alpha, beta as log-odds."""
    zeros = torch.zeros(model.encoder.hidden, dtype=torch.float64)
    h, *last = loop_lstm(model.encoder, model.embedding.weight[source], zeros, zeros)
    s, _, _ = loop_lstm(model.decoder, model.embedding.weight[before], *last)
    probabilities, attention, beta = [], [], []
    heads = getattr(model, "heads", 1)
    for t in range(len(source)):
        context, mean = torch.zeros_like(h[0]), torch.zeros(len(source), dtype=torch.float64)
        for k in range(heads):
            weight, bias = loop_head(model, k)
            scores = [torch.exp((weight @ s[t] + bias) @ h[j]) for j in range(len(source))]
            alpha = torch.stack(scores) / sum(scores)
            context, mean = context + alpha @ h, mean + alpha / heads
        attention.append(mean)
        share = 1 / heads if isinstance(model, AveragedCopyingModel) else 1
        probabilities.append(output(model, share * context, s[t]))
        alone = [output(model, share * heads * h[j], s[t])[source[t]] for j in range(len(source))]
        beta.append(torch.stack([(p / (1 - p)).log() for p in alone]))
    return torch.stack(probabilities), torch.stack(attention), torch.stack(beta)


@settings(max_examples=30)
@given(
    st.integers(0, 2**31), st.integers(0, 3),
    st.sampled_from([MultiheadCopyingModel, AveragedCopyingModel]),
    st.integers(1, 3), st.integers(1, 5), st.integers(4, 9), st.integers(1, 4), st.integers(1, 4),
)  # fmt: skip
def test_the_models_equal_their_equations(seed, heads, kind, batch, length, symbols, width, hidden):
    """Without and with a number of heads, and gradients (snell2021 eq. 1, 2, 3, 17, 18)."""
    torch.manual_seed(seed)
    model = CopyingModel(symbols, width, hidden)
    if heads:
        model = kind(symbols, width, hidden, heads=heads, normalizer=Softmax())
    for parameter in model.double().parameters():
        parameter.data *= 2
    source, before = torch.randint(0, symbols, (2, batch, length))
    found = model(source, before)
    for row in range(batch):
        probabilities, attention, beta = loop_copy(model, source[row], before[row])
        assert torch.allclose(found.logits[row].softmax(-1), probabilities)
        assert torch.allclose(found.weights[row], attention)
        assert not heads or torch.allclose(model.lexical(source, before)[row], beta)
    own = gradients(found.logits.softmax(-1)[-1, -1, 0], model)
    assert close(own, gradients(probabilities[-1, 0], model), atol=1e-10)


def seeded(seed: int = 0, **changes: float) -> dict[str, Tensor]:
    torch.manual_seed(seed)
    sizes = {"vocabulary_size": 600, "width": 24, "hidden": 20} | changes
    return CopyingModel(**sizes).state_dict()


@pytest.mark.parametrize("std", [0.1, 1.0, 2.0])
def test_the_embedding_starts_normal_with_its_standard_deviation(std):
    drawn = seeded(embedding_std=std)["embedding.weight"]
    assert float(drawn.std()) == pytest.approx(std, rel=0.02)
    assert float(drawn.mean()) == pytest.approx(0, abs=0.03 * std)
    share = (drawn.abs() < std).double().mean()
    assert float(share) == pytest.approx(0.683, abs=0.02)
    assert torch.allclose(drawn, std * seeded()["embedding.weight"])


def test_the_other_parts_start_as_torch_starts_them():
    """Uniform within 1 / sqrt(H), where the combining layer has 2 H inputs."""
    for name, drawn in seeded().items():
        if name == "embedding.weight":
            continue
        bound = (40 if name.startswith("combine") else 20) ** -0.5
        assert float(drawn.abs().max()) <= bound
        if drawn.ndim == 2:
            assert float(drawn.abs().max()) > 0.97 * bound, name
            assert float(drawn.std()) == pytest.approx(bound / math.sqrt(3), rel=0.1), name


@pytest.mark.parametrize(
    ("change", "touched"),
    [
        ({"embedding_std": 0.5}, {"embedding"}),
        ({"vocabulary_size": 700}, {"embedding", "output"}),
        ({"width": 16}, {"embedding", "encoder", "decoder"}),
    ],
)
def test_a_change_to_one_part_leaves_the_initial_values_of_the_others(change, touched):
    before, after = seeded(), seeded(**change)
    differ = {name.split(".")[0] for name in before if not torch.equal(before[name], after[name])}
    assert differ == touched


def test_parts_of_one_shape_start_differently():
    drawn = seeded()
    pairs = [("encoder.lstm.weight_hh_l0", "decoder.lstm.weight_hh_l0"),
             ("query.weight", "context.weight"), ("query.bias", "context.bias")]  # fmt: skip
    for one, two in pairs:
        assert not torch.isclose(drawn[one], drawn[two]).any()


class Fixed(nn.Module):
    """Gives each sequence, known by its first symbol, the prediction it is told."""

    def __init__(self, logits: Tensor, weights: Tensor) -> None:
        super().__init__()
        self.logits, self.weights = logits, weights
        self.asked: list[list[int]] = []

    def forward(self, source: Tensor, before: Tensor) -> Copied:
        self.asked += before.tolist()
        which = source[:, 0] - 4
        return Copied(self.logits[which], self.weights[which])


def made(tmp_path, sequences: list[list[int]], seed: int = 0) -> tuple[Fixed, Subject]:
    """Random predictions, half of them right, of sequences that start with 4, 5, .."""
    random = torch.Generator().manual_seed(seed)
    source = torch.tensor(sequences)
    logits = torch.randn(*source.shape, 30, generator=random)
    boosted = torch.rand(source.shape, generator=random) < 0.5
    logits.scatter_add_(2, source[..., None], 9.0 * boosted[..., None])
    weights = torch.randn(*source.shape, source.shape[1], generator=random).softmax(-1)
    model = Fixed(logits, weights)
    corpus = write_corpus(tmp_path / "c", {"test": sequences}, 30, {})
    return model, Subject(model, corpus, CPU, 0)


SEQUENCES = [[4 + n, 20 + n, 12 + n, 28 - n, END] for n in range(6)]


def slow_counts(model: Fixed) -> tuple[float, float, float]:
    """Loss per symbol; share right and mean attention over all symbols but the end."""
    nats, right, attention = [], [], []
    for n, sequence in enumerate(SEQUENCES):
        for t, symbol in enumerate(sequence):
            scores = model.logits[n, t].double().tolist()
            nats.append(math.log(sum(map(math.exp, scores))) - scores[symbol])
            if symbol != END:
                right.append(scores[symbol] == max(scores))
                attention.append(float(model.weights[n, t, t]))
    return float(np.mean(nats)), float(np.mean(right)), float(np.mean(attention))


def test_the_metrics_equal_a_slow_count(tmp_path):
    model, subject = made(tmp_path, SEQUENCES)
    batch = collate(subject.corpus.split("test"), np.array([3, 1, 5, 0, 4, 2]))
    loss = Copying().loss(model, batch, epoch=0)
    nats, right, attention = slow_counts(model)
    assert 0.2 < right < 0.8
    assert loss.units == 6
    assert float(loss.mean) == pytest.approx(nats, rel=1e-5)
    found = {name: float(value) / loss.units for name, value in loss.sums.items()}
    expected = {"loss": nats, "accuracy": 100 * right, "attention": attention}
    assert found == pytest.approx(expected, rel=1e-5)
    # The decoder is given BOS and all symbols but the end.
    assert sorted(model.asked) == [[1, *sequence[:-1]] for sequence in SEQUENCES]


def test_the_loss_has_a_gradient_and_the_metrics_have_none():
    torch.manual_seed(0)
    model = CopyingModel(9, 4, 4)
    tokens = torch.tensor([[1, 5, 6, END], [1, 7, 4, END]])
    batch = Batch(tokens, tokens > 0, {}, np.arange(2), 0)
    loss = Copying().loss(model, batch, epoch=0)
    loss.mean.backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())
    assert not any(value.requires_grad for value in loss.sums.values())


def test_the_probe_equals_a_slow_count_whatever_its_batches(tmp_path):
    model, subject = made(tmp_path, SEQUENCES)
    _, right, attention = slow_counts(model)
    for tokens in (1, 13, 8192):
        found = copying(subject, [], tokens=tokens).scalars
        assert found["accuracy"]["value"] == pytest.approx(100 * right)
        assert found["attention"]["value"] == pytest.approx(attention)
        assert found["accuracy"]["n"] == found["attention"]["n"] == 6
    assert sorted(model.asked) == sorted([[1, *sequence[:-1]] for sequence in 3 * SEQUENCES])


def looking(tmp_path, attention: float) -> Subject:
    """A model whose attention on the right position is, on average over sequences, the given."""
    model, subject = made(tmp_path, SEQUENCES)
    for n in range(6):
        # Some above, some below; the end far off.
        of_example = attention + (-1) ** n * min(attention, 1 - attention) / 2
        model.weights[n] = (1 - of_example) / 4
        model.weights[n].fill_diagonal_(of_example)
        model.weights[n, -1] = torch.eye(5)[0 if attention > 0.5 else -1]
    return subject


@pytest.mark.parametrize(
    ("attention", "limits", "outcome"),
    [
        (1.0, {}, "learned"),
        (0.96, {}, "learned"),
        (0.94, {}, "learning"),
        (0.11, {}, "learning"),
        (0.09, {}, "failed"),
        (0.0, {}, "failed"),
        # A run at a limit is neither above nor below it.
        (0.75, {"learned": 0.75, "failed": 0.25}, "learning"),
        (0.75 + 2**-10, {"learned": 0.75, "failed": 0.25}, "learned"),
        (0.25, {"learned": 0.75, "failed": 0.25}, "learning"),
        (0.25 - 2**-10, {"learned": 0.75, "failed": 0.25}, "failed"),
    ],
)
def test_the_outcome_of_hand_made_attention(tmp_path, attention, limits, outcome):
    found = copying(looking(tmp_path, attention), [], **limits).scalars
    assert found["attention"]["value"] == pytest.approx(attention)
    told = {name: found[name]["value"] for name in ("learned", "learning", "failed")}
    assert told == {name: float(name == outcome) for name in told}


def row(split: str, step: int, attention: float) -> dict:
    return {"split": split, "step": step, "accuracy": 100 * attention, "attention": attention,
            "epoch": step / 8, "loss": 1.0}  # fmt: skip


HISTORY = [row("train", 1, 0.25), row("train", 2, 0.5), row("dev", 2, 0.99), row("train", 3, 0.95),
           row("train", 4, 0.96), row("train", 5, 0.625), row("train", 6, 0.97)]  # fmt: skip


def test_curves_and_the_first_update_above_the_limit_are_of_training_alone(tmp_path):
    subject = looking(tmp_path, 0.5)
    found = copying(subject, HISTORY)
    assert found.arrays == {
        "step": [1, 2, 3, 4, 5, 6],
        "accuracy_curve": [25.0, 50.0, 95.0, 96.0, 62.5, 97.0],
        "attention_curve": [0.25, 0.5, 0.95, 0.96, 0.625, 0.97],
    }
    assert found.scalars["copied_at"] == {"value": 4, "unit": "updates"}
    assert copying(subject, HISTORY[:4]).scalars["copied_at"]["value"] is None


def copies(tmp_path) -> Corpus:
    """Five of twelve symbols: which ones a sequence holds tells attention where to begin."""
    return permutations(tmp_path / "c", {"train": 4800, "dev": 32, "test": 200}, 12, 5)


def test_a_model_learns_to_attend_to_what_it_copies(tmp_path):
    corpus = copies(tmp_path)
    node = part("architectures.copying:CopyingModel", width=32, hidden=32)
    subject, history = learned(brief(node, "model.objectives.copying:Copying"), corpus)
    untrained = copying(Subject(build(node, vocabulary_size=16), corpus, CPU, 0), history).scalars
    assert untrained["attention"]["value"] < 0.3
    found = copying(subject, history, learned=0.8)
    assert found.scalars["accuracy"]["value"] > 95
    assert found.scalars["attention"]["value"] > 0.85
    assert found.scalars["learned"]["value"] == 1
    assert found.arrays["step"] == list(range(1, 151))
    assert found.arrays["attention_curve"][0] < 0.3
    assert 20 < found.scalars["copied_at"]["value"] < 150
