"""Speed of training and decoding, side by side with what a user would pick.

    python -m benchmarks.translation train --shape iwslt
    python -m benchmarks.translation decode --shape small --beam 4
    python -m benchmarks.translation translate --beam 4 --data results/data/multi30k/<recipe> \
        --run results/lite/runs/sparse_translation/multi30k_en_de_softmax/seed-0

Everything has one thread, the same weights and the same batches; dropout is on in training. Ours
has torch's mode of matrix products that training uses on CPUs
(`model.training.optimization.set_numerics`), the others torch's default where no other is named.
`translate` takes the weights of a trained run, translates its test set and tells every contender's
BLEU. Results go to `benchmarks/results/`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from benchmarks.decoding import SENTENCES, decoding
from benchmarks.models import SHAPES
from benchmarks.race import Job, Turn, Work, race, summary
from benchmarks.record import FOLDER, record
from benchmarks.trained import bleu, trained_shape
from benchmarks.training import training, work_per_token
from model.training.optimization import set_numerics
from workflow.runtime.integrity import Damaged
from workflow.runtime.preflight import prepare_process

SMALL_ONLY = ("torch, fast products", "torch, compiled")
"""Who trains at shape `small` alone: all at once would need 20 GB at `iwslt`."""


def start(job: Job) -> Work:
    """Set a contender's process up."""
    if job["who"] == "ours":
        prepare_process()
        set_numerics({"threads": 1, "matmul": "fast"})
    else:
        torch.set_num_threads(1)
        torch.set_float32_matmul_precision(job["matmul"])
    return (training if job["task"] == "train" else decoding)(job)


def trained(shape: Mapping[str, int], rounds: int) -> dict[str, Job]:
    """Who trains; times are relative to the first one's."""
    shared = {"task": "train", "shape": dict(shape), "rounds": rounds, "precision": "fp32"}
    ours = shared | {"who": "ours"}
    theirs = shared | {"who": "torch", "matmul": "highest"}
    return {
        "torch": theirs,
        "torch, fast products": theirs | {"matmul": "medium"},
        "torch, compiled": theirs | {"compiled": True},
        "torch, bf16": theirs | {"precision": "bf16"},
        "ours": ours,
        "ours, bf16": ours | {"precision": "bf16"},
    }


def decoded(
    shape: Mapping[str, int], beam: int, trained: Mapping[str, Path] = MappingProxyType({})
) -> dict[str, Job]:
    """Who decodes; times are relative to the first one's, which takes a quarter of the batch.

    Args:
        shape: of the model.
        beam: 1 for greedy search.
        trained: `run` and `data` of a trained model, whose whole test set is translated.
    """
    shared = {"task": "decode", "shape": dict(shape), "beam": beam, "sentences": SENTENCES}
    shared |= trained
    ours = shared | {"who": "ours", "precision": "fp32"}
    theirs = shared | {"who": "torch", "matmul": "highest", "cached": True}
    engine = shared | {"who": "CTranslate2", "matmul": "highest"}
    return {
        "torch": theirs | {"cached": False, "sentences": SENTENCES // 4},
        "torch, cached": theirs,
        "torch, cached, fast products": theirs | {"matmul": "medium"},
        "CTranslate2": engine | {"precision": "float32"},
        "CTranslate2, int8": engine | {"precision": "int8"},
        "ours": ours,
        "ours, bf16": ours | {"precision": "bf16"},
    }


def report(results: Mapping[str, list[Turn]]) -> dict[str, Any]:
    """The speeds, and whether the same came out: losses without dropout, or translations."""
    rows = summary(results)
    for name, turns in results.items():
        if "texts" in turns[-1]:
            pairs = zip(turns[-1]["texts"], results["ours"][-1]["texts"], strict=False)
            same = [one == another for one, another in pairs]
            rows[name] |= {"sentences": len(same), "translated_as_ours": sum(same)}
        else:
            rows[name]["loss_without_dropout"] = round(turns[0]["loss"], 5)
    return {"contenders": rows}


def main() -> None:
    """Run one benchmark from the command line."""
    given = _arguments()
    result: dict[str, Any] = {"task": given.task, "rounds": given.rounds}
    if given.task == "train":
        name, shape, result["shape"] = f"train_{given.shape}", SHAPES[given.shape], given.shape
        everyone = trained(shape, given.rounds)
        left_out = SMALL_ONLY if given.shape != "small" else ()
        contenders = {name: job for name, job in everyone.items() if name not in left_out}
        result |= report(race(start, contenders, given.rounds))
        # Afterwards: counting takes as much memory as a contender.
        result["gflop_per_token"] = round(work_per_token(shape), 5)
    elif given.task == "decode":
        name, result["shape"] = f"decode_{given.shape}_beam{given.beam}", given.shape
        contenders = decoded(SHAPES[given.shape], given.beam)
        result |= {"beam": given.beam, **report(race(start, contenders, given.rounds))}
    else:
        name, result["run"] = f"translate_beam{given.beam}", "/".join(given.run.parts[-3:])
        job = {"run": given.run, "data": given.data}
        try:
            shape = trained_shape(given.run, given.data)
        except (Damaged, OSError, ValueError) as error:
            sys.exit(f"error: {error}")
        contenders = decoded(shape, given.beam, job)
        turns = race(start, contenders, given.rounds)
        result |= {"beam": given.beam, **report(turns)}
        last = {contender: its[-1]["texts"] for contender, its in turns.items()}
        for contender, score in bleu(given.data, last).items():
            result["contenders"][contender]["bleu"] = round(score, 2)
    record(name, given.out, result)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    tasks = parser.add_subparsers(dest="task", required=True)
    train, decode, translate = map(tasks.add_parser, ("train", "decode", "translate"))
    for task in (train, decode):
        task.add_argument("--shape", choices=SHAPES, required=True)
    translate.add_argument("--run", type=Path, required=True, help="the folder of a trained run")
    translate.add_argument("--data", type=Path, required=True, help="the folder of its data")
    for task in (decode, translate):
        task.add_argument("--beam", type=int, default=1)
    for task in (train, decode, translate):
        task.add_argument("--rounds", type=int, default=3)
        task.add_argument("--out", type=Path, default=FOLDER)
    return parser.parse_args()


if __name__ == "__main__":
    main()
