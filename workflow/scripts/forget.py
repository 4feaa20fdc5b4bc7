"""Forget runs: one by its identity, which then trains again, or all that no result names."""

import argparse
import re
import shutil
import time
from pathlib import Path

from model.store.checksums import ASIDE, Damaged, read_sealed
from model.store.files import ABANDONED, abandoned
from model.store.runs import Entry
from workflow.errors import Mistake
from workflow.failure import one_sentence
from workflow.locking import held
from workflow.planning.experiments import SCALES
from workflow.scripts.job import ASKED, MERGED

OUTPUTS = ("weights.safetensors", "history.jsonl", "run.json", "checkpoints", "spec.json")
"""What `train` writes into a run's folder."""
UNPACKED = ".merge-"
"""How the folder in the store begins in which `merge` unpacks an archive."""
MARKS = (
    *("store/*/generation-*", "*/runs/*/*/seed-*/spec.json", "*/plan.json"),
    "data/*/*/*/checksums.json",
)
"""What this project alone writes below a folder of results, one of them in every such folder."""
_RUN = re.compile(r"[0-9a-f]{16}")
_SCALE = rf"(?:{'|'.join(SCALES)})(?:\+[^/]+)?(?:/so_far)?"
_ASIDE = re.compile(
    rf"(?:store/{_RUN.pattern}/.+|data/(?!manual/).+"
    rf"|{_SCALE}/(?:(?:runs|records|measures|tables|figures|claims)/.+|[a-z_]+\.\w+))"
    rf"{re.escape(ASIDE)}"
)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True, help="the results folder")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--run", help="the identity of the run to forget, as its run.json states it")
    which.add_argument("--unused", action="store_true", help="all runs that no spec.json names")
    given = parser.parse_args()
    with one_sentence(given.results):
        if given.unused:
            check_results(given.results)
            with held(given.results):
                forget_unused(given.results)
        else:
            forget(given.run, given.results)


def check_results(results: Path) -> None:
    """Raise Mistake for a folder in which this project has made nothing."""
    if not any(path.is_file() for mark in MARKS for path in results.glob(mark)):
        raise Mistake(
            f"{results} is no folder of results of this project, so nothing was removed; name the "
            f"folder: make gc RESULTS=<folder>"
        )


def forget_unused(results: Path) -> None:
    """Remove the runs from the store that nothing names, and files that are of no use.

    These are what was found damaged and set aside, and what was half-written by a process that was
    killed more than a day ago. A run that was merged stays until a result has used it, and one that
    is awaited until its folder has a spec.

    Raises Mistake when a spec was set aside and not yet made anew: it may name a run.
    """
    for lost in results.glob(f"*/runs/*/*/seed-*/spec.json{ASIDE}"):
        if not lost.with_name("spec.json").is_file():
            raise Mistake(
                f"{lost} was set aside and not made anew; nothing was forgotten: start snakemake, "
                f"then try again."
            )
    named = folders(results)
    runs = [one for one in sorted((results / "store").glob("*")) if _RUN.fullmatch(one.name)]
    unused = [one for one in runs if one.name not in named]
    entries = [one for one in unused if not (one / MERGED).exists() and not awaited(one, results)]
    for entry in entries:
        remove(entry)
        print(f"forgot {entry.name}")
    aside = [
        path
        for path in sorted(results.rglob(f"*{ASIDE}"))
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


def forget(run: str, results: Path) -> None:
    """Remove a run from the store, and its outputs.

    Raises Mistake when there is no such run, or this project did not make what has its name.
    """
    store = results / "store"
    if not _RUN.fullmatch(run):
        raise Mistake(
            f"{store} holds no run '{run}'; name one by its identity, the 16 hex digits in its "
            f"run.json"
        )
    entry = next((path for path in store.glob("*") if path.name == run), None)
    if entry is not None and not _of_this_project(entry):
        raise Mistake(
            f"{entry} is no run of this project, so nothing was removed; take it away yourself"
        )
    copies = folders(results).get(run, [])
    if link := next((folder for folder in copies if folder.is_symlink()), None):
        raise Mistake(f"{link} is a link, so nothing was removed; take it away yourself")
    if not copies and entry is None:
        raise Mistake(f"{store} holds no run '{run}'; a run's identity stands in its run.json.")
    # The copies first: forgetting that is cut short can be repeated.
    for folder in copies:
        for name in OUTPUTS:
            remove(folder / name)
        print(f"removed the outputs in {folder}")
    if entry is not None:
        _empty(entry)
    print(f"forgot {run}; the next snakemake that needs it trains it again")


def _of_this_project(entry: Path) -> bool:
    """Whether an entry of the store is a folder, no link to one, that a process has claimed."""
    return not entry.is_symlink() and any(entry.glob("generation-*"))


def folders(results: Path) -> dict[str, list[Path]]:
    """The run folders of all scales by the identity that their spec, or their run.json, names."""
    found: dict[str, list[Path]] = {}
    for folder in sorted(results.glob("*/runs/*/*/seed-*")):
        files = [path for name in ("spec.json", "run.json") if (path := folder / name).is_file()]
        try:
            named = {named_by(path) for path in files}
        except Damaged as error:
            raise Mistake(f"{error}; nothing was forgotten: mend it first (make mend).") from None
        for identity in named:
            found.setdefault(identity, []).append(folder)
    return found


def named_by(path: Path) -> str:
    """Return the identity that a spec.json or run.json names; raises Mistake where it has none."""
    identity = read_sealed(path).get("identity")
    if not isinstance(identity, str):
        raise Mistake(f"{path} names no run; delete it, and the next snakemake makes it anew")
    return identity


def _empty(entry: Path) -> None:
    """Take a run over from whoever trains it, and leave nothing but the claim, which stops that."""
    claim = Entry(entry.parent, entry.name).claim()
    for path in entry.iterdir():
        if path.name != f"generation-{claim.generation}":
            remove(path)


def remove(path: Path) -> None:
    """Remove a file or a folder that may not be there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
