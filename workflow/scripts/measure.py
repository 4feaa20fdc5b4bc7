"""Measure a run: every evaluator in one job, each found in the store if it ran before."""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from model.files import write_atomically
from model.store import Entry
from workflow.datasets.files import sha256
from workflow.errors import Mistake
from workflow.planning.identity import digest, parts
from workflow.scripts.failure import one_sentence
from workflow.scripts.job import check_code, load_subject, read_json, read_spec


def main() -> None:
    """Run from the command line."""
    given = _arguments()
    with one_sentence():
        spec = read_spec(given.spec)
        try:
            measures = {
                "schema": 1,
                "identity": spec["identity"],
                "run": spec["run"],
                "evaluators": _evaluate(spec, given),
                "records": _named(given.record),
            }
            write_atomically(given.out, (json.dumps(measures, sort_keys=True) + "\n").encode())
        except Mistake:  # a whole sentence already
            raise
        except (OSError, ValueError) as error:
            raise Mistake(f"run {spec['identity']} cannot be measured: {error}") from None


def _evaluate(spec: dict[str, Any], given: argparse.Namespace) -> dict[str, Any]:
    """What each evaluator finds, or found when it ran before."""
    cache = Entry(given.store, spec["identity"]).folder / "measures"
    statistics = digest(read_json(given.data / "manifest.json")["statistics"])
    found, subject, history = {}, None, []
    for name, node in given.evaluators.items():
        further = _further_data(given.further, name)
        records = _records(given.record, name)
        digests = [read_json(folder / "manifest.json")["digest"] for folder in further.values()]
        digests += [sha256(file) for _, file in records]
        path = cache / f"{name}-{digest([node, statistics, *digests])[:16]}.json"
        if not path.is_file():
            check_code(f"evaluator '{name}'", parts(node), node["code"])
            if subject is None:
                folders = (given.run, given.data)
                subject = load_subject(spec, *folders, given.device)
                history = _history(given.run)
            result = _measure(name, node, spec, subject, history, further, records)
            write_atomically(path, json.dumps(result).encode())
        found[name] = read_json(path)
    return found


def _further_data(given: list[str], name: str) -> dict[str, Path]:
    """The folders of what an evaluator reads beside the run's data, by argument."""
    found = {key.partition("."): folder for key, folder in _pairs(given)}
    return {argument: folder for (of, _, argument), folder in found.items() if of == name}


def _records(given: list[str], name: str) -> list[tuple[str, Path]]:
    """The records that an evaluator reads, each with its argument.

    Raises ValueError when one is not there.
    """
    found = []
    for key, file in _pairs(given):
        evaluator, _, argument = key.partition(".")
        if evaluator == name:
            if not file.is_file():
                raise ValueError(f"{file} does not exist: record that run first.")
            found.append((argument, file))
    return found


def _named(given: list[str]) -> dict[str, list[str]]:
    """The runs whose records are read, as `<experiment>/<variant>/seed-<n>`, by argument."""
    found: dict[str, list[str]] = {}
    for key, file in _pairs(given):
        found.setdefault(key, []).append("/".join(file.with_suffix("").parts[-3:]))
    return found


def _pairs(given: list[str]) -> list[tuple[str, Path]]:
    """Key, `<evaluator>.<argument>`, and path of each `key=path`."""
    pairs = (text.partition("=") for text in given)
    return [(key, Path(path)) for key, _, path in pairs]


def _history(run: Path) -> list[dict[str, Any]]:
    """The rows that training recorded."""
    path = run / "history.jsonl"
    try:
        return [json.loads(line) for line in path.read_text().splitlines()]
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}); delete it and run again.") from error


def _measure(
    name: str,
    node: dict[str, Any],
    spec: dict[str, Any],
    subject: Any,
    history: list[dict[str, Any]],
    further: dict[str, Path],
    records: list[tuple[str, Path]],
) -> dict[str, Any]:
    """Run one evaluator; it gets the history and the spec if it names them."""
    from model.build import build
    from model.corpus import Corpus
    from model.record import Record

    begun = time.monotonic()
    made_of = {key: node[key] for key in ("code", "recorded") if key in node}
    arguments = {key: value for key, value in node.items() if key not in made_of}
    arguments |= {argument: Corpus(folder) for argument, folder in further.items()}
    for key, value in node.items():
        if isinstance(value, dict) and "variant" in value:
            read = [Record.read(file) for argument, file in records if argument == key]
            arguments[key] = read if value.get("others") else (read or [None])[0]
    evaluator = build(arguments, history=history, spec=spec)
    scalars, arrays = evaluator(subject)
    seconds = round(time.monotonic() - begun, 3)
    print(f"{name}: {seconds:.1f} s", file=sys.stderr)
    return {**made_of, "seconds": seconds, "scalars": scalars, "arrays": arrays}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", type=Path, required=True, help="the resolved spec.json")
    parser.add_argument("--run", type=Path, required=True, help="folder of the trained run")
    parser.add_argument("--data", type=Path, required=True, help="folder of the encoded corpus")
    parser.add_argument("--store", type=Path, required=True, help="the store of runs")
    parser.add_argument("--evaluators", type=json.loads, required=True, help="nodes by name, JSON")
    parser.add_argument(
        "--further",
        action="append",
        default=[],
        metavar="EVALUATOR.ARGUMENT=FOLDER",
        help="an encoded corpus that an evaluator reads beside the run's data",
    )
    parser.add_argument(
        "--record",
        action="append",
        default=[],
        metavar="EVALUATOR.ARGUMENT=FILE",
        help="the record of a run that an evaluator reads; again for several of them",
    )
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    return parser.parse_args()


if __name__ == "__main__":
    main()
