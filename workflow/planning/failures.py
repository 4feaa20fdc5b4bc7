"""What stopped the jobs of one call of Snakemake (standard library only)."""

from collections.abc import Iterable
from pathlib import Path


def failures(folders: Iterable[Path], since: float) -> list[str]:
    """Return the last line of every log that ends with an error, after the log's name.

    Snakemake's `--quiet rules` hides what a job said when it failed.

    Args:
        folders: of logs, searched with what is below.
        since: seconds; logs that were last written before are of other calls.
    """
    found = []
    for path in sorted({path for folder in folders for path in folder.rglob("*.log")}):
        if path.stat().st_mtime >= since:
            lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            if lines and (lines[-1].startswith("error: ") or "Traceback" in "".join(lines)):
                found.append(f"{path}: {lines[-1].removeprefix('error: ')}")
    return found
