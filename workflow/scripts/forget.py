"""Forget runs: one by its identity, which then trains again, or all that no result names."""

import argparse
import shutil
import sys
from pathlib import Path

from model.store import Entry
from workflow.scripts.job import read_json

OUTPUTS = ("weights.safetensors", "history.jsonl", "run.json", "checkpoints")
"""What `train` copies out of the store into a run's folder."""


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True, help="the results folder")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--run", help="the identity of the run to forget, as its run.json states it")
    which.add_argument("--unused", action="store_true", help="all runs that no spec.json names")
    arguments = parser.parse_args()
    store, named = arguments.results / "store", folders(arguments.results)
    if arguments.unused:
        entries = [entry for entry in sorted(store.glob("*")) if entry.name not in named]
        for entry in entries:
            shutil.rmtree(entry)
            print(f"forgot {entry.name}")
        print(f"{len(entries)} runs removed from the store")
        return
    copies = named.get(arguments.run, [])
    entry = next((path for path in store.glob("*") if path.name == arguments.run), None)
    if not copies and entry is None:
        sys.exit(
            f"error: {store} holds no run '{arguments.run}'; "
            f"a run's identity stands in its run.json."
        )
    # The copies first: forgetting that is cut short can be repeated.
    for folder in copies:
        for name in OUTPUTS:
            remove(folder / name)
        print(f"removed the outputs in {folder}")
    if entry is not None:
        _empty(entry)
    print(f"forgot {arguments.run}; the next snakemake that needs it trains it again")


def folders(results: Path) -> dict[str, list[Path]]:
    """The run folders of all scales by the identity that their spec names."""
    found: dict[str, list[Path]] = {}
    for spec in sorted(results.glob("*/runs/*/*/seed-*/spec.json")):
        found.setdefault(read_json(spec).get("identity", ""), []).append(spec.parent)
    return found


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
