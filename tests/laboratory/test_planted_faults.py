"""Plant a fault in a copy of the project, and see that the test which should catch it fails."""

import shutil
from pathlib import Path

import pytest

from tests.forked import Forked
from tests.laboratory.slurm.cases import PLANTS

ROOT = Path(__file__).resolve().parents[2]

LISTED = Path(__file__).with_name("planted_faults.tsv").read_text("utf-8").splitlines()[1:]
FAULTS = {name: rest for name, *rest in (line.split("\t") for line in LISTED)}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_is_caught(fault: str, tmp_path: Path, forked: Forked) -> None:
    file, right, wrong, test = FAULTS[fault]
    for folder in ("model", "workflow", "tests", "benchmarks"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    source = (tmp_path / file).read_text()
    assert source.count(right) == 1, f"{file} has changed: plant the fault '{fault}' anew"
    (tmp_path / file).write_text(source.replace(right, wrong))
    given = ["-qx", "-p", "no:cacheprovider", "--hypothesis-profile", "planted"]
    given += ["--basetemp", str(tmp_path / "temporary")]  # else it clears those of others away
    done = forked("pytest", *given, f"tests/{test}", folder=tmp_path)
    assert done.returncode == 1 and " failed" in done.stdout, done.stdout[-2000:]


@pytest.mark.parametrize("case", PLANTS)
def test_what_is_planted_in_slurms_cases_stands_in_its_file_once(case: str) -> None:
    file, right, _ = PLANTS[case]
    assert (ROOT / file).read_text().count(right) == 1
