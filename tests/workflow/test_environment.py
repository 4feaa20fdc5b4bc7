"""The lists of packages say one thing, and are installed by what is at hand."""

import os
import re
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml

from envs import install

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
    [
        ("lock-cuda.txt", "nvidia-cudnn-cu13"),
        ("lock-captions.txt", "pycocoevalcap"),
        ("lock-bench.txt", "ctranslate2"),
    ],
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


def test_the_container_installs_the_lock_and_its_torch_for_cpus():
    lines = (ENVS / "Dockerfile").read_text().replace("\\\n", "").splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    assert [line[0] for line in words] == ["FROM", "RUN", "COPY", "RUN", "ENV", "WORKDIR"]
    (torch,) = [pin for pin in pins("lock.txt") if pin.startswith("torch==")]
    python = yaml.safe_load((ENVS / "conda.yaml").read_text())["dependencies"][0]
    assert words[0][1].startswith(f"python:{python.partition('=')[2]}-")
    assert words[2] == ["COPY", "lock.txt", "/"]
    first, then = " ".join(words[3][1:]).split(" && ")
    assert first.startswith("pip install ") and first.endswith(f" {install.CPU_INDEX} {torch}+cpu")
    assert then == "pip install --no-cache-dir --requirement /lock.txt"


LOCK = ENVS / "lock.txt"


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A folder that is all of PATH; it has no GPU's programs and no cluster's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(install.platform, "system", lambda: "Linux")
    return folder


def program(path, script):
    """Write an executable script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.mark.skipif(Path("/proc/driver/nvidia").exists(), reason="this machine has an NVIDIA GPU")
def test_without_a_gpu_torch_is_that_for_cpus(bare, monkeypatch):
    assert install.choose(LOCK, {}) == "cpu"
    assert install.choose(ENVS / "lock-cuda.txt", {}) == "lock"
    assert install.choose(LOCK, {"CI": "1"}) == "lock"
    for name in ("nvidia-smi", "sbatch"):
        found = program(bare / name, "exit 0")
        assert install.choose(LOCK, {}) == "lock"
        found.unlink()
    monkeypatch.setattr(install.platform, "system", lambda: "Darwin")
    assert install.choose(LOCK, {}) == "lock"


@pytest.fixture
def index(tmp_path):
    """A package index on this machine: its address."""
    page = tmp_path / "index" / "torch" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text('<a href="torch-9.8.7%2Bcpu-cp311-cp311-linux_x86_64.whl">torch</a>')
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "index"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_an_index_answers_for_a_version_that_it_has(index):
    assert install.answers(index, "torch==9.8.7+cpu")
    assert not install.answers(index, "torch==9.8.6+cpu")
    assert not install.answers(index, "other==9.8.7+cpu")
    assert not install.answers("http://127.0.0.1:9", "torch==9.8.7+cpu")


@pytest.fixture
def environment(tmp_path):
    """An environment whose Python notes what it is asked for, and does what a test says."""

    def made(python="exit 0", uv=None):
        note = f'echo "$@" >> {tmp_path}/asked'
        program(tmp_path / "venv/bin/python", f"{note}\n{python}")
        tool = program(tmp_path / "uv", f"{note}\n{uv}") if uv else None
        return install.Environment(tmp_path / "venv", "cpu", tool and str(tool))

    made.asked = lambda: (tmp_path / "asked").read_text().splitlines()
    return made


def test_torch_is_that_for_cpus_where_its_index_gives_it(environment, index, capsys):
    pin = "torch==9.8.7+cpu"
    install.torch_for_cpus(environment(), pin, index)
    assert environment.asked()[-1].endswith(f"--quiet --no-deps --index-url {index} {pin}")
    assert capsys.readouterr().out.startswith(f"{pin}, as there is no NVIDIA GPU here")


@pytest.mark.parametrize(("python", "version"), [("exit 1", "9.8.7"), ("exit 0", "9.8.6")])
def test_else_it_is_that_of_the_default_index(environment, index, capsys, python, version):
    install.torch_for_cpus(environment(python), f"torch=={version}+cpu", index)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("torch: the default index's build, as ")


def test_uv_does_the_work_where_it_can(environment, capsys):
    made = environment(uv="exit 0")
    made.create()
    assert made.install("a==1")
    venv, pip = environment.asked()
    assert venv == f"venv --seed --python {sys.executable} --clear {made.folder}"
    assert pip == f"pip install --python {made.python} a==1"
    made = environment(uv="echo 'error: no route' >&2; exit 2")
    assert made.install("a==1") and made.install("b==2")
    assert capsys.readouterr().out == "uv can't (no route); using pip\n"
    assert [line.startswith("-m pip") for line in environment.asked()[3:]] == [True, True]


@pytest.mark.parametrize("kind", ["lock", "cpu", "keep"])
def test_an_environment_of_another_kind_is_made_anew(tmp_path, kind):
    program(tmp_path / "bin/python", "exit 0")
    (tmp_path / ".ready-cpu-0").touch()
    assert install.Environment(tmp_path, kind, None).suits == (kind == "cpu")


def test_a_kept_torch_has_to_be_there(tmp_path, environment, capfd):
    install.check_kept(environment("echo keeping torch"))
    assert "keeping torch" in capfd.readouterr().out
    with pytest.raises(SystemExit, match="has no torch; install it, or set TORCH=lock"):
        install.check_kept(environment("exit 1"))
    assert not (tmp_path / "venv").exists()


def test_what_is_installed_are_the_pins_of_a_lock_and_of_what_it_includes(environment, monkeypatch):
    made, lock = environment(), ENVS / "lock-captions.txt"
    monkeypatch.setattr(install, "Environment", lambda *_: made)
    (made.folder / ".ready-keep-0").touch()
    made.torch = "keep"
    command = ["install", "--environment", str(made.folder), "--torch", "keep", "--lock", str(lock)]
    monkeypatch.setattr(sys, "argv", command)
    install.main()
    installed = environment.asked()[-1].split("--quiet ")[1].split()
    expected = {*pins("lock.txt"), *pins("lock-captions.txt")} - {"-r lock.txt"}
    assert {*installed} == {one for one in expected if not one.startswith("torch==")}
    assert os.access(made.python, os.X_OK)
