"""What a side of a proof sets up: products of bf16 on CPUs without them, how much is timed."""

import torch

from workflow.equivalence.side import few, single_products


def products(a, b, added):
    out = torch.empty_like(added)
    torch.baddbmm(added, a, b, beta=0.5, alpha=2, out=out)
    return [
        torch.mm(a[0], b[0]),
        torch.bmm(a, b),
        torch.addmm(added[0], a[0], b[0], beta=0.5, alpha=2),
        torch.baddbmm(added, a, b, beta=0.5, alpha=2),
        out,
    ]


def test_products_of_bf16_are_those_of_fp32_rounded_and_all_others_stay():
    a, b, added = (
        torch.randn(shape).bfloat16() for shape in ((3, 40, 30), (3, 30, 20), (3, 40, 20))
    )
    wide = [one.float() for one in (a, b, added)]
    native, exact = products(a, b, added), products(*wide)
    with single_products():
        for made, expected in zip(products(a, b, added), exact, strict=True):
            assert made.dtype == torch.bfloat16 and torch.equal(made, expected.bfloat16())
        assert all(map(torch.equal, products(*wide), exact))
        layer, values = torch.nn.Linear(30, 20), torch.randn(40, 30)
        with torch.autocast("cpu", torch.bfloat16):
            layer(values).float().sum().backward()
    expected = values.bfloat16().float().sum(dim=0).bfloat16().float()
    assert torch.equal(layer.weight.grad, expected.expand(20, 30))
    assert all(map(torch.equal, products(a, b, added), native))


def test_an_evaluator_that_is_not_told_how_often_it_times_does_so_four_times():
    def timed(subject, updates=12):
        pass

    assert (few(timed), few(len)) == ({"updates": 4}, {})
