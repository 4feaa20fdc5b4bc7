"""Write a run's spec: its draft, completed by the digest of its data and its parents."""

import argparse
from pathlib import Path

from model.store.checksums import sealed
from model.store.files import write_atomically
from workflow.datasets.io.checksums import read_manifest
from workflow.failure import one_sentence
from workflow.planning.identity import complete
from workflow.scripts.job import read_spec
from workflow.terminal import command


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    draft = command.mapping("run", "data")
    parser.add_argument("--spec", type=draft, required=True, help="the draft")
    parser.add_argument("--manifest", type=Path, required=True, help="manifest of the data")
    parser.add_argument(
        "--parent", type=command.named, action="append", default=[], help="name=path of its spec"
    )
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    given = parser.parse_args()
    with one_sentence():
        digest = read_manifest(given.manifest.parent)["digest"]
        parents = {name: read_spec(path)["identity"] for name, path in given.parent}
        spec = complete(given.spec, digest, parents)
        write_atomically(given.out, sealed(spec, indent=2, sort_keys=True))


if __name__ == "__main__":
    main()
