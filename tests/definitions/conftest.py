"""The paper that tests of definitions read."""

import pytest

from workflow.definitions.paper import Paper


@pytest.fixture(scope="session")
def paper() -> Paper:
    """Return the paper's own definitions."""
    return Paper("discrete_transformer")
