"""What the programs of a run check and load before they compute.

What is refused, or can't be read, raises UserError with its sentence.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from workflow import ROOT
from workflow.datasets.io.checksums import Manifest, read_manifest
from workflow.planning.code import Project
from workflow.planning.identity import ResolvedSpec, identity, run_roots
from workflow.runtime.atomic import write_atomically
from workflow.runtime.errors import UserError
from workflow.runtime.integrity import (
    Damaged,
    check_files,
    checksums_of,
    read_verified,
    with_checksum,
)
from workflow.runtime.store import Entry, read_result

if TYPE_CHECKING:
    from model.training.checkpointer import Weights

MERGED = "merged"
"""A file in the store beside a run that was merged and that no result has used yet."""
ASKED = "asked"
"""A file in the store beside a run: the folder, below that of results, that asked for it last."""


def read_spec(path: Path) -> ResolvedSpec:
    """Read a run's spec; one that was changed after it was written is refused."""
    spec = read_verified(path)
    if "data" not in spec or spec.get("identity") != identity(spec):
        raise Damaged(path, f"{path} is not the spec of a run")
    return cast(ResolvedSpec, spec)


@cache
def _project() -> Project:
    return Project(ROOT)


def check_code(of: str, roots: Iterable[str], planned: str) -> str:
    """Refuse to run code that does other things than what was planned; the hash of what runs."""
    project, roots = _project(), tuple(roots)
    try:
        present, running = project.code(roots), project.hash(roots)
    except UserError as error:
        raise UserError(f"the code of {of} cannot be read: {error}.") from None
    if present != planned:
        raise UserError(
            f"the code of {of} has changed since it was planned ({planned} planned, "
            f"{present} found); start snakemake again to plan it anew."
        )
    return running


def check_run_code(spec: ResolvedSpec) -> str:
    """Refuse to build a run's model from other code than was planned; the hash of what runs."""
    return check_code(f"run {spec['identity']}", run_roots(spec), spec["code"])


def check_data(spec: ResolvedSpec, folder: Path) -> None:
    """Refuse data that is not what was planned, or whose files have changed since."""
    manifest = read_manifest(folder)
    if manifest["digest"] != spec["data"]["digest"]:
        raise UserError(
            f"the data in {folder} is not what run {spec['identity']} was planned with; "
            f"start snakemake again to plan it anew."
        )
    check_files(folder, manifest["files"])
    _check_sides(spec, folder, manifest)


def _check_sides(spec: ResolvedSpec, folder: Path, manifest: Manifest) -> None:
    """Refuse pairs whose source has a vocabulary of its own that the model does not have."""
    own = manifest.get("vocabulary_sizes", {}).get("source")
    stated = spec["model"].get("source_vocabulary_size")
    if own != stated:
        data = f"has {own} entries of its own" if own else "is the target's"
        remedy = f"set it to {own}, and model.tie to decoder or none" if own else "take it away"
        raise UserError(
            f"the source's vocabulary in {folder} {data}, and "
            f"model.source_vocabulary_size of run {spec['identity']} is {stated}; {remedy}."
        )


def check_run(of: str, folder: Path, planned: str, store: Path) -> None:
    """Refuse a folder of results that are not those of the run that was planned, each whole.

    What is not is restored from the store, where that has it whole.
    """
    try:
        identity = read_result(folder)["identity"]
        if identity != planned:
            fault = f"{of} in {folder} is run {identity}, not run {planned} as planned"
            raise Damaged(folder / "run.json", fault)
    except (Damaged, FileNotFoundError) as error:
        entry, spec = Entry(store, planned), folder / "spec.json"
        if entry.whole(say) and spec.is_file():
            say(f"{error}; it is restored from the store.")
            entry.copy_result(folder, read_spec(spec))
        elif isinstance(error, Damaged):
            raise
        else:
            raise UserError(
                f"{of} does not exist: {folder} holds no run.json; train it first."
            ) from None


def note_asker(entry: Entry, out: Path) -> None:
    """Note which folder a run is trained for: until it is there, no spec in the folder names it."""
    folder = os.path.relpath(out, entry.folder.parent.parent)
    write_atomically(entry.folder / ASKED, folder.encode())


def write_record(path: Path, content: bytes, by: str) -> None:
    """Write a record of a run and then, beside it, its checksum and what recorder it is `by`."""
    write_atomically(path, content)
    seal = {"files": checksums_of(path.parent, [path.name]), "asked": by}
    write_atomically(path.with_suffix(".json"), with_checksum(seal))


def record_digest(path: Path) -> str:
    """The SHA-256 of a record, once it was compared with it."""
    try:
        files = read_verified(path.with_suffix(".json"))["files"]
    except FileNotFoundError:
        raise Damaged(path, f"{path} has no checksum beside it") from None
    check_files(path.parent, files)
    return str(files[path.name]["sha256"])


def load_weights(path: Path) -> Weights:
    """Load a file of weights."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise Damaged(path, f"{path} cannot be read ({error})") from None


def pick_device(name: str) -> Any:
    """Return the torch device for `auto`, `cpu` or `cuda`; each process of a group has its own."""
    import torch

    if name == "cuda" and not torch.cuda.is_available():
        raise UserError("device is set to cuda, but torch sees no GPU; set device: auto or cpu.")
    if name == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    torch.cuda.set_device(device)
    return device


def load_subject(spec: ResolvedSpec, args: Any) -> Any:
    """The trained model of a run and its data, after everything was checked to be as planned.

    Args:
        spec: of the run.
        args: folders of the trained `run`, its `data` and the `store`; `device` to compute on.
    """
    check_run_code(spec)
    check_run("the trained run", args.run, spec["identity"], args.store)
    check_data(spec, args.data)

    from model.batches.corpus import Corpus
    from model.probes.measure import Subject
    from model.training import loop
    from model.training.optimization import set_numerics
    from workflow.runtime.preflight import prepare_process

    prepare_process()
    where = pick_device(args.device)
    set_numerics(spec["training"], where)
    corpus = Corpus(args.data)
    model = loop.build_model(spec, corpus)
    path = args.run / "weights.safetensors"
    try:
        loop.load_weights(model, load_weights(path), str(path))
    except loop.TrainingFailed as error:
        raise UserError(str(error)) from None
    return Subject(model.to(where).eval(), corpus, where, spec["seed"])


def is_first() -> bool:
    """Whether this process is the only one of its run, or the first of those torchrun started."""
    return int(os.environ.get("RANK", 0)) == 0


def say(line: str) -> None:
    """Say a line in the log at once."""
    print(line, file=sys.stderr, flush=True)
