"""The recurrence, over texts of one length and packed, against nn.LSTM."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from model.kernels.packed_recurrence import PackedOrder, read_packed
from model.kernels.recurrence import SymbolLSTM
from tests.model.compare import close

Read = tuple[Tensor, Tensor, Tensor]
"""All hidden states, the last one, and the last cell state."""


class Case:
    """A layer, symbols and a state, all drawn from one seed, in float64."""

    def __init__(
        self, seed: int, length: int, batch: int, symbols: int, width: int, hidden: int
    ) -> None:
        torch.manual_seed(seed)
        self.layer = SymbolLSTM(width, hidden).double()
        self.tokens = torch.randint(0, symbols, (length, batch))
        self.table = torch.randn(symbols, width, dtype=torch.float64, requires_grad=True)
        self.state = tuple(
            torch.randn(batch, hidden, dtype=torch.float64, requires_grad=True) for _ in range(2)
        )

    def read(self) -> Read:
        states, last = self.layer(self.tokens, self.table, self.state)
        return states, *last

    def read_by_torch(self) -> Read:
        embedded = F.embedding(self.tokens, self.table)
        h0, c0 = (part[None] for part in self.state)
        states, (h, c) = self.layer.lstm(embedded, (h0, c0))
        return states, h[0], c[0]

    def gradients(self, read: Read, weights: list[Tensor]) -> list[Tensor]:
        """Of a weighted sum of what was read, by the table, the state and every parameter."""
        total = torch.stack([(w * x).sum() for w, x in zip(weights, read, strict=True)]).sum()
        inputs = [self.table, *self.state, *self.layer.parameters()]
        return list(torch.autograd.grad(total, inputs, retain_graph=True))


def same(one: list[Tensor] | Read, two: list[Tensor] | Read) -> bool:
    pairs = zip(one, two, strict=True)
    return all(a.shape == b.shape and torch.allclose(a, b, atol=1e-10) for a, b in pairs)


sizes = st.integers(1, 5)


@given(
    st.integers(0, 2**31), st.integers(1, 8), sizes, sizes, sizes, sizes,
    st.lists(st.booleans(), min_size=3, max_size=3).filter(any),
)  # fmt: skip
def test_states_and_all_gradients_are_those_of_torch(
    seed, length, batch, symbols, width, hidden, used
):
    """Whichever of the three results the loss depends on."""
    case = Case(seed, length, batch, symbols, width, hidden)
    found, expected = case.read(), case.read_by_torch()
    assert same(found, expected)
    weights = [torch.randn_like(x) * is_used for x, is_used in zip(found, used, strict=True)]
    assert same(case.gradients(found, weights), case.gradients(expected, weights))
    # A result that nothing depends on has no gradient at all, which is not the same as zeros.
    chosen = used.index(True)
    alone = found[chosen].sum(), expected[chosen].sum()
    inputs = [case.table, *case.state, *case.layer.parameters()]
    assert same(*(torch.autograd.grad(total, inputs) for total in alone))


def test_a_second_backward_pass_finds_the_same_and_spoils_nothing():
    case = Case(seed=0, length=5, batch=2, symbols=3, width=4, hidden=4)
    read = case.read()
    inputs = [case.table, *case.state, *case.layer.parameters()]
    incoming = [torch.randn_like(x) for x in read]
    before = [x.clone() for x in (*incoming, *read)]
    one = torch.autograd.grad(read, inputs, incoming, retain_graph=True)
    two = torch.autograd.grad(read, inputs, incoming)
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(before, (*incoming, *read), strict=True))


def test_without_a_state_it_starts_from_zeros():
    case = Case(seed=0, length=5, batch=2, symbols=3, width=4, hidden=6)
    found, (h, c) = case.layer(case.tokens, case.table)
    expected, (last_h, last_c) = case.layer.lstm(F.embedding(case.tokens, case.table))
    assert same((found, h, c), (expected, last_h[0], last_c[0]))
    zeros = torch.zeros(2, 6, dtype=torch.float64)
    assert torch.equal(found, case.layer(case.tokens, case.table, (zeros, zeros))[0])
    assert not torch.allclose(found, case.read()[0])


class Elsewhere(Tensor):
    """Symbols that say they are on another device, and are on this one."""

    __torch_function__ = torch._C._disabled_torch_function_impl
    device = torch.device("cuda")  # type: ignore[assignment]


@pytest.mark.parametrize("with_state", [True, False])
def test_off_the_cpu_it_computes_the_same(with_state):
    case = Case(seed=0, length=6, batch=3, symbols=4, width=4, hidden=5)
    state = case.state if with_state else None
    results, gradients = [], []
    weights = [torch.randn_like(x) for x in case.read()]
    for tokens in (case.tokens, case.tokens.as_subclass(Elsewhere)):
        states, last = case.layer(tokens, case.table, state)
        results.append((states, *last))
        if with_state:
            gradients.append(case.gradients(results[-1], weights))
    own, other = results
    assert "_Recurrence" in type(own[1].grad_fn).__name__
    assert "_Recurrence" not in type(other[1].grad_fn).__name__
    assert same(own, other)
    assert not with_state or same(*gradients)


def test_in_single_precision_it_is_torchs_up_to_rounding():
    torch.manual_seed(0)
    layer = SymbolLSTM(16, 32)
    tokens, table = torch.randint(0, 9, (20, 8)), torch.randn(9, 16)
    found, _ = layer(tokens, table)
    expected, _ = layer.lstm(F.embedding(tokens, table))
    assert found.dtype == torch.float32
    assert torch.allclose(found, expected, atol=1e-6)


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
def test_packed_states_and_gradients_are_those_of_torch_text_by_text(seed, lengths, width, hidden):
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


def test_off_the_cpu_packed_texts_are_read_the_same():
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
