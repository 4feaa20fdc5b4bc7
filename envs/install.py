"""Make the environment, or bring it up to date, and say which build of torch it has.

It runs before anything is installed, so the standard library is all that it needs. Where uv is
installed, it does pip's work.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote
from urllib.request import urlopen

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
"""Where pytorch.org has the builds without CUDA, some 200 MB in place of several GB."""
TIMEOUT = 5
"""Seconds that it has to answer."""
KINDS = ("lock", "cpu", "keep")
"""The build of the default index; that for CPUs, where it can be got; the Python's own."""


def choose(lock: Path, environment: Mapping[str, str] = os.environ) -> str:
    """Return which torch suits this machine: for CPUs where neither it nor its jobs have a GPU.

    CI depends on no second index. Elsewhere than on Linux the default build is small.
    """
    asked = "cuda" in lock.name or environment.get("CI") or platform.system() != "Linux"
    programs = [name for name in ("nvidia-smi", "sbatch") if shutil.which(name)]
    return "lock" if asked or programs or Path("/proc/driver/nvidia").exists() else "cpu"


def pins(lock: Path) -> list[str]:
    """Return the pins of a lock and of those that it includes."""
    found: list[str] = []
    for line in lock.read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            found += pins(lock.parent / line.removeprefix("-r ").strip())
        elif line and not line.startswith("#"):
            found.append(line)
    return sorted(found)


class Environment:
    """A virtual environment in a folder.

    Args:
        folder: where it is, or will be.
        torch: one of KINDS.
        uv: the program, None to use pip.
    """

    def __init__(self, folder: Path, torch: str, uv: str | None) -> None:
        self.folder, self.torch, self.uv = folder, torch, uv
        self.python = folder / "bin" / "python"

    @property
    def suits(self) -> bool:
        """Whether it is there, finished once, with this kind of torch."""
        return os.access(self.python, os.X_OK) and any(self.folder.glob(f".ready-{self.torch}-*"))

    def create(self) -> None:
        """Make it anew, with pip."""
        shared = ["--system-site-packages"] if self.torch == "keep" else []
        where = ["--clear", *shared, str(self.folder)]
        if self._with_uv("venv", "--seed", "--python", sys.executable, *where):
            return
        if subprocess.run([sys.executable, "-m", "venv", *where], check=False).returncode:
            sys.exit(1)

    def install(self, *what: str) -> bool:
        """Install packages; return whether they could be."""
        if self._with_uv("pip", "install", "--python", str(self.python), *what):
            return True
        pip = [str(self.python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        return subprocess.run([*pip, *what], check=False).returncode == 0

    def _with_uv(self, *arguments: str) -> bool:
        """Whether uv did it; where it can't, pip may, whose configuration is another."""
        if self.uv is None:
            return False
        done = subprocess.run([self.uv, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            why = next(iter(done.stderr.strip().splitlines()), "no reason given")
            print(f"uv can't ({why.removeprefix('error: ')}); using pip", flush=True)
            self.uv = None
        return self.uv is not None


def answers(index: str, pin: str) -> bool:
    """Return whether an index answers within seconds, and has a package of this version."""
    name, version = pin.split("==")
    try:
        with urlopen(f"{index}/{name}/", timeout=TIMEOUT) as page:
            listed = unquote(page.read().decode(errors="replace"))
    except OSError:
        return False
    return f"{name}-{version}-" in listed


def torch_for_cpus(made: Environment, pin: str, index: str) -> None:
    """Install torch's build for CPUs where its index has it, and say which build it will be."""
    if answers(index, pin) and made.install("--no-deps", "--index-url", index, pin):
        print(f"{pin}, as there is no NVIDIA GPU here (TORCH=lock takes the default)", flush=True)
    else:
        print(f"torch: the default index's build, as {index} does not give {pin}", flush=True)


def check_kept(made: Environment) -> None:
    """Say which torch is kept; without one, remove the environment and end with a sentence."""
    version = 'import torch; print("keeping torch", torch.__version__)'
    said = subprocess.run([str(made.python), "-c", version], stderr=subprocess.DEVNULL, check=False)
    if said.returncode:
        shutil.rmtree(made.folder)
        asked = f"TORCH=keep, but {sys.executable} has no torch"
        sys.exit(f"error: {asked}; install it, or set TORCH=lock")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--choose", action="store_true", help="say which torch suits this machine")
    parser.add_argument("--environment", type=Path, default=Path(".venv"), help="its folder")
    parser.add_argument("--torch", choices=KINDS, default="lock")
    parser.add_argument("--lock", type=Path, required=True, help="file of pins")
    given = parser.parse_args()
    if given.choose:
        print(choose(given.lock))
        return
    made = Environment(given.environment, given.torch, shutil.which("uv"))
    if not made.suits:
        made.create()
    listed = pins(given.lock)
    torch = [one for one in listed if one.startswith("torch==")]
    if torch and given.torch == "keep":
        listed.remove(*torch)
        check_kept(made)
    elif torch and given.torch == "cpu":
        torch_for_cpus(made, f"{torch[0]}+cpu", CPU_INDEX)
    print(f"installing what {given.lock} pins in {made.folder}", flush=True)
    if not made.install(*listed):
        sys.exit(1)


if __name__ == "__main__":
    main()
