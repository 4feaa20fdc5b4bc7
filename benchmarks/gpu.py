"""Speed on a GPU: training, every mechanism beside softmax, and search.

    python -m benchmarks.gpu [part ...]

It needs torch and numpy alone. Updates are whole ones, as the training loop makes them: batches are
gathered on the CPU and sent, in bf16 but for the losses' sums and the weights. `graph` replays one
batch, so it waits for no Python: the rest is what Python costs. Where torch finds no GPU, sizes are
tiny and times mean nothing. Results go to `benchmarks/results/`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.cached import CachedTransformer
from benchmarks.ceiling import device_rates, wait
from benchmarks.decoding import decoding_batch
from benchmarks.made_up import made_up_pairs, made_up_texts
from benchmarks.mechanisms import make_classifier
from benchmarks.models import MECHANISMS, SHAPES, enliven, make_ours, make_theirs
from benchmarks.race import machine
from benchmarks.record import FOLDER
from benchmarks.training import work_per_token
from model.architectures.translation.beam_search import Beam
from model.batches.batching import Sampler
from model.batches.pairs import PairSampler
from model.objectives.classification import Classification
from model.objectives.translation import Translation
from model.training.optimization import adam, autocast, set_numerics
from workflow.runtime.preflight import prepare_process

CUDA = torch.cuda.is_available()
DEVICE = torch.device("cuda" if CUDA else "cpu")
MEASURED = "gpu.json"
ROUNDS, TOKENS, WARM = (3, 80_000, 4) if CUDA else (1, 1, 1)
"""Times that are taken; tokens of each, in three updates at least; and updates before the first."""
SIZES = (4096, 16384, 32768, 65536) if CUDA else (256,)
"""Tokens of a batch."""
SHORT, LONG = (16384, 32768) if CUDA else (256, 600)
"""Tokens of a batch where mechanisms are compared: sentences, and texts of up to 500."""
SENTENCES = (128, 1024) if CUDA else (2,)
SHARED, PROGRAMS, SECONDS = (2048, (1, 4, 12), 8.0) if CUDA else (256, (1, 2), 0.1)
"""Tokens of a batch where programs share the GPU, how many do, and how long."""
SERVICE = ", MPS" if "CUDA_MPS_PIPE_DIRECTORY" in os.environ else ""
"""NVIDIA's service by which programs use a GPU at once, not in turns."""
Loss = Callable[[Any, Any], Tensor]
Row = dict[str, Any]
Work = Callable[[], Row]


def updates(model: nn.Module, loss: Loss, batches: Iterator[Any]) -> Callable[[], int]:
    """One update, as the training loop makes it; its number of tokens."""
    optimizer = adam(model, {"lr": 1e-4, "betas": [0.9, 0.98]})
    model.train()

    def update() -> int:
        batch = next(batches)
        optimizer.zero_grad(set_to_none=True)
        with autocast("bf16", DEVICE):
            mean = loss(model, batch)
        mean.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return tokens(batch)

    return update


def graphed(model: nn.Module, loss: Loss, batches: Iterator[Any]) -> Callable[[], int]:
    """One update of one batch, recorded once and replayed."""
    model.train()
    batch = next(batches)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True, capturable=True)

    def update() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE.type, torch.bfloat16, cache_enabled=False):
            mean = loss(model, batch)
        mean.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(WARM):
            update()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        update()

    def replay() -> int:
        graph.replay()
        return tokens(batch)

    return replay


def timed(work: Callable[[], int], warm: int = WARM, often: int = 0) -> Row:
    """Tokens per second, the median of the rounds and all of them, and the memory it took."""
    for _ in range(warm):
        of_one = work()
    often = often or max(ROUNDS, TOKENS // of_one)
    rates = []
    for _ in range(ROUNDS):
        wait(DEVICE)
        start = time.perf_counter()
        done = sum(work() for _ in range(often))
        wait(DEVICE)
        rates.append(done / (time.perf_counter() - start))
    row: Row = {"tokens_per_second": round(statistics.median(rates), 1)}
    row["of_rounds"] = [round(rate, 1) for rate in rates]
    if CUDA:
        row["memory_mb"] = round(torch.cuda.max_memory_allocated() / 1e6)
    return row


def tokens(batch: Any) -> int:
    """Target tokens of pairs, tokens of texts."""
    return len(batch.layout.places) if hasattr(batch, "layout") else int(batch.counted)


def pairs(size: int) -> Iterator[Any]:
    """Batches of sentence pairs, as training draws and sends them, without an end."""
    sampler = PairSampler(made_up_pairs(), {"tokens": size}, seed=0)
    while True:
        for examples in sampler.epoch(0):
            yield from sampler.batches(examples, DEVICE)


class Counted:
    """A batch of texts and its number of tokens, which a GPU need not be asked."""

    def __init__(self, batch: Any, counted: int) -> None:
        self.batch, self.counted = batch, counted


def texts(size: int) -> Iterator[Counted]:
    """Batches of texts, as training draws and sends them, without an end."""
    split = made_up_texts()
    sampler = Sampler(split, {"tokens": size}, seed=0)
    while True:
        for examples in sampler.epoch(0):
            for batch in sampler.batches(examples, DEVICE):
                yield Counted(batch, batch.tokens.numel() - batch.padding)


def our_loss(model: Any, batch: Any) -> Tensor:
    """The loss as the training loop takes it."""
    return Translation().loss(model, batch, 0.0).mean


def text_loss(model: Any, batch: Any) -> Tensor:
    """The loss of a classifier, as the training loop takes it."""
    return Classification().loss(model, batch.batch, 0.0).mean


def their_loss(model: Any, batch: Any) -> Tensor:
    """The baseline's loss."""
    loss: Tensor = model.loss(batch)
    return loss


def training() -> Iterator[tuple[str, Work]]:
    """Yield what is trained."""
    for shape in SHAPES:
        for size in SIZES:
            place = f"train {shape}, {size} tokens"
            for name in ("ours", "torch"):
                yield f"{place}, {name}", partial(train, shape, size, name)
            if CUDA:
                yield f"{place}, ours, graph", partial(replay, shape, size)


def compiled() -> Iterator[tuple[str, Work]]:
    """Yield what is trained compiled, for varying shapes."""
    for name in ("ours", "torch"):
        work = partial(train, "iwslt", SHORT, name, compiled=True)
        yield f"train iwslt, {SHORT} tokens, {name}, compiled", work


def train(shape: str, size: int, name: str, compiled: bool = False) -> Row:
    """Train on batches of a size."""
    model, loss = contender(name, SHAPES[shape])
    if compiled and name == "ours":
        model.compile(dynamic=True)
    elif compiled:
        loss = torch.compile(loss, dynamic=True)
    return timed(updates(model, loss, pairs(size)))


def replay(shape: str, size: int) -> Row:
    """Train on one batch, again and again."""
    return timed(graphed(*contender("ours", SHAPES[shape]), pairs(size)), 1)


def mechanisms() -> Iterator[tuple[str, Work]]:
    """Yield every mechanism, on sentences at shape `iwslt` and on texts of up to 500 tokens."""
    for name in MECHANISMS:
        yield f"mechanisms, sentences, {name}", partial(on_sentences, name)
        yield f"mechanisms, texts, {name}", partial(on_texts, name)


def on_sentences(mechanism: str) -> Row:
    """Train a translation model."""
    model = make_ours(SHAPES["iwslt"], mechanism).to(DEVICE)
    return timed(updates(model, our_loss, pairs(SHORT)))


def on_texts(mechanism: str) -> Row:
    """Train a classifier."""
    model = make_classifier(mechanism).to(DEVICE)
    return timed(updates(model, text_loss, texts(LONG)))


def search() -> Iterator[tuple[str, Work]]:
    """Yield searches, ours and, of fewer sentences, those of the baseline with a cache."""
    for shape, beam in (("iwslt", 1), ("iwslt", 5), ("small", 1), ("small", 4)):
        for sentences in SENTENCES:
            theirs = ["torch, cached, fp32"] * (sentences == SENTENCES[0])
            for name in ["ours, fp32", "ours, bf16", *theirs]:
                title = f"search {shape}, beam {beam}, {sentences} sentences, {name}"
                yield title, partial(translate, name, shape, beam, sentences)


def translate(name: str, shape: str, beam: int, sentences: int) -> Row:
    """Translate so many sentences."""
    return timed(searching(name, SHAPES[shape], beam, sentences), 1, 1)


def sharing() -> Iterator[tuple[str, Work]]:
    """Yield how many programs train shape `small` beside each other."""
    for programs in PROGRAMS:
        yield f"sharing, {programs} programs{SERVICE}", partial(at_once, programs)


def at_once(programs: int) -> Row:
    """Let programs train at once; the sum of what they do."""
    context = multiprocessing.get_context("spawn")
    begin, rates = context.Barrier(programs), context.Queue()
    started = [context.Process(target=share, args=(begin, rates)) for _ in range(programs)]
    for process in started:
        process.start()
    found = [rates.get(timeout=120) for _ in started]
    for process in started:
        process.join()
    return {"tokens_per_second": round(sum(found), 1), "of_programs": found}


def share(begin: Any, rates: Any) -> None:
    """Train at once with others; tokens per second."""
    prepare_process()
    set_numerics({"threads": 1, "matmul": "fast"}, DEVICE)
    update = updates(make_ours(SHAPES["small"]).to(DEVICE), our_loss, pairs(SHARED))
    for _ in range(WARM):
        update()
    wait(DEVICE)
    begin.wait(timeout=120)
    done, start = 0, time.perf_counter()
    while (took := time.perf_counter() - start) < SECONDS:
        done += update()
    wait(DEVICE)
    rates.put(round(done / took, 1))


def searching(name: str, shape: Mapping[str, int], beam: int, sentences: int) -> Callable[[], int]:
    """One search of so many sentences; the number of tokens found."""
    model: Any = enliven(make_ours(shape)).eval()
    batch = decoding_batch(sentences).to(DEVICE)
    settings = Beam(beam, length_ratio=1.0, length_extra=1)
    if name.startswith("torch"):
        theirs = make_theirs(model, shape, CachedTransformer).eval().to(DEVICE)

        def cached() -> int:
            found = theirs.translate(batch, settings)
            return sum(len(first.words) for first, *_ in found)

        return cached
    model.to(DEVICE)

    def ours() -> int:
        with autocast(name.removeprefix("ours, "), DEVICE), torch.no_grad():
            best = settings.search(model, batch.source, batch.source_layout).best()
        return sum(len(text) + 1 for text in best)

    return ours


def contender(name: str, shape: Mapping[str, int]) -> tuple[nn.Module, Loss]:
    """Ours or the baseline, with its loss."""
    model = make_ours(shape)
    if name == "ours":
        return model.to(DEVICE), our_loss
    return make_theirs(model, shape).to(DEVICE), their_loss


PARTS = {
    "training": training,
    "mechanisms": mechanisms,
    "search": search,
    "sharing": sharing,
    "compiled": compiled,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Time what is named, or everything."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--out", type=Path, default=FOLDER)
    given = parser.parse_args(arguments)
    if odd := set(given.parts) - PARTS.keys():
        parser.error(f"'{min(odd)}' is none of {', '.join(PARTS)}")
    prepare_process()
    set_numerics({"threads": 1, "matmul": "fast"}, DEVICE)
    file = given.out / MEASURED
    file.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(file.read_text()) if file.is_file() else {"rows": {}}
    known["machine"] = machine() | {
        "gpu": torch.cuda.get_device_name() if CUDA else None,
        "matrix_tflops": device_rates(DEVICE),
    }
    known["gflop_per_token"] = {
        name: round(work_per_token(shape, DEVICE), 5) for name, shape in SHAPES.items()
    }
    for part in given.parts or PARTS:
        for name, work in PARTS[part]():
            if CUDA:
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
            try:
                row = work()
            except torch.OutOfMemoryError:
                row = {"fails": "out of memory"}
            except RuntimeError as error:
                row = {"fails": str(error).splitlines()[0]}
            known["rows"][name] = row
            file.write_text(json.dumps(known, indent=1) + "\n")
            print(name, json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
