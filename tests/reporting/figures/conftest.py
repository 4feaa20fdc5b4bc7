"""Figures are drawn in the look of all figures, and closed when their test ends."""

from collections.abc import Iterator

import pytest

from workflow.reporting.figures.style import styled


@pytest.fixture(autouse=True)
def look() -> Iterator[None]:
    with styled():
        yield
