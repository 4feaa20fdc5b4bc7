"""Remove runs from the store: one by its identity, or all that no result names any more."""

import argparse
import json
import shutil
import sys
from pathlib import Path


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True, help="the results folder")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--run", help="the identity of the run to forget, as its run.json states it")
    which.add_argument("--unused", action="store_true", help="all runs that no spec.json names")
    arguments = parser.parse_args()
    store = arguments.results / "store"
    if arguments.unused:
        named = used(arguments.results)
        entries = [entry for entry in sorted(store.glob("*")) if entry.name not in named]
    else:
        entries = [entry for entry in store.glob("*") if entry.name == arguments.run]
        if not entries:
            sys.exit(
                f"error: {store} holds no run '{arguments.run}'; "
                f"a run's identity stands in its run.json."
            )
    for entry in entries:
        shutil.rmtree(entry)
        print(f"forgot {entry.name}")
    print(f"{len(entries)} runs removed from the store; results copied out of it are still there")


def used(results: Path) -> set[str]:
    """The identities that the specs of any scale name."""
    return {
        json.loads(spec.read_text())["identity"]
        for spec in results.glob("*/runs/*/*/seed-*/spec.json")
    }


if __name__ == "__main__":
    main()
