"""Remove a run from the store, and its outputs, so that it trains again."""

import argparse
import re
import shutil
from pathlib import Path

from workflow.runtime.errors import UserError
from workflow.runtime.failure import exit_on_user_error
from workflow.runtime.integrity import Damaged, read_verified
from workflow.runtime.store import Entry
from workflow.terminal import arguments

OUTPUTS = ("weights.safetensors", "history.jsonl", "run.json", "checkpoints", "spec.json")
"""What `train` writes into a run's folder."""
IDENTITY = re.compile(r"[0-9a-f]{16}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.share(parser, "--results")
    parser.add_argument("--run", default="", help="its identity, as its run.json states it")


def main(args: argparse.Namespace) -> None:
    """Forget the run."""
    results = arguments.results_of(args)
    with exit_on_user_error(results):
        delete_run(args.run, results)


def delete_run(run: str, results: Path) -> None:
    """Remove a run from the store, and its outputs.

    Raises UserError when there is no such run, or this project did not make what has its name.
    """
    store = results / "store"
    if not IDENTITY.fullmatch(run):
        raise UserError(
            f"{store} holds no run '{run}'; name one by its identity, the 16 hex digits in its "
            f"run.json"
        )
    entry = next((path for path in store.glob("*") if path.name == run), None)
    # A process claims an entry by a file of that name.
    if entry is not None and (entry.is_symlink() or not any(entry.glob("generation-*"))):
        raise UserError(
            f"{entry} is no run of this project, so nothing was removed; take it away yourself"
        )
    copies = folders(results).get(run, [])
    if link := next((folder for folder in copies if folder.is_symlink()), None):
        raise UserError(f"{link} is a link, so nothing was removed; take it away yourself")
    if not copies and entry is None:
        raise UserError(f"{store} holds no run '{run}'; a run's identity stands in its run.json.")
    # The copies first: forgetting that is cut short can be repeated.
    for folder in copies:
        for name in OUTPUTS:
            remove(folder / name)
        print(f"removed the outputs in {folder}")
    if entry is not None:
        _empty(entry)
    print(f"forgot {run}; the next snakemake that needs it trains it again")


def folders(results: Path) -> dict[str, list[Path]]:
    """The run folders of all scales by the identity that their spec, or their run.json, names."""
    by_identity: dict[str, list[Path]] = {}
    for folder in sorted(results.glob("*/runs/*/*/seed-*")):
        files = [path for name in ("spec.json", "run.json") if (path := folder / name).is_file()]
        try:
            named = {named_by(path) for path in files}
        except Damaged as error:
            raise UserError(f"{error}; nothing was forgotten: mend it first (make mend).") from None
        for identity in named:
            by_identity.setdefault(identity, []).append(folder)
    return by_identity


def named_by(path: Path) -> str:
    """Return the identity that a spec.json or run.json names; UserError without one."""
    identity = read_verified(path).get("identity")
    if not isinstance(identity, str):
        raise UserError(f"{path} names no run; delete it, and the next snakemake makes it anew")
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
