"""Toy claims are of an experiment that no paper has."""

import pytest

from workflow.reporting.claims import judging
from workflow.reporting.claims.judged import KINDS


@pytest.fixture(autouse=True)
def no_departure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "kind_of", lambda claim, departures: KINDS[0])
