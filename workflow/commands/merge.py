"""Take the runs that a bundle trained into the store, where Snakemake finds them.

Everything is compared with its checksums before anything is added. A run that the store has already
stays. A run whose weights are not finite is left out.
"""

import argparse
import lzma
import os
import shutil
import sys
import tarfile
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

from workflow import ROOT
from workflow.commands.forget import named_by, remove
from workflow.lent.runner import LISTING, RESULTS, SCHEMA
from workflow.planning.code import Project
from workflow.planning.identity import identity, run_roots
from workflow.planning.run_files import RunRecord
from workflow.runtime.atomic import flush
from workflow.runtime.errors import UserError
from workflow.runtime.failure import exit_on_user_error
from workflow.runtime.integrity import Damaged, sha256, unpack_archive
from workflow.runtime.store import Entry, read_result
from workflow.scripts.job import MERGED, load_weights, say
from workflow.terminal import arguments

UNPACKED = ".merge-"
"""How the folder in the store begins in which an archive is unpacked."""
FURTHER = ("records", "measures")
"""What is kept of a run beside its result."""
ODD = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What is raised where a listing is no listing."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.share(parser, "--results")
    parser.add_argument("--from", dest="archive", default="", help="the results of a bundle")


def main(args: argparse.Namespace) -> None:
    """Check the archive, and add its runs."""
    archive, results = Path(args.archive), arguments.results_of(args)
    with exit_on_user_error(results):
        if not args.archive:
            raise UserError("no file to merge; name one: make merge FROM=results.tar")
        if fault := unreadable(archive):
            raise UserError(f"{fault}; name what a bundle wrote: make merge FROM=results.tar")
        store = results / "store"
        for place in (results, store):
            if place.exists() and not place.is_dir():
                raise UserError(
                    f"{place} is no folder; move it away, or name another with RESULTS="
                )
        store.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=UNPACKED, dir=store) as folder:
            accepted, refused = checked(archive, Path(folder))
            unfinished = [
                one.name
                for one in sorted(Path(folder).glob("store/*"))
                if not (one / "result").is_dir()
            ]
            for one in accepted:
                if os.path.lexists(store / one.name) and not (store / one.name).is_dir():
                    raise UserError(
                        f"{store / one.name} is no folder; move it away, and merge again"
                    )
            used = used_runs(results)
            counts = Counter(add(it, Entry(store, it.name), it.name in used) for it in accepted)
    for reason in (*refused, *(f"run {name} is not finished" for name in unfinished)):
        say(f"left out: {reason}")
    counts["not finished"], counts["left out"] = len(unfinished), len(refused)
    summary = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()) if count)
    print(f"Runs of {args.archive}: {summary or 'none'}")
    sys.exit(1 if refused else 0)


def unreadable(archive: Path) -> str:
    """Return why a path can't be an archive; empty where it can."""
    if archive.is_dir():
        return f"{archive} is a folder"
    if not archive.exists():
        return f"{archive} does not exist"
    return "" if archive.is_file() else f"{archive} is no file, but a pipe or a device"


def checked(archive: Path, folder: Path) -> tuple[list[Path], list[str]]:
    """Unpack and check an archive of results.

    Returns:
        The folders of its finished runs, and why others are left out.

    Raises:
        UserError: anything is not as it was packed.
    """
    try:
        if unpack_archive(archive, RESULTS, folder)["schema"] != SCHEMA:
            raise UserError(f"{archive} is of another version; merge it where it was packed")
        finished = sorted(path.parent for path in folder.glob("store/*/result"))
        records = {path: read_result(path / "result") for path in finished}
        claimed = {path: (it["identity"], identity(it["spec"])) for path, it in records.items()}
    except UserError:
        raise
    except (Damaged, lzma.LZMAError, tarfile.TarError, *ODD) as error:
        if any(folder.glob(f"*/{LISTING}")):
            raise UserError(
                f"{archive} is a bundle; name what was made of it there: make merge "
                "FROM=results.tar"
            ) from None
        fault = error if isinstance(error, Damaged) else f"{archive} is cut short or damaged"
        raise UserError(
            f"{fault}; nothing was added: copy it again from where it was made"
        ) from None
    project, accepted, refused = Project(ROOT), [], []
    for path, record in records.items():
        if {path.name} != {*claimed[path]}:
            raise UserError(
                f"{archive}: {path.name} is not the run that it says; nothing was added"
            )
        if other_code(record, project):
            refused.append(f"run {path.name} is of other code than is here; pack it again")
        elif fault := not_finite(path / "result"):
            refused.append(f"run {path.name}: {fault}; train it again, and merge that")
        else:
            accepted.append(path)
    return accepted, refused


def other_code(record: RunRecord, project: Project) -> bool:
    """Return whether a run was trained by other code than is here now."""
    try:
        return project.code(run_roots(record["spec"])) != record["spec"]["code"]
    except UserError:
        return True


def not_finite(result: Path) -> str:
    """Return which weights of a run can't be used; empty where all can."""
    for path in sorted(result.rglob("*.safetensors")):
        name = path.relative_to(result)
        try:
            weights = load_weights(path)
        except Damaged:
            return f"{name} holds no weights"
        for part, weight in weights.items():
            if not weight.isfinite().all():
                return f"{part} in {name} has a value that is not finite"
    return ""


def used_runs(results: Path) -> set[str]:
    """Return the identities of the runs whose results were copied out of the store."""
    identities = set()
    for path in results.glob("*/runs/*/*/seed-*/run.json"):
        with suppress(Damaged):
            identities.add(named_by(path))
    return identities


def add(new: Path, entry: Entry, used: bool) -> str:
    """Add a run to the store unless it is there; return what was done.

    Args:
        new: its folder.
        entry: its place in the store.
        used: whether a result has used the run that is there; if not, `make gc` keeps it.
    """
    if entry.whole(say):
        if sha256(new / "result/run.json") != sha256(entry.result / "run.json"):
            say(
                f"left out: run {entry.identity} was trained here too, and that training stays; to "
                f"take the other: make forget RUN={entry.identity}, then merge again"
            )
            return "trained twice, of which the other stays"
        share(new, entry)
        done = "there already"
    else:
        claim = entry.claim()
        for name in ("result", *FURTHER):
            remove(entry.folder / name)
        for path in new.rglob("*"):
            flush(path)
        share(new, entry)
        claim.adopt(new / "result")
        done = "added"
    if not used:
        (entry.folder / MERGED).touch()
    return done


def share(new: Path, entry: Entry) -> None:
    """Move records and measures into the store that it does not have, checksums last."""
    for name in FURTHER:
        for path in sorted((new / name).glob("*"), key=lambda path: (path.suffix == ".json", path)):
            target = entry.folder / name / path.name
            if not target.exists():
                target.parent.mkdir(exist_ok=True)
                shutil.move(path, target)
