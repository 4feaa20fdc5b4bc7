"""Write a run's spec: its draft, completed by the digest of its data and its parents."""

import argparse
import json
from pathlib import Path

from model.files import write_atomically
from workflow.planning.identity import complete
from workflow.scripts.failure import one_sentence
from workflow.scripts.job import read_json


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", type=json.loads, required=True, help="the draft, as JSON")
    parser.add_argument("--manifest", type=Path, required=True, help="manifest of the data")
    parser.add_argument("--parent", action="append", default=[], help="name=path of its spec")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    given = parser.parse_args()
    with one_sentence():
        digest = read_json(given.manifest)["digest"]
        parents = {}
        for item in given.parent:
            name, _, path = item.partition("=")
            parents[name] = read_json(Path(path))["identity"]
        spec = complete(given.spec, digest, parents)
        write_atomically(given.out, (json.dumps(spec, indent=2, sort_keys=True) + "\n").encode())


if __name__ == "__main__":
    main()
