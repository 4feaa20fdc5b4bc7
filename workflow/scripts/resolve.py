"""Write a run's spec: its draft, completed by the digest of its data and its parents."""

import argparse
import json
from pathlib import Path
from typing import Any

from model.files import write_atomically
from workflow.planning.identity import identity
from workflow.scripts.job import read_json


def complete(draft: dict[str, Any], digest: str, parents: dict[str, str]) -> dict[str, Any]:
    """Return the spec of a draft.

    Args:
        draft: everything that the configuration tells.
        digest: of the contents of the encoded data.
        parents: identity of each parent by its name.
    """
    spec = draft | {"data": draft["data"] | {"digest": digest}, "parents": parents}
    return spec | {"identity": identity(spec)}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", type=json.loads, required=True, help="the draft, as JSON")
    parser.add_argument("--manifest", type=Path, required=True, help="manifest of the data")
    parser.add_argument("--parent", action="append", default=[], help="name=path of its spec")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    arguments = parser.parse_args()
    digest = read_json(arguments.manifest)["digest"]
    parents = {}
    for item in arguments.parent:
        name, _, path = item.partition("=")
        parents[name] = read_json(Path(path))["identity"]
    spec = complete(arguments.spec, digest, parents)
    text = json.dumps(spec, indent=2, sort_keys=True) + "\n"
    write_atomically(arguments.out, text.encode())


if __name__ == "__main__":
    main()
