"""Remove the runs from the store that no result names, and files of no use."""

import argparse
import re
import time
from pathlib import Path

from workflow.commands.forget import IDENTITY, folders, remove
from workflow.commands.merge import UNPACKED
from workflow.planning.experiments import SCALES
from workflow.runtime.atomic import ABANDONED, abandoned
from workflow.runtime.errors import UserError
from workflow.runtime.failure import exit_on_user_error
from workflow.runtime.integrity import QUARANTINED
from workflow.runtime.locking import held
from workflow.scripts.job import ASKED, MERGED
from workflow.terminal import arguments

MARKS = (
    *("store/*/generation-*", "*/runs/*/*/seed-*/spec.json", "*/plan.json"),
    "data/*/*/*/checksums.json",
)
"""What this project alone writes below a folder of results, one of them in every such folder."""
_SCALE = rf"(?:{'|'.join(SCALES)})(?:\+[^/]+)?(?:/so_far)?"
_ASIDE = re.compile(
    rf"(?:store/{IDENTITY.pattern}/.+|data/(?!manual/).+"
    rf"|{_SCALE}/(?:(?:runs|records|measures|tables|figures|claims)/.+|[a-z_]+\.\w+))"
    rf"{re.escape(QUARANTINED)}"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.share(parser, "--results")


def main(args: argparse.Namespace) -> None:
    """Forget what is unused."""
    results = arguments.results_of(args)
    with exit_on_user_error(results):
        check_results(results)
        with held(results):
            forget_unused(results)


def check_results(results: Path) -> None:
    """Raise UserError for a folder in which this project has made nothing."""
    if not any(path.is_file() for mark in MARKS for path in results.glob(mark)):
        raise UserError(
            f"{results} is no folder of results of this project, so nothing was removed; name the "
            f"folder: make gc RESULTS=<folder>"
        )


def forget_unused(results: Path) -> None:
    """Remove the runs from the store that nothing names, and files that are of no use.

    These are what was found damaged and set aside, and what was half-written by a process that was
    killed more than a day ago. A run that was merged stays until a result has used it, and one that
    is awaited until its folder has a spec.

    Raises UserError when a spec was set aside and not yet made anew: it may name a run.
    """
    for lost in results.glob(f"*/runs/*/*/seed-*/spec.json{QUARANTINED}"):
        if not lost.with_name("spec.json").is_file():
            raise UserError(
                f"{lost} was set aside and not made anew; nothing was forgotten: start snakemake, "
                f"then try again."
            )
    named = folders(results)
    runs = [one for one in sorted((results / "store").glob("*")) if IDENTITY.fullmatch(one.name)]
    unused = [one for one in runs if one.name not in named]
    entries = [one for one in unused if not (one / MERGED).exists() and not awaited(one, results)]
    for entry in entries:
        remove(entry)
        print(f"forgot {entry.name}")
    aside = [
        path
        for path in sorted(results.rglob(f"*{QUARANTINED}"))
        if _ASIDE.fullmatch(path.relative_to(results).as_posix())
    ]
    halves = [*abandoned(results), *_unpacked(results / "store")]
    for path in (*aside, *halves):
        remove(path)
        print(f"removed {path}")
    print(
        f"{len(entries)} runs removed from the store, {len(aside)} damaged files and {len(halves)} "
        f"half-written ones"
    )
    if kept := len(unused) - len(entries):
        print(
            f"{kept} runs stay that were merged or are not finished, and that no result has used "
            f"yet; make forget RUN= removes one"
        )


def awaited(entry: Path, results: Path) -> bool:
    """Whether the folder that asked for a run last is there and has no spec.

    Then its training was cut short: before it begins, Snakemake removes what was there.
    """
    if not (asked := entry / ASKED).is_file():
        return False
    folder = results / asked.read_text()
    return folder.is_dir() and not (folder / "spec.json").is_file()


def _unpacked(store: Path) -> list[Path]:
    """Return the folders that a merge unpacked into and left when it was killed."""
    oldest = time.time() - ABANDONED
    return [path for path in store.glob(f"{UNPACKED}*") if path.stat().st_mtime < oldest]
