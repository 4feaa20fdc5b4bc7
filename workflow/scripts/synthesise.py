"""Generate the raw files of a dataset that needs no download."""

import argparse
from pathlib import Path

from workflow.datasets.io.checksums import write_checksums
from workflow.datasets.kinds.recipe import load
from workflow.errors import DataError
from workflow.scripts import command
from workflow.scripts.failure import one_sentence


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    recipe = command.mapping("dataset")
    parser.add_argument("--recipe", type=recipe, required=True, help="the recipe")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    given = parser.parse_args()
    with one_sentence():
        dataset = load(given.recipe)
        if not dataset.generated:
            raise DataError(f"Dataset `{dataset.name}` is not generated here: fetch its files.")
        dataset.synthesise(given.out)
        write_checksums(given.out)


if __name__ == "__main__":
    main()
