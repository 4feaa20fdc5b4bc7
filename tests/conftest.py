"""The paper that tests read, and how property tests are tried.

They judge what is computed, never how fast: the machine may be busy, so each process has one thread
(of several, those that are ready spin until the last had its turn). A property is tried on 50
examples; where one is dear or rare, the test says another number.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.forked import PRELOADED, Forked
from workflow.definitions.paper import Paper
from workflow.runtime.fork_server import PLACE, THREADS, forks

os.environ.update(dict.fromkeys(THREADS, "1"))  # read when torch is imported, which is later

settings.register_profile(
    "any machine",
    settings(),
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")
# Where a test has to fail, the example may be as large as it was found.
settings.register_profile("planted", settings(), phases=[Phase.explicit, Phase.generate])


@pytest.fixture(scope="session")
def paper() -> Paper:
    """Return the paper's own definitions."""
    return Paper("discrete_transformer")


@pytest.fixture(scope="session")
def forked() -> Iterator[Forked]:
    """Start programs as forks; what else tests start are none."""
    with forks(PRELOADED) as server:
        place = os.environ.pop(PLACE, "")
        # Before it answers, a program would run here, with this checkout's code instead of its own.
        while server and server.poll() is None and not Path(place).exists():
            time.sleep(0.01)
        yield Forked(place)
