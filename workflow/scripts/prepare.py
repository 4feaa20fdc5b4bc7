"""Turn raw or fetched files into train.jsonl, dev.jsonl and test.jsonl."""

from pathlib import Path

from workflow.datasets.fetched.origins import verify
from workflow.datasets.fetched.sources import load as load_sources
from workflow.datasets.io.checksums import check_checksums, write_checksums
from workflow.datasets.io.dataset_files import by_name
from workflow.datasets.io.multicore import use
from workflow.datasets.kinds.recipe import load
from workflow.runtime.failure import exit_on_user_error
from workflow.terminal import job_arguments


def main() -> None:
    """Run from the command line; a fetched file is verified again, whoever put it there."""
    parser = job_arguments.of_data(__doc__)
    parser.add_argument("--sources", type=Path, nargs="+", required=True, help="the raw files")
    parser.add_argument("--threads", type=int, default=1, help="cores to work with, where it helps")
    given = parser.parse_args()
    use(given.threads)
    with exit_on_user_error():
        dataset = load(given.recipe)
        listed = load_sources()
        for file in dataset.sources:
            verify(by_name(given.sources, file), listed[dataset.name, file])
        if dataset.raw:
            check_checksums(given.sources[0].parent)
        dataset.prepare(given.sources, given.out)
        write_checksums(given.out)


if __name__ == "__main__":
    main()
