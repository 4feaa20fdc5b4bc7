"""Compare data, store, outputs and what is published with their checksums."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from functools import partial
from pathlib import Path

from workflow import PUBLISHED, ROOT
from workflow.datasets.fetched import origins
from workflow.datasets.fetched.fetching import put_by_hand
from workflow.datasets.io.dataset_files import parse_json
from workflow.datasets.kinds.own_files import RECORD
from workflow.files import SIDECARS
from workflow.planning.configured import read_files
from workflow.reporting.publication.crate import NAME as CRATE
from workflow.reporting.publication.results import INDEX, RUNS, by_experiment
from workflow.runtime.errors import UserError
from workflow.runtime.failure import exit_on_user_error
from workflow.runtime.integrity import (
    QUARANTINED,
    Checksums,
    Damaged,
    check_files,
    read_digest_prefixed,
    read_verified,
    sha256,
)
from workflow.runtime.json_lines import read_lines
from workflow.runtime.store import read_result
from workflow.scripts.job import say
from workflow.terminal import arguments

SEALED = (
    *("data/sources/*/*.origin.json", "data/*/*/*/checksums.json", "data/*/*/*/manifest.json"),
    *("store/*/records/*.json", "store/*/measures/*.json"),
    *("*/plan.json", "*/runs/*/*/*/spec.json", "*/records/*/*/*.json", "*/measures/*/*/*.json"),
)
MADE = ("report.json", "explorer.json", "tables/*/*.json", "figures/*/*.json", "claims/*.json")
"""Below the folder of a scale, and below that of what is done of it so far."""
EVERY = 5
"""Seconds between lines of progress."""
SKEW = 60
"""Seconds that the clocks of two machines may differ."""

Check = tuple[Path, Callable[[Path], object]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.share(parser, "--results", "--configfile")
    parser.add_argument("--published", type=Path, default=PUBLISHED, help="what is published")


def main(args: argparse.Namespace) -> None:
    """Say what is damaged; exit with status 1 where anything is."""
    damaged, early = compared(args)
    if not damaged and not early:
        return
    if early or not all(error.path.is_relative_to(args.published) for error in damaged):
        print("Mend the results: make mend")
    sys.exit(1)


def compared(args: argparse.Namespace) -> tuple[list[Damaged], list[Path]]:
    """Return what is damaged, and which results have a time in the future; say so, too."""
    results = arguments.results_of(args)
    with exit_on_user_error(results):
        refuse_missing(results)
        checks = [*of_results(results), *of_published(args.published)]
        damaged = verify(checks)
    early = from_the_future(results)
    for path in replaced(results):
        print(f"{path} is another file than the one that was used: the next run takes it")
    for error in damaged:
        print(error)
    for path in early:
        print(f"{path} has a time in the future: Snakemake takes what is made of it for outdated")
    print(f"{len(damaged)} of {len(checks)} results, data and tables damaged")
    published = [error.path for error in damaged if error.path.is_relative_to(args.published)]
    if published:
        print(f"Restore what is published: git restore {' '.join(map(str, published))}")
    return damaged, early


def refuse_missing(results: Path) -> None:
    """Raise UserError for a folder that is missing; the configured one is, in a fresh clone."""
    if not results.is_dir() and results != Path(str(read_files(ROOT)[0]["results"])):
        raise UserError(f"{results} is no folder; name that of the results: RESULTS=<folder>")


def of_results(results: Path) -> Iterator[Check]:
    """Yield what there is to check below a folder of results, and how; not what was set aside."""
    for path, check in _of_patterns(results):
        if not any(part.endswith(QUARANTINED) for part in path.relative_to(results).parts):
            yield path, check


def _of_patterns(results: Path) -> Iterator[Check]:
    for pattern in (*SEALED, *(f"*/{name}" for name in MADE), *(f"*/so_far/{n}" for n in MADE)):
        yield from ((path, _sealed) for path in results.glob(pattern))
    for pattern in ("store/*/result", "*/runs/*/*/*/run.json"):
        yield from ((path, _result) for path in results.glob(pattern))
    for pattern in ("store/*/state-*.pt", "store/*/kept/step-*"):
        yield from ((path, read_digest_prefixed) for path in results.glob(pattern))


def of_published(published: Path) -> Iterator[Check]:
    """Yield what there is to check of what is published: sealed JSON, and files of lines of it."""
    for index in published.glob(f"*/{INDEX}"):
        folder = index.parent
        yield index, _index
        sealed = {*folder.glob("*.json"), *folder.glob("claims/*.json")}
        yield from ((path, _sealed) for path in sealed - {index, folder / CRATE})
        names = [name for name in _listed(index) if name.endswith(".jsonl")]
        lines = {*folder.rglob("*.jsonl"), *(folder / name for name in names)}
        yield from ((path, partial(_lines, folder)) for path in lines)


def verify(checks: Sequence[Check]) -> list[Damaged]:
    """Return what is damaged, in the order of the names; on all cores, saying how far it is."""
    begun = reported = time.monotonic()
    damaged: dict[Path, Damaged] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(_fault, check, path) for path, check in checks]
        for done, future in enumerate(as_completed(running), start=1):
            if (fault := future.result()) is not None:
                damaged.setdefault(fault.path, fault)
            if (now := time.monotonic()) - reported >= EVERY:
                reported, left = now, (now - begun) / done * (len(checks) - done)
                say(f"{done} of {len(checks)} verified, about {left:.0f} s left")
    return sorted(damaged.values(), key=lambda error: error.path)


def from_the_future(results: Path) -> list[Path]:
    """Return the files that were written later than now, as after a clock was set back."""
    now = time.time()
    return sorted(path for path in results.rglob("*") if path.lstat().st_mtime > now + SKEW)


def replaced(results: Path) -> list[Path]:
    """Return the files, got by hand or a user's own, that are others than those that were used."""
    manual, fetched = results / "data" / "manual", results / "data" / "sources"
    files = []
    for path in sorted(manual.glob("*/*")):
        out = fetched / path.relative_to(manual)
        with suppress(Damaged):
            used = origins.read(out)
            if used and put_by_hand(path, out) not in ("", used.sha256):
                files.append(path)
    own: dict[Path, set[str]] = {}
    for record in results.glob(f"data/*/*/prepared/{RECORD}"):
        for name, checksum in (parse_json(record.read_bytes()) or {}).items():
            own.setdefault(Path(name), set()).add(checksum)
    return files + sorted(p for p, sums in own.items() if p.is_file() and sha256(p) not in sums)


def _fault(check: Callable[[Path], object], path: Path) -> Damaged | None:
    """Return what is wrong, None where nothing is; what is gone meanwhile is nobody's fault."""
    try:
        check(path)
    except Damaged as error:
        return error
    except FileNotFoundError:
        return Damaged(path, f"{path}: run.json is missing") if path.name == "result" else None
    except OSError as error:
        return Damaged(path, f"{path}: {error.strerror}")
    return None


def _sealed(path: Path) -> None:
    check_files(path.parent, read_verified(path).get("files", {}))


def _listed(index: Path) -> Checksums:
    """Return the files that the index of what is published lists, none where it is damaged."""
    try:
        files: Checksums = read_verified(index)["files"]
    except Damaged:
        return {}
    return files


def _index(index: Path) -> None:
    files = read_verified(index)["files"].items()
    check_files(index.parent, {name: it for name, it in files if not name.endswith(".jsonl")})


def _lines(folder: Path, path: Path) -> None:
    """Check a file of lines published in a folder: all that belong there, once, and whole."""
    if path.name == SIDECARS:
        folders = {
            f"{file.parent.name}/{file.stem}": file.parent for file in path.parent.glob("*/*")
        }
        for key, sidecar in read_lines(path, folders).items():
            check_files(folders[key], sidecar["files"])
    elif path.parent.name == RUNS:
        index = read_verified(folder / INDEX)
        read_lines(path, by_experiment(index["runs"]).get(path.stem, {}))
    else:
        read_lines(path)
    mine = path.relative_to(folder).as_posix()
    check_files(folder, {name: it for name, it in _listed(folder / INDEX).items() if name == mine})


def _result(path: Path) -> None:
    read_result(path if path.name == "result" else path.parent)
