"""Speed of training and decoding, side by side with `torch.nn.Transformer`.

    python -m benchmarks.translation train --shape iwslt
    python -m benchmarks.translation decode --shape small --beam 4
    python -m benchmarks.translation mechanisms --shape small

`train` and `decode` compare with the baseline in torch's default mode of matrix products and in
the one that training here uses on CPUs (`model.training.optimization.set_numerics`); `mechanisms`
compares whole training steps with those of softmax. Everything has one thread, single precision,
the same weights and the same batches; dropout is on in training. Results go to
`benchmarks/results/`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from benchmarks.baseline import TorchTransformer, same_weights
from benchmarks.made_up import VOCABULARY, made_up_pairs
from benchmarks.race import Job, Turn, Work, machine, race, summary
from benchmarks.table import MEASURED
from model.architectures.translation.beam_search import Beam
from model.batches.pairs import PairBatch, PairSampler, collate_pairs, pair_lengths
from model.build import build
from model.objectives.translation import Translation
from model.training.optimization import set_numerics
from model.training.preflight import keep_freed_memory

SHAPES = {
    "iwslt": {"width": 512, "hidden": 1024, "layers": 6, "heads": 4},
    "small": {"width": 256, "hidden": 512, "layers": 3, "heads": 4},
}
DROPOUT = 0.3
TOKENS = 4096
SENTENCES, FEW = 128, 8
ONE = "model.architectures.translation.encoder_decoder:EncoderDecoder"
TWO = "model.architectures.translation.two_stream:TwoStreamEncoderDecoder"
MECHANISMS: dict[str, tuple[str, dict[str, Any]]] = {
    "softmax": (ONE, {"path": "model.normalizers.softmax:Softmax"}),
    "top-k": (ONE, {"path": "model.normalizers.topk:TopK", "k": 8}),
    "sparsemax": (ONE, {"path": "model.normalizers.sparsemax:Sparsemax"}),
    "1.5-entmax": (ONE, {"path": "model.normalizers.entmax15:Entmax15"}),
    "learned alpha": (ONE, {"path": "model.normalizers.entmax_alpha:EntmaxAlpha", "heads": 4}),
    "discrete": (ONE, {"path": "model.normalizers.gumbel:Gumbel"}),
    "two-stream discrete": (TWO, {"path": "model.normalizers.gumbel:Gumbel"}),
}


def make_ours(shape: Mapping[str, int], mechanism: str = "softmax") -> Any:
    """The model under test from seed 0, with dropout wherever `torch.nn.Transformer` has it."""
    path, normalizer = MECHANISMS[mechanism]
    dropout = dict.fromkeys(("dropout", "attention_dropout", "hidden_dropout"), DROPOUT)
    torch.manual_seed(0)
    node = {"path": path, "normalizer": normalizer, **shape, **dropout}
    return build(node, vocabulary_size=VOCABULARY)


def make_theirs(shape: Mapping[str, int]) -> TorchTransformer:
    """The baseline with the same weights."""
    theirs = TorchTransformer(VOCABULARY, **shape, dropout=DROPOUT)
    same_weights(make_ours(shape), theirs)
    return theirs


def start(job: Job) -> Work:
    """Set a contender's process up."""
    if job["who"] == "ours":
        keep_freed_memory()
        set_numerics({"threads": 1, "matmul": "fast"})
    else:
        torch.set_num_threads(1)
        torch.set_float32_matmul_precision(job["matmul"])
    return (training if job["task"] == "train" else decoding)(job)


def training(job: Job) -> Work:
    """Updates of one model; round -1 is one without dropout, and its loss is to be the same."""
    batches = training_batches(job["rounds"])
    ours = job["who"] == "ours"
    model: nn.Module = (
        make_ours(job["shape"], job["mechanism"]) if ours else make_theirs(job["shape"])
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)

    def update(turn: int) -> Turn:
        batch = batches[turn]
        model.train(turn >= 0)
        optimizer.zero_grad(set_to_none=True)
        loss = Translation().loss(model, batch, 0.0).mean if ours else model.loss(batch)
        loss.backward()
        if turn >= 0:
            optimizer.step()
        return {"loss": loss.item(), "tokens": len(batch.layout.places)}

    return update


def decoding(job: Job) -> Work:
    """Translations of one batch, the same in every round; round -1 takes a few sentences of it."""
    batches = {-1: decoding_batch(FEW), 0: decoding_batch(SENTENCES)}
    settings = Beam(job["beam"], length_ratio=1.0, length_extra=1)
    ours = job["who"] == "ours"
    model = (make_ours if ours else make_theirs)(job["shape"]).eval()

    def translate(turn: int) -> Turn:
        batch = batches[min(turn, 0)]
        if ours:
            texts = settings.search(model, batch.source, batch.source_layout).best()
        else:
            texts = [first.words[:-1] for first, *_ in model.translate(batch, settings)]
        return {"texts": texts, "tokens": sum(len(text) + 1 for text in texts)}

    return translate


def training_batches(rounds: int) -> list[PairBatch]:
    """Batches of at most 4,096 tokens a side, drawn from an epoch; the last one is to warm up."""
    split = made_up_pairs()
    updates = PairSampler(split, {"tokens": TOKENS}, seed=0).epoch(0)
    return [collate_pairs(split, update[0]) for update in updates[: rounds + 1]]


def decoding_batch(sentences: int) -> PairBatch:
    """Sentences of neighbouring lengths around the mean, as a sorted test set is cut."""
    split = made_up_pairs()
    lengths = pair_lengths(split)[:2000, 0]
    order = lengths.argsort(kind="stable")
    middle = int((lengths < lengths.mean()).sum())
    return collate_pairs(split, order[middle - sentences // 2 : middle + sentences // 2])


def contenders(task: str, shape: Mapping[str, int], beam: int, rounds: int) -> dict[str, Job]:
    """Who takes part; times are relative to the first one's."""
    kind = "decode" if task == "decode" else "train"
    shared = {"task": kind, "shape": dict(shape), "beam": beam, "rounds": rounds}
    ours = {name: shared | {"who": "ours", "mechanism": name} for name in MECHANISMS}
    if task == "mechanisms":
        return dict(ours)
    theirs = shared | {"who": "torch"}
    return {
        "ours": ours["softmax"],
        "torch, default": theirs | {"matmul": "highest"},
        "torch, fast": theirs | {"matmul": "medium"},
    }


def report(results: Mapping[str, list[Turn]]) -> dict[str, Any]:
    """The speeds, and whether the same came out: losses without dropout, or translations."""
    first = next(iter(results.values()))[-1]
    if "texts" not in first:
        said = {"loss_without_dropout": {name: turns[0]["loss"] for name, turns in results.items()}}
    else:
        same = {
            name: sum(a == b for a, b in zip(turns[-1]["texts"], first["texts"], strict=True))
            for name, turns in results.items()
        }
        said = {"sentences": len(first["texts"]), "translated_alike": same}
    return said | {"contenders": summary(results)}


def main() -> None:
    """Run one benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("task", choices=["train", "decode", "mechanisms"])
    parser.add_argument("--shape", choices=SHAPES, required=True)
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    given = parser.parse_args()
    taking_part = contenders(given.task, SHAPES[given.shape], given.beam, given.rounds)
    settings = {"schema": 1, "task": given.task, "shape": given.shape, "rounds": given.rounds}
    if given.task == "decode":
        settings["beam"] = given.beam
    settings |= {"machine": machine()} | report(race(start, taking_part, given.rounds))
    beam = f"_beam{given.beam}" if given.task == "decode" else ""
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / MEASURED
    known = json.loads(file.read_text()) if file.is_file() else {}
    known[f"{given.task}_{given.shape}{beam}"] = settings
    file.write_text(json.dumps(known, indent=1) + "\n")
    print(json.dumps(settings, indent=1))


if __name__ == "__main__":
    main()
