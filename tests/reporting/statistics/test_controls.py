"""Claims on what a model has beyond a control, on multiples, and on shares of runs."""

import pytest

from tests.reporting.synthetic import judged, one_run
from workflow.runtime.errors import InputError, ReportingError


def beyond(variant: str) -> dict[str, str]:
    return {"variant": variant, "label": variant, "beyond": f"{variant}_untrained"}


def test_a_control_is_taken_off_run_by_run() -> None:
    values = {"good": [0.9, 0.8, 0.85], "bad": [0.5, 0.6, 0.4]}
    untrained = {"good_untrained": [0.4, 0.25, 0.35], "bad_untrained": [0.1, 0.2, 0.0]}
    runs = [
        one_run(variant, seed, {"value": value})
        for variant, own in {**values, **untrained}.items()
        for seed, value in enumerate(own)
    ]
    asked = {"measure": "probe.value", "label": "value", "unit": "fraction", "digits": 2}
    sides = {"left": beyond("good"), "right": beyond("bad")}
    found = judged(runs, **asked, **sides)
    assert found["by_seed"] == pytest.approx([0.1, 0.15, 0.1])
    assert (found["left"]["mean"], found["right"]["mean"]) == pytest.approx((0.516667, 0.4))
    assert found["verdict"] == "holds" and found["n"] == 3
    assert sorted(found["runs"]) == sorted(one.identity for one in runs)
    assert judged(runs, **asked)["by_seed"] == pytest.approx([0.4, 0.2, 0.45])
    without = judged([one for one in runs if one.identity != "bad_untrained-1"], **asked, **sides)
    assert (without["n"], without["seeds"]) == (2, [0, 2])


def test_a_control_is_taken_off_text_by_text() -> None:
    taus = {
        "good": [0.9, None, 0.5], "good_untrained": [0.4, 0.3, -0.5],
        "bad": [0.2, 0.1, -0.9], "bad_untrained": [0.1, 0.1, 0.9],
    }  # fmt: skip
    runs = [one_run(variant, 0, arrays={"tau": own}) for variant, own in taus.items()]
    asked = {"measure": "probe.tau", "label": "tau", "unit": "tau", "digits": 2, "over": "examples"}
    found = judged(runs, **asked, left=beyond("good"), right=beyond("bad"))
    assert found["estimate"] == pytest.approx((0.4 + 2.8) / 2)
    short = [*runs[1:], one_run("good", 0, arrays={"tau": [0.9]})]
    with pytest.raises(ReportingError, match="1 and 3 examples; measure both runs on the same"):
        judged(short, **asked, left=beyond("good"), right=beyond("bad"))


def test_a_control_is_of_runs_or_examples() -> None:
    asked = {"measure": "probe.value", "label": "value", "unit": "fraction", "digits": 2}
    with pytest.raises(InputError, match="toy: `beyond` takes a control off runs or examples"):
        judged([], **asked, left=beyond("good"), over="proportions")


def test_a_side_may_be_multiplied() -> None:
    runs = [
        one_run(variant, seed, {"speed": value})
        for variant, values in (("good", (6.0, 7.0, 6.5)), ("bad", (2.0, 2.5, 2.25)))
        for seed, value in enumerate(values)
    ]
    right = {"variant": "bad", "label": "twice", "times": 2}
    asked = {"measure": "probe.speed", "label": "speed", "unit": "points", "digits": 1}
    found = judged(runs, **asked, right=right)
    assert found["by_seed"] == pytest.approx([2.0, 2.0, 2.0])
    assert (found["left"]["mean"], found["right"]["mean"]) == pytest.approx((6.5, 4.5))
    with pytest.raises(InputError, match="claim toy: `times` multiplies a number of each run"):
        judged([], **asked, right=right, over="examples")


def test_what_is_equal_has_a_margin_and_is_no_proportion() -> None:
    asked = {"measure": "probe.m", "label": "m", "unit": "fraction", "digits": 1}
    for wrong in ({}, {"margin": 0.1, "over": "proportions", "right": {"value": 1}}):
        with pytest.raises(InputError, match="claim toy: `equal` needs a margin above 0, over pai"):
            judged([], **asked, direction="equal", **wrong)


def test_two_proportions_have_no_margin() -> None:
    asked = {"measure": "probe.m", "label": "m", "unit": "fraction", "digits": 1}
    with pytest.raises(InputError, match="claim toy: what is tested of proportions is that they"):
        judged([], **asked, over="proportions", margin=0.1)
    found = judged([], **asked, over="proportions", margin=0.1, right={"value": 0.5})
    assert found["verdict"] == "not run"
