"""Measure a run: every evaluator in one job, each found in the store if it ran before."""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from model.files import write_atomically
from model.store import Entry
from workflow.planning.identity import digest, parts
from workflow.scripts.job import (
    check_code,
    check_data,
    check_run,
    check_run_code,
    load_weights,
    pick_device,
    read_json,
    read_spec,
)


def main() -> None:
    """Run from the command line."""
    arguments = _arguments()
    spec = read_spec(arguments.spec)
    try:
        measures = {
            "schema": 1,
            "identity": spec["identity"],
            "run": spec["run"],
            "evaluators": _evaluate(spec, arguments),
        }
        write_atomically(arguments.out, (json.dumps(measures, sort_keys=True) + "\n").encode())
    except (OSError, ValueError) as error:
        sys.exit(f"error: run {spec['identity']} cannot be measured: {error}")


def _evaluate(spec: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """What each evaluator finds, or found when it ran before."""
    cache = Entry(arguments.store, spec["identity"]).folder / "measures"
    statistics = digest(read_json(arguments.data / "manifest.json")["statistics"])
    found, subject, history = {}, None, []
    for name, node in arguments.evaluators.items():
        further = _further_data(arguments.further, name)
        digests = [read_json(folder / "manifest.json")["digest"] for folder in further.values()]
        path = cache / f"{name}-{digest([node, statistics, *digests])[:16]}.json"
        if not path.is_file():
            check_code(f"evaluator '{name}'", parts(node), node["code"])
            if subject is None:
                subject, history = _subject(spec, arguments), _history(arguments.run)
            result = _measure(name, node, spec, subject, history, further)
            write_atomically(path, json.dumps(result).encode())
        found[name] = read_json(path)
    return found


def _further_data(given: list[str], name: str) -> dict[str, Path]:
    """The folders of what an evaluator reads beside the run's data, by argument."""
    pairs = (text.partition("=") for text in given)
    found = {key.partition("."): Path(folder) for key, _, folder in pairs}
    return {argument: folder for (of, _, argument), folder in found.items() if of == name}


def _subject(spec: dict[str, Any], arguments: argparse.Namespace) -> Any:
    """The trained model and its data."""
    check_run_code(spec)
    check_run("the trained run", arguments.run, spec["identity"])
    check_data(spec, arguments.data)

    from model import training
    from model.corpus import Corpus
    from model.memory import keep_freed_memory
    from model.probes.measure import Subject

    keep_freed_memory()
    training.set_numerics(spec["training"])
    device = pick_device(arguments.device)
    corpus = Corpus(arguments.data)
    model = training.build_model(spec, corpus)
    path = arguments.run / "weights.safetensors"
    try:
        training.load_weights(model, load_weights(path), str(path))
    except training.TrainingFailed as error:
        sys.exit(f"error: {error}")
    return Subject(model.to(device).eval(), corpus, device, spec["seed"])


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
) -> dict[str, Any]:
    """Run one evaluator; it gets the history and the spec if it names them."""
    from model.build import build
    from model.corpus import Corpus

    begun = time.monotonic()
    arguments = {key: value for key, value in node.items() if key != "code"}
    arguments |= {argument: Corpus(folder) for argument, folder in further.items()}
    evaluator = build(arguments, history=history, spec=spec)
    scalars, arrays = evaluator(subject)
    seconds = round(time.monotonic() - begun, 3)
    print(f"{name}: {seconds:.1f} s", file=sys.stderr)
    return {"code": node["code"], "seconds": seconds, "scalars": scalars, "arrays": arrays}


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
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    return parser.parse_args()


if __name__ == "__main__":
    main()
