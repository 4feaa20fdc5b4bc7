"""Generate the raw files of a dataset that needs no download."""

from workflow.datasets.io.checksums import write_checksums
from workflow.datasets.kinds.recipe import load
from workflow.runtime.errors import DataError
from workflow.runtime.failure import exit_on_user_error
from workflow.terminal import job_arguments


def main() -> None:
    """Run from the command line."""
    given = job_arguments.of_data(__doc__).parse_args()
    with exit_on_user_error():
        dataset = load(given.recipe)
        if not dataset.generated:
            raise DataError(f"Dataset `{dataset.name}` is not generated here: fetch its files.")
        dataset.synthesise(given.out)
        write_checksums(given.out)


if __name__ == "__main__":
    main()
