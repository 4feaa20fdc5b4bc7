"""The folders that everything is written to, looked at before anything is."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from workflow.runtime.errors import InputError

ENOUGH = 4096
"""Bytes that show whether a disk is full: many a full one still takes an empty file."""


def results_folder(folder: str, root: Path) -> str:
    """Return the path of the results as Snakemake is to see it: in one form, whoever writes it.

    Raises InputError when it can't be part of a command, holds the project, or can't be written.
    """
    expanded = os.path.expanduser(folder)
    if expanded.startswith("~"):
        raise InputError(f'config: results: "{folder}" begins with a user that is not here')
    path = os.path.normpath(expanded)
    if path.startswith("-") or not path.isprintable():
        raise InputError(
            f'config: results: {json.dumps(folder)} begins with "-" or has a control character; '
            f"name another folder"
        )
    reason = unwritable(Path(path))
    if reason:
        raise InputError(
            f'config: results: nothing can be written to "{path}" ({reason}); name another folder'
        )
    if root.resolve().is_relative_to(Path(path).resolve()):
        raise InputError(
            f'config: results: "{path}" holds the project itself; name a folder in it, or elsewhere'
        )
    return path


def check_mirror(mirror: str | None) -> str:
    """Return the mirror's path, empty without one.

    Raises InputError when it is not a folder with an index.
    """
    if mirror is None:
        return ""
    folder = Path(os.path.expanduser(mirror))
    if not (folder / "SOURCES.tsv").is_file():
        state = "has no index SOURCES.tsv" if folder.is_dir() else "is not a folder"
        raise InputError(
            f'config: mirror: "{mirror}" {state}; name a folder with that index, or set null to '
            f"download from the sources"
        )
    return str(folder)


def check_surroundings(root: Path) -> None:
    """Raise InputError when Snakemake can't write to the working folder or to temporary files.

    Or where it takes a part of the project's path for a name of its own.
    """
    if set("{}") & set(str(root)):
        raise InputError(f"{root}: Snakemake reads braces in the project's path; rename the folder")
    reason = unwritable(Path(".snakemake"))
    if reason:
        raise InputError(
            f'nothing can be written to the working folder "{Path.cwd()}" ({reason}); work in one '
            f"of your own: snakemake --directory FOLDER --snakefile {root / 'Snakefile'}"
        )
    temporary = Path(os.environ.get("TMPDIR", "/tmp"))
    reason = unwritable(temporary) if temporary.is_dir() else ""
    if reason:
        raise InputError(
            f'TMPDIR: nothing can be written to "{temporary}" ({reason}); make room there, or name '
            f"another folder"
        )


def check_module(repository: Path, ref: str) -> None:
    """Raise InputError for a module from `gitfile` whose repository has other files than `ref`."""
    same = ["git", "-C", str(repository), "diff", "--quiet", ref, "--", "model", "workflow"]
    if subprocess.run(same, check=False, capture_output=True).returncode:
        raise InputError(
            f"gitfile: the files of {repository} are not those of {ref}; check it out there, since "
            f"its code is used: git -C {repository} checkout {ref}"
        )


def check_submittable(*folders: Path) -> None:
    """Raise InputError for a folder whose name a shell would change in what is sent to Slurm."""
    for folder in folders:
        odd = next((sign for sign in '$`"\\' if sign in str(folder.absolute())), "")
        if odd:
            raise InputError(
                f"{folder.absolute()}: Slurm's jobs don't find a folder with {odd} in its path; "
                f"rename it, or run without PROFILE= on this machine"
            )


def check_home() -> None:
    """Raise InputError when Snakemake can't write to its cache, which is below HOME."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    if reason := unwritable(cache / "snakemake"):
        raise InputError(
            f'HOME: nothing can be written to "{cache}" ({reason}); name a folder of your own: '
            f"HOME=<folder>"
        )


def unwritable(folder: Path) -> str:
    """Return why nothing can be written below a folder, be it there or not; empty if it can."""
    there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    try:
        longest = os.pathconf(there, "PC_NAME_MAX")
        if any(len(os.fsencode(name)) > longest for name in folder.parts):
            return f"a name in it is longer than {longest} bytes"
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(bytes(ENOUGH))
    except OSError as error:
        return error.strerror or str(error)
    return ""
