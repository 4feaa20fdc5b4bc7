"""Programs of Debian that a check needs; CI installs them where that is possible."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path


class Unavailable(Exception):
    """This machine can't run a check."""


def need(name: str, programs: Sequence[str], packages: Sequence[str]) -> None:
    """Make sure that programs are there.

    Raises Unavailable with the reason where they are not, and can't be or aren't to be installed.
    """
    if all(map(shutil.which, programs)):
        return
    install = f"apt-get install -y --no-install-recommends {' '.join(packages)}"
    if not os.environ.get("CI"):
        raise Unavailable(f"{name} is not installed; on Debian: {install}")
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise Unavailable(f"{name} is not installed, and there is no apt-get for root to use")
    with Path(tempfile.gettempdir(), "saccade-apt.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two checks may install at once
        for command in ("apt-get update", install):
            subprocess.run(
                command.split(),
                env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
                capture_output=True,
                timeout=600,
                check=False,
            )
    if not all(map(shutil.which, programs)):
        raise Unavailable(f"{name} is not installed, and this failed: {install}")
