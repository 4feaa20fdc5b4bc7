import math

import pytest
import torch

from workflow.equivalence.sameness import (
    ResultComparison,
    compared,
    gone,
    results,
    rows,
    updates,
    without,
    worst,
)


def state(seed: int = 0, moved: float = 0.0, **others: object) -> dict[str, object]:
    """A state of two tensors; `moved` changes one of them, relative to its step."""
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(50, 20, generator=generator)
    average = torch.randn(50, 20, generator=generator) * 1e-3
    return {
        "model": {"weight": weight * (1 + moved)},
        "optimizer": {"state": {"0": {"exp_avg": average * (1 + moved)}}},
        "progress": {"update": 3, "seconds": 1.0, **others},
    }


START = {
    "model": {"weight": torch.zeros(50, 20)},
    "optimizer": {"state": {"0": {"exp_avg": torch.zeros(50, 20)}}},
    "progress": {"update": 2, "seconds": 0.5},
}


def test_equal_states_have_the_same_bits_whatever_the_clock_says():
    assert updates(state(seconds=2.0), state(), START, [], "fp32").verdict == "same bits"


@pytest.mark.parametrize(
    ("moved", "verdict"), [(2e-7, "same to rounding"), (1e-5, "different"), (1e-3, "different")]
)
def test_a_few_roundings_are_allowed(moved: float, verdict: str):
    found = updates(state(moved=moved), state(), START, [], "fp32")
    assert found.verdict == verdict
    assert found.difference == pytest.approx(moved, rel=0.5)


def test_what_the_machine_makes_by_itself_is_allowed_four_times():
    noisy = [state(moved=1e-4)]
    assert updates(state(moved=3.9e-4), state(), START, noisy, "fp32").verdict != "different"
    assert updates(state(moved=4.1e-4), state(), START, noisy, "fp32").verdict == "different"


def test_an_update_in_bf16_may_not_be_longer_as_a_whole():
    generator = torch.Generator().manual_seed(1)
    noise = torch.randn(50, 20, generator=generator) * 2e-3
    scattered, old = state(), state()
    scattered["model"] = {"weight": old["model"]["weight"] * (1 + noise)}
    assert updates(scattered, old, START, [], "bf16").verdict == "same to rounding"
    assert updates(state(moved=2e-3), old, START, [], "bf16").verdict == "different"


def test_an_update_in_bf16_may_be_longer_by_chance_where_it_has_few_numbers():
    """Of few numbers that round at random the sum is far from 0, of many it is not."""
    steps = {"few": torch.ones(9), "many": torch.ones(90_000)}
    old = {"model": steps}
    for name, verdict in (("few", "same to rounding"), ("many", "different")):
        new = {"model": {**steps, name: steps[name] * (1 - 0.0016)}}
        start = {"model": {one: torch.zeros_like(value) for one, value in steps.items()}}
        assert updates(new, old, start, [], "bf16").verdict == verdict


def test_a_tensor_that_hardly_changes_is_compared_with_the_others():
    def with_bias(value: float) -> dict[str, object]:
        known = state()
        known["model"] = {**known["model"], "bias": torch.full((4,), value)}
        return known

    start = {**START, "model": {**START["model"], "bias": torch.zeros(4)}}
    assert updates(with_bias(1e-9), with_bias(-1e-9), start, [], "fp32").verdict != "different"
    assert updates(with_bias(1e-3), with_bias(-1e-3), start, [], "fp32").verdict == "different"


@pytest.mark.parametrize(
    "other",
    [
        state(update=4),
        state(best_value=1.0),
        {**state(), "random": torch.ones(3, dtype=torch.uint8)},
        {**state(), "model": {"weight": torch.zeros(50, 21)}},
    ],
)
def test_counts_random_numbers_and_shapes_are_equal(other: dict[str, object]):
    assert updates(other, state(), START, [], "fp32").verdict == "different"


def test_random_numbers_of_other_bits_are_different():
    old, new = ({**state(), "random": torch.tensor([bit])} for bit in (0, 1))
    assert updates(new, old, START, [], "fp32").verdict == "different"


def test_losses_are_compared_as_numbers():
    old, close, far = (state(loss=loss) for loss in (2.0, 2.0 + 1e-6, 2.0 + 1e-4))
    assert updates(close, old, START, [], "fp32").verdict == "same to rounding"
    assert updates(far, old, START, [], "fp32").verdict == "different"


def result(value: object, unit: str = "%", words: tuple[str, ...] = ("a", "b")) -> dict:
    return {
        "scalars": {"accuracy": {"value": value, "unit": unit, "n": 10}},
        "arrays": {"words": list(words), "curve": [[1.0, 2.0], [3.0, 4.0]]},
    }


def test_results_are_the_same_to_rounding_or_different():
    old = result(50.0)
    assert results(result(50.0), old, []).verdict == "same bits"
    assert results(result(50.0001), old, []).verdict == "same to rounding"
    found = results(result(50.1), old, [])
    assert (found.verdict, found.place) == ("different", "accuracy.value")
    assert results(result(50.1), old, [result(50.03)]).verdict == "same to rounding"


def test_choices_differ_only_as_often_as_the_machine_makes_them_differ():
    old, other = result(1.0), result(1.0, words=("a", "c"))
    assert results(other, old, []).verdict == "different"
    assert results(other, old, [other]).verdict == "same to rounding"


def ratios(step: float, relative: float, lengths: float) -> dict[str, object]:
    """What an evaluator gives that times two models beside each other."""
    scalars = {
        "step": {"value": step, "unit": "ms"},
        "step_ratio": {"value": relative, "unit": "1"},
        "length_ratio": {"value": lengths, "unit": "1"},
    }
    return {"scalars": scalars, "arrays": {}}


def test_a_ratio_of_times_is_a_time_and_another_ratio_is_none():
    assert results(ratios(3.0, 1.5, 0.9), ratios(4.0, 1.6, 0.9), []).verdict == "same bits"
    assert results(ratios(3.0, 1.5, 0.8), ratios(3.0, 1.5, 0.9), []).verdict == "different"


def test_of_what_is_all_timed_nothing_is_compared():
    timed = ratios(3.0, 1.5, 0.9)
    assert compared(timed)
    del timed["scalars"]["length_ratio"]
    assert not compared(timed)


def test_times_are_left_out_and_nothing_else_is():
    assert results(result(3.0, "ms"), result(5.0, "ms"), []).verdict == "same bits"
    assert results(result(math.nan), result(1.0), []).verdict == "different"
    assert results(result(None), result(1.0), []).verdict == "different"
    lacking = {**result(1.0), "scalars": {}}
    assert results(lacking, result(1.0), []).verdict == "different"


def test_what_the_old_code_alone_gives_is_named_and_the_rest_compared():
    new, old = result(1.0), result(1.0)
    del new["scalars"]["accuracy"], new["arrays"]["curve"]
    assert gone(new, old) == {"accuracy", "curve"}
    assert gone(old, new) == set()
    assert results(new, without(old, gone(new, old)), []).verdict == "same bits"
    assert results(old, without(new, gone(old, new)), []).verdict == "different"


def test_arrays_of_another_length_are_different():
    assert results(result(1.0, words=("a",)), result(1.0), []).verdict == "different"


def test_the_worst_finding_decides():
    fine, close = (
        ResultComparison("same bits"),
        ResultComparison("same to rounding", 1e-7, 1e-6, "a"),
    )
    closer = ResultComparison("same to rounding", 9e-7, 1e-6, "b")
    assert worst([fine, close, closer]) == closer
    assert worst([]) == fine


def test_histories_are_compared_without_the_clock():
    row = {"step": 1, "loss": 2.0, "seconds": 3.0, "tokens_per_second": 10.0}
    assert rows([{**row, "seconds": 9.0}], [row])
    assert not rows([{**row, "loss": 2.1}], [row])
