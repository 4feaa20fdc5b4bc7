"""The lists of packages say one thing."""

import re
from pathlib import Path

import pytest
import yaml

ENVS = Path(__file__).resolve().parents[2] / "envs"


def pins(name):
    """The pins of a lock file."""
    lines = (ENVS / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_every_package_is_pinned_once():
    both = pins("lock.txt") + pins("lock-test.txt")
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", pin) for pin in both)
    names = [pin.partition("==")[0] for pin in both]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("lock", "known"),
    [("lock-cuda.txt", "nvidia-cudnn-cu13"), ("lock-captions.txt", "pycocoevalcap")],
)
def test_a_lock_for_more_is_the_lock_and_pins_beside_it(lock, known):
    include, *more = pins(lock)
    assert include == "-r lock.txt"
    assert more == sorted(more) and all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9.]*", p) for p in more)
    names = [pin.partition("==")[0] for pin in [*more, *pins("lock.txt")]]
    assert len(set(names)) == len(names) and known in names


def test_conda_installs_what_the_lock_says():
    environment = yaml.safe_load((ENVS / "conda.yaml").read_text())
    (pip,) = [item["pip"] for item in environment["dependencies"] if isinstance(item, dict)]
    assert pip == pins("lock.txt")
