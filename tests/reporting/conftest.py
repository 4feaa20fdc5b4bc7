"""Results folders filled with invented measures."""

from pathlib import Path

import pytest

from tests.reporting.synthetic import Results
from workflow.definitions.paper import Paper
from workflow.reporting.measures import Measures


@pytest.fixture(scope="session")
def lite(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return a results folder with every run of scale lite, three seeds each; read it only."""
    results = Results(tmp_path_factory.mktemp("results"), "lite")
    results.fill()
    return results


@pytest.fixture(scope="session")
def measures(lite: Results) -> Measures:
    """Return the measures of `lite` with their provenance."""
    return Measures.read(lite.measures, lite.runs)


@pytest.fixture(scope="session")
def paper() -> Paper:
    """Return the paper's own definitions."""
    return Paper("discrete_transformer")


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """Return an empty results folder of scale lite."""
    return Results(tmp_path / "results", "lite")
