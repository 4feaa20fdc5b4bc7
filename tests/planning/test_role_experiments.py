"""The experiments of role interaction: every model can be built, and a parent has its shape."""

from pathlib import Path
from typing import Any

import pytest
import torch

from model.architectures.translation.with_roles import MatchedEncoderDecoder
from model.build import build
from model.objectives.role_translation import RoleTranslation
from tests.reporting.synthetic import plan_of
from workflow.planning.plan import Plan

WORDS = 10_000
SCALES = ("demo", "lite", "paper")


def first_runs(plan: Plan) -> list[Any]:
    return [run for run in plan.runs("role_translation") if run.seed == 0]


def shapes(node: dict[str, Any]) -> dict[str, torch.Size]:
    with torch.device("meta"):
        model = build(node, vocabulary_size=WORDS)
    return {name: tensor.shape for name, tensor in model.state_dict().items()}


@pytest.mark.parametrize("scale", SCALES)
def test_every_model_and_objective_can_be_built(scale: str, tmp_path: Path) -> None:
    for run in first_runs(plan_of(tmp_path, scale)):
        objective = build(run.settings.objective)
        node = run.settings.model
        assert isinstance(objective, RoleTranslation) == node["path"].endswith(
            ":RoleEncoderDecoder"
        )
        with torch.device("meta"):
            model = build(node, vocabulary_size=WORDS)
        if isinstance(model, MatchedEncoderDecoder):
            found = sum(parameter.numel() for parameter in model.parameters())
            assert abs(found / model.matched - 1) < 0.01, run.variant


@pytest.mark.parametrize("scale", SCALES)
def test_one_role_a_token_starts_from_the_softmax_of_its_shape(scale: str, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, scale)
    tuned = [run for run in first_runs(plan) if "onehot" in run.variant]
    assert tuned
    for run in tuned:
        (parent,) = plan.parents(run).values()
        node, origin = run.settings.model, parent.settings.model
        assert node["roles"]["assignment"]["path"].endswith(":Gumbel")
        assert origin["roles"]["assignment"]["path"].endswith(":Softmax")
        assert shapes(node) == shapes(origin)
        assert run.recipe == parent.recipe
        # At the lowest temperature for a while, as the weights at the end are averaged there.
        objective = run.settings.objective
        steps = run.settings.training["updates"]
        assert objective["temperature"] * objective["decay"] ** (0.9 * steps) < objective["lowest"]
