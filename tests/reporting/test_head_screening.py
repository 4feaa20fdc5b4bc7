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


def fault(bad: Sequence[int], screened: Outcomes) -> str:
    """Say which head is no bad one; empty where each is."""
    for head in bad:
        ended = screened.get(head, [])
        if len(ended) < ORDERS or set(ended) != {"stuck"}:
            return f"head {head} is no bad one: {list(ended)}"
    return ""


@pytest.mark.parametrize("scale", ["lite", "paper"])
def test_heads_are_called_what_their_screening_found(scale):
    """The screening of `lite` counts at `paper` too, whose heads are trained in the same way."""
    for name in ("data", "model", "training"):
        here, there = (SCREENING.resolve("head_0", one)[name] for one in (scale, "lite"))
        assert here == there, name
    model = MULTIHEAD.resolve("all_bad", scale)["model"]
    assert len(model["head_seeds"]) == model["heads"]
    assert fault(model["head_seeds"], outcomes(DOCS / "lite")) == ""


def test_heads_that_are_called_wrongly_are_found():
    screened = {1: ["converged"] * 3, 2: ["stuck"] * 3, 3: ["stuck", "between", "stuck"],
                4: ["stuck", "stuck"]}  # fmt: skip
    assert fault([2], screened) == ""
    for head in (1, 3, 4, 5):
        assert fault([2, head], screened) == f"head {head} is no bad one: {screened.get(head, [])}"


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
