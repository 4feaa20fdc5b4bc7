"""What the programs of a run check and load before they compute.

What is refused, or can't be read, raises Mistake with its sentence.
"""

import json
import os
from pathlib import Path
from typing import Any

from workflow.datasets.files import sha256
from workflow.errors import Mistake
from workflow.paths import ROOT
from workflow.planning.closure import code_hash
from workflow.planning.identity import identity, run_modules


def read_spec(path: Path) -> dict[str, Any]:
    """Read a run's spec; one that was edited after it was resolved is refused."""
    spec = read_json(path)
    try:
        found = identity(spec)
    except (KeyError, TypeError, AttributeError):
        raise Mistake(
            f"{path} is not the spec of a run; delete it and run again to rebuild it."
        ) from None
    if found != spec.get("identity"):
        raise Mistake(
            f"{path} has been edited since it was resolved; delete it, and change the "
            f"experiment or write an overlay instead."
        )
    return spec


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON file that the workflow wrote."""
    try:
        value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Mistake(
            f"{path} cannot be read ({error}); delete it and run again to rebuild it."
        ) from None
    return value


def check_code(of: str, modules: list[str], planned: str) -> None:
    """Refuse to run other code than was planned."""
    try:
        found = code_hash(modules, ROOT)
    except Mistake as error:
        raise Mistake(f"the code of {of} cannot be read: {error}.") from None
    if found != planned:
        raise Mistake(
            f"the code of {of} has changed since it was planned ({planned} planned, "
            f"{found} found); start snakemake again to plan it anew."
        )


def check_run_code(spec: dict[str, Any]) -> None:
    """Refuse to build a run's model from other code than was planned."""
    check_code(f"run {spec['identity']}", run_modules(spec), spec["code"])


def check_data(spec: dict[str, Any], folder: Path) -> None:
    """Refuse data that is not what was planned, or whose files have changed since."""
    manifest = read_json(folder / "manifest.json")
    if manifest["digest"] != spec["data"]["digest"]:
        raise Mistake(
            f"the data in {folder} is not what run {spec['identity']} was planned with; "
            f"start snakemake again to plan it anew."
        )
    for name, file in manifest["files"].items():
        path = folder / name
        try:
            whole = sha256(path) == file["sha256"]
        except FileNotFoundError:
            whole = False
        if not whole:
            raise Mistake(
                f"{path} is missing, cut short or damaged; delete {folder} and run again to "
                f"rebuild it."
            )
    _check_sides(spec, folder, manifest)


def _check_sides(spec: dict[str, Any], folder: Path, manifest: dict[str, Any]) -> None:
    """Refuse pairs whose source has a vocabulary of its own that the model does not have."""
    own = manifest.get("vocabulary_sizes", {}).get("source")
    stated = spec["model"].get("source_vocabulary_size")
    if own != stated:
        data = f"has {own} entries of its own" if own else "is the target's"
        remedy = f"set it to {own}, and model.tie to decoder or none" if own else "take it away"
        raise Mistake(
            f"the source's vocabulary in {folder} {data}, and "
            f"model.source_vocabulary_size of run {spec['identity']} is {stated}; {remedy}."
        )


def check_run(of: str, folder: Path, planned: str) -> None:
    """Refuse a folder of results that are not those of the run that was planned."""
    if not (folder / "run.json").is_file():
        raise Mistake(f"{of} does not exist: {folder} holds no run.json; train it first.")
    found = read_json(folder / "run.json")["identity"]
    if found != planned:
        raise Mistake(
            f"{of} in {folder} is run {found}, not run {planned} as planned; train it again."
        )


def load_weights(path: Path) -> dict[str, Any]:
    """Load a file of weights."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        weights: dict[str, Any] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise Mistake(
            f"{path} cannot be read ({error}); delete it and run again to restore it from "
            f"the store."
        ) from None
    return weights


def pick_device(name: str) -> Any:
    """Return the torch device for `auto`, `cpu` or `cuda`; each process of a group has its own."""
    import torch

    if name == "cuda" and not torch.cuda.is_available():
        raise Mistake("device is set to cuda, but torch sees no GPU; set device: auto or cpu.")
    if name == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    torch.cuda.set_device(device)
    return device


def load_subject(spec: dict[str, Any], run: Path, data: Path, device: str) -> Any:
    """The trained model of a run and its data, after everything was checked to be as planned."""
    check_run_code(spec)
    check_run("the trained run", run, spec["identity"])
    check_data(spec, data)

    from model import training
    from model.corpus import Corpus
    from model.memory import keep_freed_memory
    from model.probes.measure import Subject

    keep_freed_memory()
    training.set_numerics(spec["training"])
    where = pick_device(device)
    corpus = Corpus(data)
    model = training.build_model(spec, corpus)
    path = run / "weights.safetensors"
    try:
        training.load_weights(model, load_weights(path), str(path))
    except training.TrainingFailed as error:
        raise Mistake(str(error)) from None
    return Subject(model.to(where).eval(), corpus, where, spec["seed"])


def is_first() -> bool:
    """Whether this process is the only one of its run, or the first of those torchrun started."""
    return int(os.environ.get("RANK", 0)) == 0
