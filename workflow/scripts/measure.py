"""Measure a run: every evaluator in one job, each found in the store if it ran before."""

from __future__ import annotations

import argparse
import json
import math
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model.build import Node
from workflow.datasets.io.checksums import read_manifest
from workflow.planning.identity import ResolvedSpec, asked, digest, measuring_roots, without_paths
from workflow.planning.run_files import EvaluatorRecord
from workflow.runtime.atomic import write_atomically
from workflow.runtime.errors import CODE_ERRORS, UserError
from workflow.runtime.failure import exit_on_user_error
from workflow.runtime.integrity import (
    Damaged,
    check_files,
    quarantine,
    read_verified,
    with_checksum,
)
from workflow.runtime.store import Entry
from workflow.scripts.job import (
    check_code,
    check_run_code,
    load_subject,
    read_spec,
    record_digest,
    say,
)
from workflow.terminal import job_arguments

if TYPE_CHECKING:
    from model.probes.measure import Subject
    from model.training.checkpointer import HistoryRow

Pairs = list[tuple[str, Path]]
"""Key, `<evaluator>.<argument>`, and path of what evaluators read beside a run."""


def main() -> None:
    """Run from the command line."""
    args = _arguments()
    with exit_on_user_error():
        spec = read_spec(args.spec)
        try:
            measures = {
                "schema": 1,
                "identity": spec["identity"],
                "run": spec["run"],
                "asked": asked(args.evaluators),
                "evaluators": _evaluate(spec, args),
                "records": _named(args.record),
                "losses": _losses(spec, args),
            }
            write_atomically(args.out, with_checksum(measures, sort_keys=True))
        except UserError:  # a whole sentence already
            raise
        except (OSError, ValueError) as error:
            raise UserError(f"run {spec['identity']} cannot be measured: {error}") from None


def _evaluate(spec: ResolvedSpec, args: argparse.Namespace) -> dict[str, EvaluatorRecord]:
    """What each evaluator finds, or found when it ran before.

    Where the code that ran is not what stands for it, `ran` has its hash, and `built` that of the
    run's own code, which built the model.
    """
    cache = Entry(args.store, spec["identity"]).folder / "measures"
    statistics = digest(read_manifest(args.data)["statistics"])
    subject: Subject | None = None
    history: list[HistoryRow] = []
    built = ""
    records_by_name: dict[str, EvaluatorRecord] = {}
    for name, node in args.evaluators.items():
        further, records = dict(_read_by(name, args.further)), _read_by(name, args.record)
        digests = [_further_digest(folder) for folder in further.values()]
        digests += [_record_digest(file) for _, file in records]
        path = cache / f"{name}-{digest([without_paths(node), statistics, *digests])[:16]}.json"
        stored = _stored(path)
        if stored is None:
            ran = check_code(f"evaluator '{name}'", measuring_roots(node), node["code"])
            if subject is None:
                built = check_run_code(spec)
                subject = load_subject(spec, args)
                history = _history(args.run)
            try:
                record = _measure(name, node, spec, subject, history, further, records)
            except CODE_ERRORS as error:
                traceback.print_exc()
                raise UserError(
                    f"evaluator '{name}' ({node['path']}) fails with {type(error).__name__}: "
                    f"{error}; where it doesn't fit the data or the model, leave it out "
                    f"(evaluators: {{{name}: null}})"
                ) from None
            if ran != node["code"]:
                record["ran"] = ran
            if built != spec["code"]:
                record["built"] = built
            write_atomically(path, with_checksum(plain(record)))
            stored = read_verified(path)
        records_by_name[name] = stored
    return records_by_name


def _stored(path: Path) -> EvaluatorRecord | None:
    """What an evaluator found when it ran before; one that is damaged is set aside."""
    try:
        return read_verified(path)
    except FileNotFoundError:
        return None
    except Damaged as error:
        say(f"{error}; it is now {quarantine(path)}, and measured again.")
        return None


def plain(value: Any) -> Any:
    """A value as JSON can hold it: NaN and infinities, which it does not have, as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def _further_digest(folder: Path) -> str:
    """The digest of data that an evaluator reads beside the run's, once its files are checked."""
    manifest = read_manifest(folder)
    check_files(folder, manifest["files"])
    return str(manifest["digest"])


def _read_by(name: str, pairs: Pairs) -> Pairs:
    """What an evaluator reads, each with its argument."""
    keys = [(key.partition("."), path) for key, path in pairs]
    return [(argument, path) for (evaluator, _, argument), path in keys if evaluator == name]


def _record_digest(file: Path) -> str:
    """The digest of a record; ValueError when it is not there."""
    if not file.is_file():
        raise ValueError(f"{file} does not exist: record that run first.")
    return record_digest(file)


def _named(pairs: Pairs) -> dict[str, list[str]]:
    """The runs whose records are read, as `<experiment>/<variant>/seed-<n>`, by argument."""
    runs: dict[str, list[str]] = {}
    for key, file in pairs:
        runs.setdefault(key, []).append("/".join(file.with_suffix("").parts[-3:]))
    return runs


def _history(run: Path) -> list[HistoryRow]:
    return [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]


def _losses(spec: ResolvedSpec, args: argparse.Namespace) -> dict[str, float]:
    """The training loss of the first updates, and of the last tenth; empty where none is known.

    Where all is in the store, the run need not be anywhere else.
    """
    stored = Entry(args.store, spec["identity"]).result
    folder = args.run if (args.run / "run.json").is_file() else stored
    files = read_verified(folder / "run.json")["files"]
    check_files(folder, {"history.jsonl": files["history.jsonl"]})
    rows = _history(folder)
    losses = [row["loss"] for row in rows if row["split"] == "train" and "loss" in row]
    last = losses[-max(1, len(losses) // 10) :]
    return {"first": losses[0], "last": sum(last) / len(last)} if losses else {}


def _measure(
    name: str,
    node: Node,
    spec: ResolvedSpec,
    subject: Subject,
    history: list[HistoryRow],
    further: dict[str, Path],
    records: list[tuple[str, Path]],
) -> EvaluatorRecord:
    """Run one evaluator; it gets the history and the spec if it names them."""
    from model.batches.corpus import Corpus
    from model.build import build
    from model.probes.checkpoint_ranks import Record

    begun = time.monotonic()
    arguments = {key: value for key, value in node.items() if key not in ("code", "recorded")}
    arguments |= {argument: Corpus(folder) for argument, folder in further.items()}
    for key, value in node.items():
        if isinstance(value, dict) and "variant" in value:
            read = [Record.read(file) for argument, file in records if argument == key]
            arguments[key] = read if value.get("others") else next(iter(read), None)
    evaluator = build(arguments, history=history, spec=spec)
    scalars, arrays = evaluator(subject)
    seconds = round(time.monotonic() - begun, 3)
    say(f"{name}: {seconds:.1f} s")
    record = EvaluatorRecord(code=node["code"], seconds=seconds, scalars=scalars, arrays=arrays)
    if "recorded" in node:
        record["recorded"] = node["recorded"]
    return record


def _arguments() -> argparse.Namespace:
    parser = job_arguments.of_trained_run(__doc__)
    nodes = job_arguments.mappings("path", "code")
    parser.add_argument("--evaluators", type=nodes, required=True, help="by name")
    read = {
        "further": ("FOLDER", "an encoded corpus that an evaluator reads beside the run's data"),
        "record": ("FILE", "the record of a run that an evaluator reads; again for several"),
    }
    for option, (path, what) in read.items():
        parser.add_argument(
            f"--{option}",
            type=job_arguments.named,
            action="append",
            default=[],
            metavar=f"EVALUATOR.ARGUMENT={path}",
            help=what,
        )
    return parser.parse_args()


if __name__ == "__main__":
    main()
