"""Validate RO-Crates by roc-validator, and see that it finds planted faults.

`make crates` runs it in its own environment: python -m tests.laboratory.validated [crate ...]. It
needs no network: the terms of the context of RO-Crate 1.1 that are used are put into its cache.
"""

import io
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from requests import Request
from requests.adapters import HTTPAdapter
from rocrate_validator.models import Severity
from rocrate_validator.services import ValidationSettings, validate, validate_metadata_as_dict
from rocrate_validator.utils.http import HttpRequester
from urllib3 import HTTPResponse

PROFILE = "provenance-run-crate"
CONTEXT = "https://w3id.org/ro/crate/1.1/context"
OTHER = {
    "File": "http://schema.org/MediaObject",
    "ComputationalWorkflow": "https://bioschemas.org/ComputationalWorkflow",
    "conformsTo": "http://purl.org/dc/terms/conformsTo",
}
"""The terms of that context that are not schema.org's under their own name."""
LOCAL = "process-run-crate-0.5_5.1"
"""Asks for identifiers that begin with http, also of the workflow, which is a file in the crate."""
Crate = dict[str, Any]


def main() -> None:
    """Validate the crates that are named, else all that are published; exit 1 for a problem."""
    named = [Path(one) for one in sys.argv[1:]]
    crates = named or sorted(Path("docs/reproduction").glob("*/ro-crate-metadata.json"))
    wrong = 0
    for path in crates:
        crate = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as cache:
            settings = offline(crate, path.parent, Path(cache) / "http")
            found = problems(validate(settings))
            print(f"{path}: {len(found)} required or recommended problems")
            for planted, fault in faults(crate):
                caught = problems(validate_metadata_as_dict(fault, settings))
                print(f"{planted}: {'found' if caught else 'NOT FOUND'}")
                wrong += not caught
        wrong += len(found)
        print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(wrong or not crates))


def offline(crate: Crate, folder: Path, cache: Path) -> ValidationSettings:
    """Return settings that ask for all that is recommended, and read the context from a cache."""
    settings = ValidationSettings(
        rocrate_uri=str(folder),
        profile_identifier=PROFILE,
        requirement_severity=Severity.RECOMMENDED,
        cache_path=str(cache),
        offline=True,
    )
    keys = {key for one in crate["@graph"] for key in one if not key.startswith("@")}
    types = {name for one in crate["@graph"] for name in _list(one["@type"])}
    terms = {one: OTHER.get(one, f"http://schema.org/{one}") for one in sorted(keys | types)}
    content = json.dumps({"@context": {**terms, **crate["@context"][1]}}).encode()
    headers = {"Content-Type": "application/ld+json"}
    body = HTTPResponse(
        io.BytesIO(content), headers, 200, preload_content=False, request_url=CONTEXT
    )
    accepted = {"Accept": "application/ld+json, application/json"}
    asked = Request("GET", CONTEXT, headers=accepted).prepare()
    HttpRequester().session.cache.save_response(HTTPAdapter().build_response(asked, body))
    return settings


def problems(result: Any) -> list[str]:
    """Return what a validation found but `LOCAL` of the workflow, a sentence each."""
    return [
        f"{one.severity.name} {one.check.identifier}: {one.message} ({one.violatingEntity})"
        for one in result.get_issues()
        if not (
            one.check.identifier == LOCAL and str(one.violatingPropertyValue).endswith("Snakefile")
        )
    ]


def faults(crate: Crate) -> Iterable[tuple[str, Crate]]:
    """Yield damaged crates, with what was done to them."""
    for name in ("instrument", "endTime"):
        graph = [dict(one) for one in crate["@graph"]]
        del next(one for one in graph if one["@type"] == "CreateAction")[name]
        yield f"an action without {name}", {**crate, "@graph": graph}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


if __name__ == "__main__":
    main()
