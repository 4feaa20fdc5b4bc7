"""Find the features of a dataset's images, which a person put where they belong."""

import argparse
from pathlib import Path

from workflow.datasets.kinds.image_features import find, write_index
from workflow.runtime.failure import exit_on_user_error


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True, help="whose images")
    parser.add_argument("--manual", type=Path, required=True, help="folder of what is got by hand")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    given = parser.parse_args()
    with exit_on_user_error():
        write_index(find(given.manual, given.dataset), given.out)


if __name__ == "__main__":
    main()
