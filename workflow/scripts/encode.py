"""Turn prepared text into integer arrays, a vocabulary and a manifest."""

from pathlib import Path

from workflow.datasets.io.checksums import check_checksums
from workflow.datasets.io.multicore import use
from workflow.datasets.kinds.recipe import load
from workflow.runtime.failure import exit_on_user_error
from workflow.terminal import job_arguments


def main() -> None:
    """Run from the command line."""
    parser = job_arguments.of_data(__doc__)
    parser.add_argument("--prepared", type=Path, required=True, help="folder of the .jsonl files")
    parser.add_argument("--threads", type=int, default=1, help="cores to work with, where it helps")
    given = parser.parse_args()
    use(given.threads)
    with exit_on_user_error():
        check_checksums(given.prepared)
        load(given.recipe).encode(given.prepared, given.out)


if __name__ == "__main__":
    main()
