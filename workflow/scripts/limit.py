"""Write the first examples of every split of encoded data."""

import argparse
from pathlib import Path

from workflow.datasets.encoded.first_examples import write_first_examples
from workflow.runtime.failure import exit_on_user_error


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoded", type=Path, required=True, help="folder of the whole data")
    parser.add_argument("--examples", type=int, required=True, help="of each split")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    given = parser.parse_args()
    with exit_on_user_error():
        write_first_examples(given.encoded, given.examples, given.out)


if __name__ == "__main__":
    main()
