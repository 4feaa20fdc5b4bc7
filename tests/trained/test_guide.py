"""The code of the guide runs, and prints what the guide says of it."""

import runpy
from functools import partial
from pathlib import Path

import pytest

from tests.trained.conftest import REVIEWS
from tests.workflow.pages.guides import files
from workflow import ROOT
from workflow.planning.plan import Plan
from workflow.trained import model


def test_the_code_of_the_guide_reads_a_sentence(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = files(ROOT / "docs/python.md")["reading.py"]
    assert f'"{REVIEWS}"' in code
    (tmp_path / "reading.py").write_text(code)
    monkeypatch.setattr(model, "load", partial(model.load, results=plan.results))
    reading = runpy.run_path(str(tmp_path / "reading.py"))["reading"]
    assert reading.words == ["this", "film", "is", "not", "good", "."]
    said = capsys.readouterr().out
    assert f"{reading.tokens} {reading.prediction}\n" in said
    assert "torch.Size([4, 7, 7])" in said
    assert str(reading.replaced(1, "plot").prediction) in said
