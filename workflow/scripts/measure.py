"""Measure a run: every evaluator in one job, each found in the store if it ran before."""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from model.store import Entry, write_atomically
from workflow.planning.identity import digest


def main() -> None:
    """Run from the command line."""
    arguments = _arguments()
    spec = json.loads(arguments.spec.read_text())
    cache = Entry(arguments.store, spec["identity"]).folder / "measures"
    statistics = digest(json.loads((arguments.data / "manifest.json").read_text())["statistics"])
    found, subject = {}, None
    for name, node in arguments.evaluators.items():
        path = cache / f"{name}-{digest([node, statistics])[:16]}.json"
        if not path.is_file():
            subject = subject or _subject(spec, arguments)
            write_atomically(path, json.dumps(_measure(name, node, subject)).encode())
        found[name] = json.loads(path.read_text())
    measures = {
        "schema": 1,
        "identity": spec["identity"],
        "run": spec["run"],
        "evaluators": found,
    }
    write_atomically(arguments.out, (json.dumps(measures, sort_keys=True) + "\n").encode())


def _subject(spec: dict[str, Any], arguments: argparse.Namespace) -> Any:
    """The trained model and its data."""
    import torch
    from safetensors.torch import load_file

    from model.corpus import Corpus
    from model.memory import keep_freed_memory
    from model.probes.measure import Subject
    from model.training import TrainingFailed, build_model, load_weights, set_numerics

    keep_freed_memory()
    set_numerics(spec["training"])
    cuda = arguments.device != "cpu" and torch.cuda.is_available()
    device = torch.device("cuda" if cuda else "cpu")
    corpus = Corpus(arguments.data)
    model = build_model(spec, corpus)
    path = arguments.run / "weights.safetensors"
    try:
        load_weights(model, load_file(path), str(path))
    except TrainingFailed as error:
        sys.exit(f"error: {error}")
    return Subject(model.to(device).eval(), corpus, device, spec["seed"])


def _measure(name: str, node: dict[str, Any], subject: Any) -> dict[str, Any]:
    """Run one evaluator."""
    from model.build import build

    begun = time.monotonic()
    evaluator = build({key: value for key, value in node.items() if key != "code"})
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
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    return parser.parse_args()


if __name__ == "__main__":
    main()
