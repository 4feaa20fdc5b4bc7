"""The recurrence over packed texts, against nn.LSTM one text at a time."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from model.kernels.packed_recurrence import PackedOrder, read_packed
from model.kernels.recurrence import SymbolLSTM
from tests.model.compare import close
from tests.model.kernels.test_recurrence import Elsewhere

lengths_of_texts = st.lists(st.integers(1, 7), min_size=1, max_size=5)


def real_of(lengths: list[int]) -> torch.Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


@given(lengths_of_texts)
def test_the_layout_is_that_of_torch_and_mirrors_every_text(lengths):
    layout = PackedOrder.of(real_of(lengths))
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    expected = [(row, t) for t in range(max(lengths)) for row in order if t < lengths[row]]
    places = list(zip(layout.rows.tolist(), layout.positions.tolist(), strict=True))
    assert places == expected
    assert list(layout.sizes) == [sum(n > t for n in lengths) for t in range(max(lengths))]
    for place, (row, t) in enumerate(places):
        assert places[layout.mirrored[place]] == (row, lengths[row] - 1 - t)
    padded = layout.pad(torch.arange(float(len(places))), -1.0, real_of(lengths).shape)
    for place, (row, t) in enumerate(places):
        assert padded[row, t] == place
    assert int((padded == -1).sum()) == padded.numel() - len(places)


@given(st.integers(0, 2**31), lengths_of_texts, st.integers(1, 4), st.integers(1, 4))
def test_states_and_all_gradients_are_those_of_torch(seed, lengths, width, hidden):
    torch.manual_seed(seed)
    layer = SymbolLSTM(width, hidden).double()
    table = torch.randn(5, width, dtype=torch.float64, requires_grad=True)
    tokens = torch.randint(0, 5, (len(lengths), max(lengths)))
    layout = PackedOrder.of(real_of(lengths))
    found = read_packed(layer, tokens[layout.rows, layout.positions], table, layout.sizes)
    alone = [layer.lstm(table[tokens[row, :n], None])[0][:, 0] for row, n in enumerate(lengths)]
    expected = torch.stack(
        [alone[row][t] for row, t in zip(layout.rows, layout.positions, strict=True)]
    )
    assert torch.allclose(found, expected, atol=1e-12)
    weight, inputs = torch.randn_like(found), [table, *layer.parameters()]
    own = torch.autograd.grad(found, inputs, weight)
    other = torch.autograd.grad(expected, inputs, weight, materialize_grads=True)
    assert close(own, other, atol=1e-10)


def test_off_the_cpu_it_computes_the_same():
    """As tests of the recurrence do: symbols that say they are elsewhere, and are not."""
    torch.manual_seed(0)
    layer, table = SymbolLSTM(3, 4).double(), torch.randn(5, 3, dtype=torch.float64)
    layout = PackedOrder.of(real_of([2, 5, 1]))
    symbols = torch.randint(0, 5, (8,))
    elsewhere = symbols.as_subclass(Elsewhere)
    own = read_packed(layer, symbols, table, layout.sizes)
    other = read_packed(layer, elsewhere, table, layout.sizes)
    assert torch.allclose(own, other)
    assert "_Packed" in type(own.grad_fn).__name__
    assert "_Packed" not in type(other.grad_fn).__name__
