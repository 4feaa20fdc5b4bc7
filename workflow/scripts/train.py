"""Train a run: take it from the store, else resume it, else begin; then copy its result out.

Its spec is the draft, completed by the digest of its data and the identities of its parents.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import sys
import time
import traceback
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workflow.datasets.io.checksums import read_manifest
from workflow.planning.identity import Draft, ResolvedSpec, complete
from workflow.runtime.errors import CODE_ERRORS, UserError
from workflow.runtime.failure import exit_on_user_error
from workflow.runtime.store import Entry, Fenced, now
from workflow.runtime.watchdog import CONTINUE, LEAST, TIMES_BUSY, Watchdog
from workflow.scripts.job import (
    MERGED,
    check_data,
    check_run,
    check_run_code,
    is_first,
    load_weights,
    note_asker,
    pick_device,
    read_spec,
    say,
)
from workflow.scripts.segments import RunSegment, begin_segment, in_vain
from workflow.terminal import job_arguments
from workflow.terminal.progress import STORED

if TYPE_CHECKING:
    from model.training.checkpointer import Weights


def main() -> None:
    """Run from the command line."""
    begun = time.monotonic()
    args = _arguments()
    if args.processes > 1 and "LOCAL_RANK" not in os.environ:
        _start_group(args.processes, args.device)
    deadline = begun + args.time_limit - margin(args.time_limit)
    with exit_on_user_error():
        spec = _spec(args)
        code = check_run_code(spec)
        entry = Entry(args.store, spec["identity"])
        try:
            if entry.whole(say):
                print(f"run {entry.identity} {STORED}")
            else:
                parents = _parents(spec, args)
                check_data(spec, args.data)
                _check_failure(entry)
                _train(spec, code, entry, parents, args, deadline)
            if is_first():
                note_asker(entry, args.out)
                entry.copy_result(args.out, spec)
                (entry.folder / MERGED).unlink(missing_ok=True)
        except Fenced as error:
            sys.exit(f"error: {error}")
        except OSError as error:
            sys.exit(
                f"error: {error.strerror or error} ({error.filename or args.store}); what was "
                f"saved before is whole: mend the cause and run the same command again to continue."
            )


def _spec(args: argparse.Namespace) -> ResolvedSpec:
    parents = {}
    for name, folder in args.parent:
        try:
            parents[name] = read_spec(folder / "spec.json")["identity"]
        except FileNotFoundError:
            raise UserError(
                f"parent '{name}' does not exist: {folder} holds no spec.json; train it first."
            ) from None
    spec = complete(args.draft, read_manifest(args.data)["digest"], parents)
    start = spec["training"].get("start_from")
    if start not in (None, *parents):
        raise UserError(
            f"parent '{start}' of run {spec['identity']} is not given; "
            f"add --parent {start}=FOLDER of its run."
        )
    return spec


def _start_group(processes: int, device: str) -> None:
    """Become torchrun, which starts this command once for each process of the group.

    There are no more of them than GPUs, where there are any. Under Slurm torchrun ignores SIGTERM:
    at it, it would kill the group, which has its own way to heed it.
    """
    import torch

    if device != "cpu" and torch.cuda.is_available():
        processes = min(processes, torch.cuda.device_count())
    group = ["torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    if "SLURM_JOB_ID" in os.environ:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        group += ["--signals-to-handle", "SIGINT"]
    again = [sys.executable, "-m", *group, "-m", "workflow.scripts.train", *sys.argv[1:]]
    os.execv(sys.executable, again)


def margin(limit: float) -> float:
    """The seconds before a time limit at which training leaves, so that it can save its state."""
    return min(limit / 2, max(60, limit / 20)) if limit < math.inf else 0


def _train(
    spec: ResolvedSpec,
    code: str,
    entry: Entry,
    parents: dict[str, Path],
    args: argparse.Namespace,
    deadline: float,
) -> None:
    """Train to the end and put the result into the store; `code` is the hash of what runs."""
    from torch import OutOfMemoryError

    from model.batches.corpus import Corpus
    from model.training.loop import Interrupted, TrainingFailed, train
    from model.training.process_group import join
    from workflow.runtime.disk_checkpointer import DiskCheckpointer
    from workflow.runtime.mechanism_check import check_mechanisms
    from workflow.runtime.preflight import (
        check_classes,
        check_last_checkpoint,
        check_longest_pair,
        check_longest_text,
        prepare_process,
    )

    prepare_process()
    device = pick_device(args.device)
    weights = {name: load_weights(path) for name, path in parents.items()}
    _check_vocabulary(spec, weights, args.data)
    # SIGALRM ends a process that can't join: torch waits half an hour for a torchrun that is gone.
    signal.alarm(math.ceil(args.patience) if "RANK" in os.environ else 0)
    group = join(device, spec["seed"])
    signal.alarm(0)
    if group.rank:
        _help(spec, args, device, weights, group)
        return
    claim = entry.claim()
    note_asker(entry, args.out)
    checkpointer = DiskCheckpointer(claim, args.save_every, say, deadline)
    checkpointer.load()  # drops damaged states; training resumes from the newest that is left
    segments = begin_segment(entry, code, device, checkpointer.newest(), group.size)
    ends = _heed_signals(checkpointer)
    stop = partial(setattr, checkpointer, "asked_to_stop", True)
    watchdog = Watchdog(stop, args.patience, args.patience_first, ends, in_vain(segments))
    checkpointer.beat = watchdog.beat
    try:
        corpus = Corpus(args.data)
        check_mechanisms(spec["model"], device, corpus)
        check_classes(spec["model"], corpus)
        check_longest_pair(spec["model"], corpus)
        check_longest_text(spec, corpus)
        check_last_checkpoint(spec, corpus)
        trained = train(spec, corpus, checkpointer, device, weights, say, group)
    except Interrupted as error:
        cause = "" if checkpointer.asked_to_stop else "the job's time limit is near: "
        say(f"{cause}{error}")
        raise SystemExit(CONTINUE) from None
    except (TrainingFailed, ValueError) as error:
        claim.fail(str(error), _invocation())
        sys.exit(f"error: {error}")
    except OutOfMemoryError as error:
        reason = f"run {spec['identity']} does not fit on the device: {error}"
        reason = f"{reason.splitlines()[0]} Lower training.batch.micro_tokens of its experiment."
        claim.fail(reason, _invocation())
        sys.exit(f"error: {reason}")
    except CODE_ERRORS as error:
        stack = "".join(traceback.format_exception(error)).rstrip()
        reason = f"run {spec['identity']} fails in its own code: {stack.splitlines()[-1]}"
        claim.fail(f"{stack}\n{reason}", _invocation())
        say(stack)
        sys.exit(f"error: {reason}")
    finally:
        watchdog.dismiss()
    _put_result(spec, checkpointer, trained, segments, device, group.size)


def _help(
    spec: ResolvedSpec, args: argparse.Namespace, device: Any, weights: Any, group: Any
) -> None:
    """Train as a process that is not the first of its group: it keeps and says nothing."""
    from model.batches.corpus import Corpus
    from model.training.checkpointer import Checkpointer
    from model.training.loop import Interrupted, TrainingFailed, train

    checkpointer = Checkpointer()
    _heed_signals(checkpointer)
    try:
        train(spec, Corpus(args.data), checkpointer, device, weights, lambda line: None, group)
    except Interrupted:
        raise SystemExit(CONTINUE) from None
    except (TrainingFailed, ValueError):
        sys.exit(1)


def _heed_signals(checkpointer: Any) -> list[signal.Signals]:
    """Stop at SIGINT and SIGTERM; Slurm's SIGTERM means that it will kill or requeue the job.

    Returns the signals at which training stops.

    There the state is saved, and training goes on until it is killed: a job that left would have
    failed in Slurm's eyes, and not be requeued.
    """
    at_sigterm = "asked_to_save" if "SLURM_JOB_ID" in os.environ else "asked_to_stop"
    for number, wish in ((signal.SIGINT, "asked_to_stop"), (signal.SIGTERM, at_sigterm)):
        signal.signal(number, lambda *_, wish=wish: setattr(checkpointer, wish, True))
    return [signal.SIGINT, *([signal.SIGTERM] if at_sigterm == "asked_to_stop" else [])]


def _put_result(
    spec: ResolvedSpec,
    checkpointer: Any,
    trained: Any,
    segments: list[RunSegment],
    device: Any,
    processes: int,
) -> None:
    """Write the files of a finished run, and by which code it began where that is not the last."""
    import torch
    from safetensors.torch import save

    from model.training.optimization import uses_bf16
    from workflow.runtime.provenance import environment, peak_memory_mb

    progress, code = trained.progress, segments[-1]["code"]
    for segment in segments:
        if segment.get("code") == code:
            del segment["code"]
    record = {
        "schema": 1,
        "identity": spec["identity"],
        "code": code,
        "spec": spec,
        **environment(device),
        "commit": segments[-1]["commit"],
        "dirty": segments[-1]["dirty"],
        **peak_memory_mb(device),
        **{name: spec["training"][name] for name in ("threads", "precision", "matmul")},
        "processes": processes,
        "matmul_mode": torch.get_float32_matmul_precision(),
        "bf16": uses_bf16(spec["training"]["precision"], device),
        "parameters": trained.parameters,
        "steps": trained.updates,
        "best_step": progress.best_update,
        "tokens": progress.tokens,
        "tokens_per_second": round(progress.tokens / progress.seconds, 1),
        "device_seconds": round(progress.seconds, 2),
        "wall_seconds": round(time.time() - segments[0]["time"], 2),
        "began": segments[0],
        "continuations": segments[1:],
        "finished": now(),
    }
    with checkpointer.claim.result(record) as files:
        (files / "weights.safetensors").write_bytes(save(trained.weights))
        rows = "".join(json.dumps(row) + "\n" for row in progress.rows)
        (files / "history.jsonl").write_text(rows)
        for name, content in checkpointer.kept():
            (files / "checkpoints" / name).write_bytes(content)


def _parents(spec: ResolvedSpec, args: argparse.Namespace) -> dict[str, Path]:
    """The weights files of the parent runs, each checked to be of the run that its spec names."""
    for name, folder in args.parent:
        parent = f"parent '{name}' of run {spec['identity']}"
        check_run(parent, folder, spec["parents"][name], args.store)
    return {name: folder / "weights.safetensors" for name, folder in args.parent}


def _check_vocabulary(spec: ResolvedSpec, parents: dict[str, Weights], data: Path) -> None:
    """Refuse to start from weights whose embeddings are of other words than the data has."""
    start = spec["training"].get("start_from")
    if start is None:
        return
    words = read_manifest(data)["vocabulary_size"]
    for name, tensor in parents[start].items():
        source_words = spec["model"].get("source_vocabulary_size") if "source" in name else None
        if name.endswith("token.weight") and len(tensor) not in (words, source_words):
            raise UserError(
                f"parent '{start}' of run {spec['identity']} knows {len(tensor)} words "
                f"('{name}'), and {data} has {words}; give the run its parent's data section, or "
                f"train the parent on this one."
            )


def _check_failure(entry: Entry) -> None:
    """Don't try again, in the same invocation, what is known to fail."""
    try:
        failure = entry.failure()
    except ValueError as error:
        say(f"{entry.folder / 'failed.json'} is damaged ({error}), and not heeded.")
        return
    if failure is not None and failure["invocation"] == _invocation():
        stack, _, reason = failure["reason"].rpartition("\n")
        if stack:
            say(stack)
        raise UserError(f"{reason} (found at {failure['at']}, not tried again)")


def _invocation() -> str:
    """Names the snakemake invocation that this job belongs to; a job by hand is its own."""
    return os.environ.get("SACCADE_INVOCATION", f"{os.getpid()}@{now()}")


def _arguments() -> argparse.Namespace:
    parser = job_arguments.of_run(__doc__)
    draft = job_arguments.mapping(*Draft.__annotations__)
    parser.add_argument("--draft", type=draft, required=True, help="the spec as it is planned")
    parser.add_argument("--processes", type=int, default=1, help="one for each GPU of the job")
    parser.add_argument(
        "--parent",
        type=job_arguments.named,
        action="append",
        default=[],
        help="NAME=folder of a run",
    )
    parser.add_argument("--save-every", type=float, help="seconds between states")
    parser.add_argument(
        "--patience", type=float, default=LEAST, help="seconds that may pass without an update"
    )
    first = LEAST * TIMES_BUSY
    parser.add_argument("--patience-first", type=float, default=first, help="before the third")
    parser.add_argument("--time-limit", type=float, default=math.inf, help="seconds of the job")
    return parser.parse_args()


if __name__ == "__main__":
    main()
