"""A page of small models with random weights."""

from pathlib import Path

import pytest
from torch import nn

from tests.reporting.explorer.pages import write

Models = dict[tuple[str, str], nn.Module]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Models]:
    """Return the page and its models, by task and name."""
    return write(tmp_path_factory.mktemp("explorer"))


@pytest.fixture(scope="session")
def file(made: tuple[Path, Models]) -> Path:
    """Return the page."""
    return made[0]


@pytest.fixture(scope="session")
def models(made: tuple[Path, Models]) -> Models:
    """Return its models, by task and name."""
    return made[1]
