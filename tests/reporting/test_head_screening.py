"""The heads that multi-head copying calls good and bad are so by their screening."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from workflow.planning.experiments import load_experiments
from workflow.reporting.files import read_json

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "reproduction"
EXPERIMENTS = load_experiments(ROOT / "workflow" / "papers")
SCREENING, MULTIHEAD = EXPERIMENTS["head_screening"], EXPERIMENTS["multihead_copying"]
ORDERS = 3
"""Orders of the data with which a head must turn out alike."""
Outcomes = Mapping[int, Sequence[str]]
"""How the runs of each head ended: `converged`, `stuck`, or `between`."""


def outcomes(folder: Path) -> Outcomes:
    """Read the published screening of a scale."""
    found: dict[int, list[str]] = {}
    for path in sorted(folder.glob("measures/head_screening/head_*/seed-*.json")):
        scalars = read_json(path)["evaluators"]["convergence"]["scalars"]
        ended = [name for name in ("converged", "stuck") if scalars[name]["value"] == 1]
        head = int(path.parent.name.removeprefix("head_"))
        found.setdefault(head, []).append(ended[0] if ended else "between")
    return found


def fault(good: Sequence[int], bad: Sequence[int], screened: Outcomes) -> str:
    """Say which head is not what it is called; empty where each is."""
    for kind, heads, wanted in (("good", good, "converged"), ("bad", bad, "stuck")):
        for head in heads:
            ended = screened.get(head, [])
            if len(ended) < ORDERS or set(ended) != {wanted}:
                return f"head {head} is no {kind} one: {list(ended)}"
    return ""


@pytest.mark.parametrize("scale", ["lite", "paper"])
def test_heads_are_called_what_their_screening_found(scale):
    stated = [name for name in ("all_bad", "one_good") if name in MULTIHEAD.variants(scale)]
    screened = outcomes(DOCS / scale)
    for name in stated:
        model = MULTIHEAD.resolve(name, scale)["model"]
        good = model["head_seeds"][:1] if name == "one_good" else []
        bad = model["head_seeds"][len(good) :]
        assert len(good) + len(bad) == model["heads"]
        assert fault(good, bad, screened) == ""


def test_heads_that_are_called_wrongly_are_found():
    screened = {1: ["converged"] * 3, 2: ["stuck"] * 3, 3: ["stuck", "between", "stuck"],
                4: ["stuck", "stuck"]}  # fmt: skip
    assert fault([1], [2], screened) == ""
    for good, bad, head in (([2], [], 2), ([], [1], 1), ([1], [2, 3], 3), ([1], [4], 4),
                            ([5], [2], 5)):  # fmt: skip
        assert fault(good, bad, screened).startswith(f"head {head} is no ")


@pytest.mark.parametrize("scale", ["demo", "lite", "paper"])
def test_a_head_is_screened_as_it_is_used(scale):
    """Alone, and else in every setting that decides a run the same."""
    multihead = MULTIHEAD.resolve("random", scale)
    for variant in SCREENING.variants(scale):
        screened = SCREENING.resolve(variant, scale)
        assert screened["model"]["head_seeds"] == [int(variant.removeprefix("head_"))]
        assert screened["model"]["heads"] == 1
        assert screened["model"]["body_seed"] == multihead["model"]["body_seed"]
        for settings in (screened, multihead):
            for name in ("heads", "head_seeds"):
                settings["model"].pop(name, None)
        for name in ("data", "model", "objective", "training"):
            assert screened[name] == multihead[name], name
        multihead = MULTIHEAD.resolve("random", scale)
