"""Heads that multi-head copying calls good and bad are so by their screening, by one criterion."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from workflow.definitions.paper import Paper
from workflow.planning.experiments import load_experiments
from workflow.runtime.json_lines import read_lines

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs" / "reproduction"
EXPERIMENTS = load_experiments(ROOT / "workflow" / "papers")
SCREENING, MULTIHEAD = EXPERIMENTS["head_screening"], EXPERIMENTS["multihead_copying"]
ORDERS = 3
"""Orders of the data with which a head must turn out alike."""
GOOD = {"all_bad": 0, "body_6_all_bad": 0, "body_6_one_good": 1}
"""How many of a variant's eight heads are good, and stand first."""
Outcomes = Mapping[tuple[int, int], Sequence[str]]
"""How the runs of each head of a body ended: `converged`, `stuck`, or `between`."""


def screened_head(variant: str) -> tuple[int, int]:
    """Return the seeds of body and head that a variant of the screening has by its name."""
    body, head = re.fullmatch(r"(?:body_(\d+)_)?head_(\d+)", variant).groups()
    return int(body or 0), int(head)


def outcomes(folder: Path) -> Outcomes:
    """Read the published screening of a scale."""
    found: dict[tuple[int, int], list[str]] = {}
    for key, run in read_lines(folder / "runs/head_screening.jsonl").items():
        scalars = run["measures"]["evaluators"]["convergence"]["scalars"]
        ended = [name for name in ("converged", "stuck") if scalars[name]["value"] == 1]
        head = screened_head(key.split("/")[0])
        found.setdefault(head, []).append(ended[0] if ended else "between")
    return found


def fault(body: int, heads: Sequence[int], good: int, screened: Outcomes) -> str:
    """Say which head is not what it is called; empty where each is."""
    for place, head in enumerate(heads):
        called, ending = ("good", "converged") if place < good else ("bad", "stuck")
        ended = screened.get((body, head), [])
        if len(ended) < ORDERS or set(ended) != {ending}:
            return f"head {head} is no {called} one: {list(ended)}"
    return ""


@pytest.mark.parametrize("scale", ["lite", "paper"])
def test_heads_are_called_what_their_screening_found(scale):
    """The screening of `lite` counts at `paper` too, whose heads are trained in the same way."""
    for name in ("data", "model", "training"):
        here, there = (getattr(SCREENING.resolve("head_0", one), name) for one in (scale, "lite"))
        assert here == there, name
    screened = outcomes(DOCS / "lite")
    for variant, good in GOOD.items():
        model = MULTIHEAD.resolve(variant, scale).model
        assert len(model["head_seeds"]) == model["heads"]
        assert fault(model["body_seed"], model["head_seeds"], good, screened) == "", variant


def test_one_criterion_says_whether_a_run_copies():
    """What the claims, and the titles of figures, of sections 3.3 and 5.2 count is the same."""
    paper = Paper("attention_learning")
    copying = {"permutation_copying", "head_screening", "multihead_copying"}
    counted = [
        claim["measure"]
        for claim in paper.claims["claims"]
        if claim["experiment"] in copying
        and claim["over"] == "proportions"
        and "check" not in claim
    ]
    counted += [
        figure["finding"]["options"]["measure"]
        for figure in paper.items("figures").values()
        if figure["experiment"] in copying and "finding" in figure
    ]
    assert len(counted) > 10 and set(counted) == {"copying.accuracy>95"}


def test_heads_that_are_called_wrongly_are_found():
    screened = {(0, 1): ["converged"] * 3, (0, 2): ["stuck"] * 3, (6, 3): ["stuck"] * 3,
                (0, 3): ["stuck", "between", "stuck"], (0, 4): ["stuck", "stuck"]}  # fmt: skip
    assert fault(0, [2], 0, screened) == ""
    assert fault(0, [1, 2], 1, screened) == ""
    for head in (1, 3, 4, 5):
        said = f"head {head} is no bad one: {screened.get((0, head), [])}"
        assert fault(0, [2, head], 0, screened) == said
    assert fault(0, [2, 1], 1, screened) == f"head 2 is no good one: {['stuck'] * 3}"


@pytest.mark.parametrize("scale", ["demo", "lite", "paper"])
def test_a_head_is_screened_as_it_is_used(scale):
    """Alone, and else in every setting that decides a run the same."""
    names = {"heads", "head_seeds", "body_seed"}
    multihead = MULTIHEAD.resolve("random", scale)
    used = {key: value for key, value in multihead.model.items() if key not in names}
    for variant in SCREENING.variants(scale):
        screened = SCREENING.resolve(variant, scale)
        body, head = screened_head(variant)
        assert screened.model == {**used, "head_seeds": [head], "heads": 1, "body_seed": body}
        for name in ("data", "objective", "training"):
            assert getattr(screened, name) == getattr(multihead, name), name
