"""Settings that a constructor refuses, by every way on which one arrives."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from tests.planning.conftest import CONFIG
from workflow.planning.budget import check_built
from workflow.planning.built import built
from workflow.planning.estimator import Estimator
from workflow.planning.experiments import load_experiments
from workflow.planning.plan import Plan
from workflow.runtime.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
MATRIX = "overlay: experiments.mechanism_matrix, variant sst_topk, scale demo"


def checked(tmp_path: Path, experiment: str, **config: Any) -> None:
    """Check the runs of an experiment in the project's plan with a user's settings."""
    plan = Plan({**CONFIG, "results": str(tmp_path / "results"), **config}, ROOT)
    check_built(plan.runs(experiment), Estimator(plan, False, tmp_path / "none"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"heads": 3}, r"model.encoder.width: it .* \(width 64 is not a multiple of 3 heads\)"),
        (
            {"norm": "psot"},
            r"model.encoder.norm: it can't be built \(norm must be 'pre' or 'post', not 'psot'\); "
            r'correct its arguments; did you mean "post',
        ),
        ({"positions": "none"}, r"model.encoder.positions: .*be 'sinusoidal' or 'learned', not"),
        ({"positions": True}, "model.encoder.positions: expected a text, found tru"),
        ({"width": 1e11}, "model.*: .*(can't be built|no machine trains)"),
        ({"width": 64_000_000}, "model: it has more .*no machine trains; lower its layers"),
        ({"layers": 1_000_000_000}, "model: it has more .*no machine trains; lower its layers"),
        (
            {"normalizer": {"k": 2.7}},
            "model.encoder.normalizer.k: expected a whole number, found 2",
        ),
        ({"normalizer": {"k": 0}}, r"model.encoder.normalizer.k: .*\(k must be at least 1"),
        (
            {"normalizer": {"k": "8"}},
            r"model.encoder.normalizer: .*\(TypeError: .* 'str' and 'int'",
        ),
    ],
)
def test_a_model_that_cannot_be_built_is_a_sentence(tmp_path, change, says):
    changes = {"variants": {"sst_topk": {"model": {"encoder": change}}}}
    overlay = {"name": "x", "experiments": {"mechanism_matrix": changes}}
    with pytest.raises(InputError, match=rf"^{MATRIX}: ({says}).*[^.]$"):
        checked(tmp_path, "mechanism_matrix", overlay=overlay)


@pytest.mark.parametrize(
    ("experiment", "change", "says"),
    [
        ("translation", {"objective": {"smoothing": 1}}, r"objective.smoothing: .* below 1, not 1"),
        (
            "translation",
            {"evaluators": {"scores": {"search": {"penalty_form": "gmnt"}}}},
            r'evaluators.scores.search.penalty_form: .*; did you mean "gnmt"\?',
        ),
        (
            "translation_learning",
            {"variants": {"multi30k": {"record": {"values": {"search": {"length_extra": 0}}}}}},
            r"record.values.search.*: it can't be built \(penalty and length_ratio must not be",
        ),
        ("translation", {"model": {"tie": "al"}}, r'model.tie: .*, not \'al\'\); .*mean "all"\?'),
    ],
)
def test_every_part_of_a_run_is_built(tmp_path, experiment, change, says):
    stated = load_experiments(ROOT / "workflow" / "papers")[experiment].variants("demo")
    changes = change if "variants" in change else {"variants": dict.fromkeys(stated, change)}
    overlay = {"name": "x", "experiments": {experiment: changes}}
    with pytest.raises(InputError, match=rf"^overlay: experiments.{experiment}, .*demo: {says}"):
        checked(tmp_path, experiment, overlay=overlay)


def test_the_nearest_choice_of_a_list_is_named():
    experiment = load_experiments(ROOT / "workflow" / "papers")["role_translation"]
    model = experiment.resolve("multi30k_softmax", "demo").model
    wrong = {**model, "roles": {**model["roles"], "combination": "ful"}}
    says = r"^model.roles.combination: .* full, .* known, not 'ful'\); .*; did you mean \"full\"\?"
    with pytest.raises(InputError, match=says):
        built(wrong, "model", vocabulary_size=99)


def test_a_mechanism_is_named_where_the_user_states_it(tmp_path):
    node = {"path": "model.normalizers.topk:TopK", "k": 0}
    with pytest.raises(InputError, match=r"^config: mechanisms.mine.k: it can't be built \(k must"):
        checked(tmp_path, "mechanism_matrix", mechanisms={"mine": node})


class Computing(nn.Module):
    """A part that computes with what it makes, which torch's meta device can't."""

    def __init__(self, slope: float = 2.0) -> None:
        super().__init__()
        self.rate = float(torch.linspace(0, slope, 3)[1])
        if self.rate < 0:
            raise ValueError("slope must not be negative")


def test_a_part_that_computes_when_it_is_built_is_built():
    path = f"{__name__}:Computing"
    assert built({"path": path}, "model").rate == 1.0
    with pytest.raises(InputError, match=r"^model.slope: it can't be built \(slope must not"):
        built({"path": path, "slope": -1.0}, "model")


def test_shipped_parts_can_be_built(tmp_path):
    for experiment in ("mechanism_matrix", "translation_learning", "role_translation"):
        checked(tmp_path, experiment)
