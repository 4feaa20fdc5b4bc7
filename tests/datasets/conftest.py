"""Helpers of the datasets' tests: run a whole chain, or one script as a process."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from workflow.datasets.recipe import load

ROOT = Path(__file__).parents[2]


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that generates, prepares and encodes a recipe and returns its folder."""

    def run(values: Mapping[str, Any], folder: str = "data") -> Path:
        recipe = load(values)
        out = tmp_path / folder
        recipe.module.synthesise(recipe.options, out / "raw")
        files = sorted((out / "raw").iterdir())
        recipe.module.prepare(recipe.options, files, out / "prepared")
        recipe.module.encode(recipe.options, out / "prepared", out / "encoded")
        return out

    return run


@pytest.fixture
def script() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs `workflow/scripts/<name>.py` with arguments."""

    def run(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", f"workflow.scripts.{name}", *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run
