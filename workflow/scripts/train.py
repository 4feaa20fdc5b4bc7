"""Train a run: take it from the store, else resume it, else begin; then copy its result out."""

import argparse
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

from model.store import Entry, Fenced, now, write_atomically
from workflow.planning.closure import code_hash
from workflow.planning.identity import run_modules

ROOT = Path(__file__).resolve().parents[2]
CONTINUE = 75
"""Exit status of a run that stopped with its state saved: the same command continues it."""


def main() -> None:
    """Run from the command line."""
    arguments = _arguments()
    try:
        spec = json.loads(arguments.spec.read_text())
        _check_code(spec)
        entry = Entry(arguments.store, spec["identity"])
        if entry.finished():
            print(f"run {entry.identity} is in the store: nothing to train")
        else:
            _check_data(spec, arguments.data)
            _check_failure(entry)
            _train(spec, entry, arguments)
        entry.copy_result(arguments.out)
    except Fenced as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(
            f"error: {error.strerror or error} ({error.filename or entry.folder}); what was saved "
            f"before is whole: mend the cause and run the same command again to continue."
        )


def _train(spec: dict[str, Any], entry: Entry, arguments: argparse.Namespace) -> None:
    """Train to the end and publish the result to the store."""

    from model.checkpoint import StateKeeper
    from model.corpus import Corpus
    from model.memory import keep_freed_memory
    from model.training import Interrupted, TrainingFailed, train

    keep_freed_memory()
    device = _device(arguments.device)
    claim = entry.claim()
    keeper = StateKeeper(claim, arguments.save_every, _say)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: setattr(keeper, "asked_to_stop", True))
    segments = _begin_segment(spec, entry, device)
    try:
        parents = _parents(spec, arguments.parent)
        trained = train(spec, Corpus(arguments.data), keeper, device, parents, _say)
    except Interrupted as error:
        _say(str(error))
        raise SystemExit(CONTINUE) from None
    except (TrainingFailed, ValueError) as error:
        claim.fail(str(error), _invocation())
        sys.exit(f"error: {error}")
    claim.publish(_write_result(spec, entry, trained, segments, device))


def _write_result(
    spec: dict[str, Any], entry: Entry, trained: Any, segments: list[dict[str, Any]], device: Any
) -> Path:
    """Write the files of a finished run into a folder of their own."""
    import torch
    from safetensors.torch import save_file

    from model.provenance import environment, peak_memory_mb

    files = entry.folder / f".result.{os.getpid()}"
    shutil.rmtree(files, ignore_errors=True)
    files.mkdir()
    save_file(trained.weights, files / "weights.safetensors")
    progress = trained.progress
    rows = "".join(json.dumps(row) + "\n" for row in progress.rows)
    (files / "history.jsonl").write_text(rows)
    kept = entry.folder / "kept"
    shutil.copytree(kept, files / "checkpoints") if kept.is_dir() else (files / "checkpoints").mkdir()
    record = {
        "schema": 1,
        "identity": spec["identity"],
        "code": spec["code"],
        "spec": spec,
        **environment(ROOT, device),
        **peak_memory_mb(device),
        **{name: spec["training"][name] for name in ("threads", "precision", "matmul")},
        "matmul_mode": torch.get_float32_matmul_precision(),
        "parameters": trained.parameters,
        "steps": trained.updates,
        "best_step": progress.best_update,
        "tokens": progress.tokens,
        "tokens_per_second": round(progress.tokens / progress.seconds, 1),
        "device_seconds": round(progress.seconds, 2),
        "wall_seconds": round(time.time() - segments[0]["time"], 2),
        "continuations": segments[1:],
        "finished": now(),
    }
    (files / "run.json").write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")
    return files


def _begin_segment(spec: dict[str, Any], entry: Entry, device: Any) -> list[dict[str, Any]]:
    """Note where and when this process works on the run; `exact` where it resumes bit for bit."""
    import torch

    from model.provenance import cpu_name

    path = entry.folder / "segments.json"
    segments = json.loads(path.read_text()) if path.is_file() else []
    place = {"cpu": cpu_name(), "device": device.type, "torch": torch.__version__}
    same = all(segment[name] == place[name] for segment in segments for name in place)
    began = {"started": now(), "time": time.time(), "job_id": os.environ.get("SLURM_JOB_ID")}
    segments.append({**began, **place, "exact": same and device.type == "cpu"})
    write_atomically(path, json.dumps(segments).encode())
    return segments


def _device(name: str) -> Any:
    import torch

    if name == "cuda" and not torch.cuda.is_available():
        sys.exit("error: device is set to cuda, but torch sees no GPU here; set device: auto or cpu.")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def _parents(spec: dict[str, Any], given: list[str]) -> dict[str, Any]:
    """The weights of the parent runs, each checked to be the one that the spec names."""
    from safetensors.torch import load_file

    folders = {name: Path(path) for name, _, path in (item.partition("=") for item in given)}
    weights = {}
    for name, identity in spec["parents"].items():
        folder = folders.get(name)
        if folder is None or not (folder / "run.json").is_file():
            raise ValueError(f"parent '{name}' of run {spec['identity']} does not exist at {folder}.")
        found = json.loads((folder / "run.json").read_text())["identity"]
        if found != identity:
            raise ValueError(f"parent '{name}' in {folder} is run {found}, not {identity}; rerun it.")
        weights[name] = load_file(folder / "weights.safetensors")
    return weights


def _check_code(spec: dict[str, Any]) -> None:
    """Refuse to train other code than was planned."""
    found = code_hash(run_modules(spec), ROOT)
    if found != spec["code"]:
        sys.exit(
            f"error: the code of run {spec['identity']} has changed since it was planned "
            f"({spec['code']} planned, {found} found); start snakemake again to plan it anew."
        )


def _check_data(spec: dict[str, Any], folder: Path) -> None:
    """Refuse data that is not what was planned, or that was cut short since."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
    except (OSError, ValueError) as error:
        sys.exit(f"error: {folder} is no encoded corpus ({error}); delete it and run again.")
    if manifest["digest"] != spec["data"]["digest"]:
        sys.exit(f"error: the data in {folder} is not what run {spec['identity']} was planned with; "
                 f"start snakemake again to plan it anew.")  # fmt: skip
    for name, file in manifest["files"].items():
        path = folder / name
        size = path.stat().st_size if path.is_file() else 0
        if size != file["bytes"]:
            sys.exit(f"error: {path} has {size} bytes instead of {file['bytes']}; "
                     f"delete {folder} and run again to rebuild it.")  # fmt: skip


def _check_failure(entry: Entry) -> None:
    """Don't try again, in the same invocation, what is known to fail."""
    failure = entry.failure()
    if failure is not None and failure["invocation"] == _invocation():
        sys.exit(f"error: {failure['reason']} (found at {failure['at']}, not tried again)")


def _invocation() -> str:
    """Names the snakemake invocation that this job belongs to; a job by hand is its own."""
    return os.environ.get("SACCADE_INVOCATION", f"{os.getpid()}@{now()}")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", type=Path, required=True, help="the resolved spec.json")
    parser.add_argument("--data", type=Path, required=True, help="folder of the encoded corpus")
    parser.add_argument("--store", type=Path, required=True, help="the store of runs")
    parser.add_argument("--out", type=Path, required=True, help="folder to copy the result to")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--parent", action="append", default=[], help="NAME=folder of its run")
    parser.add_argument("--save-every", type=float, default=120, help="seconds between states")
    return parser.parse_args()


if __name__ == "__main__":
    main()
