"""Record a run's checkpoints; what is in the store needs no weights any more, so they are dropped.

They stay where SACCADE_KEEP_CHECKPOINTS is set (`keep_checkpoints` of the configuration).
"""

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from workflow.planning.identity import ResolvedSpec, asked, measuring_roots
from workflow.runtime.errors import UserError
from workflow.runtime.failure import exit_on_user_error
from workflow.runtime.integrity import Damaged, quarantine, read_verified
from workflow.runtime.store import Entry, drop_checkpoints
from workflow.scripts.job import (
    check_code,
    check_run,
    load_subject,
    load_weights,
    read_spec,
    record_digest,
    say,
    write_record,
)
from workflow.terminal import job_arguments


def main() -> None:
    """Run from the command line."""
    args = _arguments()
    with exit_on_user_error():
        spec = read_spec(args.spec)
        check_run("the run to record", args.run, spec["identity"], args.store)
        entry = Entry(args.store, spec["identity"])
        kept = entry.folder / "records" / f"{asked(args.recorder)}.npz"
        try:
            if not _whole(kept):
                check_code("the record", measuring_roots(args.recorder), args.recorder["code"])
                _keep(kept, spec, args)
            write_record(args.out, kept.read_bytes(), kept.stem)
        except UserError:  # a whole sentence already
            raise
        except (OSError, ValueError) as error:
            raise UserError(f"run {spec['identity']} cannot be recorded: {error}") from None
        if not os.environ.get("SACCADE_KEEP_CHECKPOINTS"):
            try:
                drop_checkpoints(args.run, entry.result)
            except OSError as error:
                raise UserError(
                    f"run {spec['identity']} is recorded, but its checkpoints cannot be removed: "
                    f"{error}; what was saved before is whole: mend the cause and run the same "
                    "command again."
                ) from None


def _whole(kept: Path) -> bool:
    """Whether the store holds the record; one that is damaged is set aside."""
    if not kept.is_file():
        return False
    try:
        return bool(record_digest(kept))
    except Damaged as error:
        say(f"{error}; it is now {quarantine(kept)}, and has to be recorded again.")
        return False


def _keep(kept: Path, spec: ResolvedSpec, args: argparse.Namespace) -> None:
    """Put the record into the store, unless another process does so and drops the checkpoints."""
    try:
        write_record(kept, _record(spec, args), kept.stem)
    except (Damaged, OSError, ValueError):
        if not _whole(kept):
            raise


def _record(spec: ResolvedSpec, args: argparse.Namespace) -> bytes:
    """Probe every checkpoint; a run without any is recorded with the weights that it ended with."""
    begun = time.monotonic()
    subject = load_subject(spec, args)
    files = _checkpoints(spec, args.run)

    from model.build import build
    from model.probes.checkpoint_ranks import Record

    if files:
        checkpoints: dict[int, Callable[[], Any]] = {0: _initial(spec, subject)}
        checkpoints |= {step: partial(load_weights, file) for step, file in files.items()}
    else:
        ended = read_verified(args.run / "run.json")["best_step"]
        checkpoints = {ended: partial(load_weights, args.run / "weights.safetensors")}
    node = {key: value for key, value in args.recorder.items() if key != "code"}
    record: Record = build(node)(subject, _counted(checkpoints))
    content = record.content()
    seconds = time.monotonic() - begun
    say(f"{len(checkpoints)} checkpoints, {len(content) / 1e6:.1f} MB: {seconds:.1f} s")
    return content


def _counted(checkpoints: dict[int, Callable[[], Any]]) -> dict[int, Callable[[], Any]]:
    """The same, which say on stderr how far it is when they are asked for, one after the other."""
    begun, count = time.monotonic(), len(checkpoints)

    def counted(at: int, step: int, load: Callable[[], Any]) -> Any:
        left = (time.monotonic() - begun) / at * (count - at) if at else 0
        time_left = f", {int(left) // 60}:{int(left) % 60:02d} left" * (at > 0)
        say(f"checkpoint {at + 1} of {count}, update {step}{time_left}")
        return load()

    return {
        step: partial(counted, at, step, checkpoints[step])
        for at, step in enumerate(sorted(checkpoints))
    }


def _checkpoints(spec: ResolvedSpec, run: Path) -> dict[int, Path]:
    """The files of the checkpoints by update.

    Raises ValueError when one is missing.
    """
    last = read_verified(run / "run.json")["steps"]
    files = {}
    for step in spec["checkpoints"]:
        files[step] = run / "checkpoints" / f"step-{step}.safetensors"
        if step > last:
            raise ValueError(
                f"checkpoint {step} is beyond its last update, {last}; take it out of "
                "`checkpoints` or train longer."
            )
        if not files[step].is_file():
            raise ValueError(
                f"the weights of update {step} are not kept any more, since an earlier record was "
                f"made of them; `make forget RUN={spec['identity']}` has the next snakemake train "
                "the run again, and with `keep_checkpoints: true` they stay."
            )
    return files


def _initial(spec: ResolvedSpec, subject: Any) -> Callable[[], Any]:
    """The weights that training began with: the seed tells them.

    Raises ValueError for a run that began with those of another.
    """
    if "start_from" in spec["training"]:
        raise ValueError("it began with the weights of another run; its seed does not tell them.")

    from model.training.loop import build_model

    return lambda: build_model(spec, subject.corpus).state_dict()


def _arguments() -> argparse.Namespace:
    parser = job_arguments.of_trained_run(__doc__)
    node = job_arguments.mapping("path", "code")
    parser.add_argument("--recorder", type=node, required=True, help="its node")
    return parser.parse_args()


if __name__ == "__main__":
    main()
