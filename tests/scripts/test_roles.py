"""Translation with roles as processes: what does not fit is told in one sentence."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.scripts.conftest import Job, seal
from tests.scripts.processes import ROOT, coded, command
from tests.scripts.test_translation import TRAINING, encoded, translating
from workflow.planning.code import Project
from workflow.planning.identity import canonical, run_roots

pytestmark = pytest.mark.xdist_group("scripts")

SOFTMAX = {"path": "model.normalizers.softmax:Softmax"}
GUMBEL = {"path": "model.normalizers.gumbel:Gumbel"}
SHORT = {name: value for name, value in TRAINING.items() if name != "average"} | {"updates": 2}


def with_roles(folder: Path, data: Path, training: Any = SHORT, **roles: Any) -> Job:
    """A run with the layer that is not yet begun."""
    node = {"path": "model.layers.role_interaction:Roles", "number": 4} | roles
    model = {
        "path": "model.architectures.translation.with_roles:RoleEncoderDecoder",
        "width": 8, "hidden": 12, "layers": 1,
        "heads": 2, "normalizer": SOFTMAX, "roles": node,
    }  # fmt: skip
    job = translating(folder, data, model, training)
    spec = job.spec | {"objective": {"path": "model.objectives.role_translation:RoleTranslation"}}
    return replace(job, spec=seal(spec | {"code": Project(ROOT).hash(run_roots(spec))}))


def tuned(folder: Path, parent: Job, **roles: Any) -> Job:
    """A run with one role a token that starts from another one."""
    training = SHORT | {"start_from": "softmax", "schedule": {"name": "constant"}}
    job = with_roles(folder, parent.data, training, assignment=GUMBEL, **roles)
    job = replace(job, spec=seal(job.spec | {"parents": {"softmax": parent.spec["identity"]}}))
    return replace(job, parents={"softmax": parent.out})


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs with one vocabulary for both sides."""
    return encoded(tmp_path_factory.mktemp("role_pairs"))


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory, pairs: Path) -> Job:
    """A finished run with the softmax assignment; not to be changed."""
    job = with_roles(tmp_path_factory.mktemp("roles") / "run", pairs, assignment=SOFTMAX)
    outcome = job.train()
    assert outcome.status == 0, outcome.said
    return job


@pytest.mark.parametrize(
    ("roles", "says"),
    [
        ({"number": 100_000}, "100000 roles are more than the vocabulary's"),
        (
            {"window": 4},
            "a convolution of width 4 has no token in its middle: give a positive odd number.",
        ),
        ({"window": 999}, "a convolution of width 999 is wider than the longest sentence"),
    ],
)
def test_a_layer_that_no_text_can_fill_is_told(
    roles: dict[str, int], says: str, pairs: Path, tmp_path: Path
) -> None:
    job = with_roles(tmp_path / "run", pairs, **roles)
    assert says in job.train().error
    assert job.untouched()


def test_fine_tuning_starts_from_a_finished_run(trained: Job, tmp_path: Path) -> None:
    job = tuned(tmp_path / "run", trained)
    outcome = job.train()
    assert outcome.status == 0, outcome.said


def test_fine_tuning_from_a_run_of_another_shape_is_told(trained: Job, tmp_path: Path) -> None:
    job = tuned(tmp_path / "run", trained, number=5)
    error = job.train().error
    assert "parent 'softmax' belong to another architecture" in error
    assert "compare its model section with this run's" in error
    assert job.untouched()


def test_fine_tuning_from_a_run_that_has_not_finished_is_told(pairs: Path, tmp_path: Path) -> None:
    begun = with_roles(tmp_path / "begun", pairs, assignment=SOFTMAX)
    job = tuned(tmp_path / "run", begun)
    error = job.refused()
    assert "parent 'softmax' of run" in error and str(begun.out) in error
    assert job.untouched()


def test_a_token_that_is_not_in_the_vocabulary_is_told(trained: Job, tmp_path: Path) -> None:
    node = {"path": "model.probes.words.roles:token_roles", "token": "derr"}
    evaluators = {"token_roles": coded(node)}
    given = {
        "spec": trained.written(), "run": trained.out, "data": trained.data,
        "store": trained.store, "out": tmp_path / "measures.json",
        "evaluators": canonical(evaluators),
    }  # fmt: skip
    arguments = [text for name, value in given.items() for text in (f"--{name}", str(value))]
    error = command("measure", arguments).error
    assert "cannot be measured: token 'derr' is not in the vocabulary of the source" in error
    assert not (tmp_path / "measures.json").exists()
