"""Helpers of the datasets' tests: run a whole chain, or one script as a process."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.datasets.loopback import Server
from workflow.datasets.io.checksums import read_manifest
from workflow.datasets.kinds.recipe import load
from workflow.runtime.errors import DataError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that generates, prepares and encodes a recipe and returns its folder."""

    def run(values: Mapping[str, Any], folder: str = "data") -> Path:
        dataset = load(values)
        out = tmp_path / folder
        dataset.synthesise(out / "raw")
        files = sorted((out / "raw").iterdir())
        dataset.prepare(files, out / "prepared")
        dataset.encode(out / "prepared", out / "encoded")
        return out

    return run


@pytest.fixture
def damage(build: Callable[..., Path]) -> Callable[..., None]:
    """Return a function that prepares a recipe after an edit of the lines of `train.txt`."""

    def run(values: Mapping[str, Any], edit: Callable[[list[str]], list[str]]) -> None:
        out = build(values)
        path = out / "raw" / "train.txt"
        lines = edit(path.read_text(encoding="utf-8").splitlines())
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        load(values).prepare(list((out / "raw").iterdir()), out / "again")

    return run


@pytest.fixture
def take(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return a function that prepares and encodes a recipe from files given by name.

    A file is its content, or the path of a file somewhere else. The manifest is returned; what was
    written lies in `tmp_path`/<folder>.
    """

    def run(
        values: Mapping[str, Any], files: Mapping[str, bytes | Path], folder: str = "data"
    ) -> dict[str, Any]:
        dataset = load(values)
        out = tmp_path / folder
        (out / "raw").mkdir(parents=True)
        for name, content in files.items():
            if isinstance(content, Path):
                (out / "raw" / name).symlink_to(content)
            else:
                (out / "raw" / name).write_bytes(content)
        dataset.prepare(list((out / "raw").iterdir()), out / "prepared")
        dataset.encode(out / "prepared", out / "encoded")
        return read_manifest(out / "encoded")

    return run


@pytest.fixture
def refuse(take: Callable[..., dict[str, Any]], tmp_path: Path) -> Callable[..., None]:
    """Return a function that expects a sentence, and nothing prepared, where `take` reads."""

    def run(values: Mapping[str, Any], files: Mapping[str, bytes | Path], sentence: str) -> None:
        folder = f"refused-{len([*tmp_path.iterdir()])}"
        with pytest.raises(DataError, match=sentence):
            take(values, files, folder)
        assert not [*(tmp_path / folder).glob("prepared/*")]

    return run


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on this machine that answers as planned."""
    with Server.running() as running:
        yield running


@pytest.fixture
def mirror() -> Path:
    """Return a folder with real files, its layout that of `SOURCES.tsv`; skip where there is none.

    That is SACCADE_MIRROR, else `../shared/data` beside the checkout.
    """
    path = Path(os.environ.get("SACCADE_MIRROR") or ROOT.parent / "shared" / "data")
    if not (path / "SOURCES.tsv").is_file():
        pytest.skip(f"no mirror of the real files at {path}")
    return path


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
