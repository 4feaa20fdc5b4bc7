"""The generated corpus that memory is measured on, small, and the measuring itself."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import parallel_preparation
from benchmarks.parallel_preparation import main


def test_both_stages_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parallel_preparation, "FREQUENT", 50)
    monkeypatch.setattr(parallel_preparation, "INTERVAL", 0.01)
    options = {"--pairs": 60, "--merges": 20, "--cores": 1, "--folder": tmp_path}
    line = [str(part) for option in options.items() for part in option]
    monkeypatch.setattr(sys, "argv", ["program", *line])
    main()
    first, *peaks, last = capsys.readouterr().out.splitlines()
    assert first == "60 pairs, 20 merges, 1 cores"
    found = [re.fullmatch(r"(\w+): peak (\d+) MB", peak) for peak in peaks]
    assert [match[1] for match in found if match] == ["prepare", "encode"]
    assert all(10 < int(match[2]) < 1000 for match in found if match)
    told: dict[str, Any] = json.loads(last)
    assert told["splits"]["train"]["examples"] == 60 + 2  # and one of each further archive
