"""Write the last results of the benchmarks as pages in `benchmarks/results/`.

python -m benchmarks.table
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import gpu, gpu_table
from benchmarks.record import FOLDER, MEASURED

HEAD = """\
# Speed beside other engines

Made by `make bench` out of `measured.json`. The contenders of a table take turns on one core, with
the same weights, batches and search; 128 sentences are translated at once, of a trained model its
whole test set, some 4,096 tokens at once. Tokens are those of the target (of the text in
classification), per second of processor time. A speed is relative to the first contender's: the
median over the rounds, in brackets the least and the most.

- torch: `torch.nn.Transformer` as it comes; to decode, it reads every prefix anew, of a quarter of
  the 128 sentences.
- cached: its layers with a cache of keys and values.
- fast products: with the mode of matrix products that ours has.
- compiled: by `torch.compile`, for varying shapes.
- bf16: under torch's autocast.
- CTranslate2: in single precision, and with its weights in int8.

Share: what training needs of matrix products, padding left out, in parts of the rate at which the
machine multiplies large matrices in that precision.

Alike: translations that are those of ours. CTranslate2 ends a translation at the greatest length,
where ours adds EOS and its probability, so that the best of a beam can differ. Where no run is
named the weights are random, so many words are nearly tied, and the rounding of bf16 and int8
changes translations; what it costs a trained model, BLEU tells (sacrebleu's, of the test set).
"""
ROWS = {
    "short": "Mechanisms on short rows: an update of translation, shape small",
    "long": "Mechanisms on rows of up to 500 tokens: an update of classification",
}


def page(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of results by name."""
    sections = [_section(results[name]) for name in sorted(results)]
    return "\n\n".join([HEAD.rstrip("\n"), *sections]) + "\n"


def _section(result: Mapping[str, Any]) -> str:
    """A title, a table, and the machine."""
    rows = result["contenders"]
    if result["task"] == "mechanisms":
        title, head = ROWS[result["rows"]], ["mechanism", "tokens/s", "speed"]
        cells = [[name, *_speed(row)] for name, row in rows.items()]
    elif result["task"] == "train":
        title = f"Training, {result['shape']}"
        head = ["contender", "tokens/s", "speed", "share"]
        cells = [[name, *_speed(row), _share(name, row, result)] for name, row in rows.items()]
    else:
        beam = result["beam"]
        of = result.get("shape") or f"trained: {result['run']}"
        title = f"{'Greedy search' if beam == 1 else f'Search, beam {beam}'}, {of}"
        head = ["contender", "tokens/s", "speed", "alike"]
        cells = [
            [name, *_speed(row), f"{row['translated_as_ours']} of {row['sentences']}"]
            for name, row in rows.items()
        ]
        if "run" in result:
            head.append("BLEU")
            for cell, row in zip(cells, rows.values(), strict=True):
                cell.append(f"{row['bleu']:.2f}")
    lines = [f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *cells]]
    return "\n".join([f"## {title}", "", *lines, "", _machine(result["machine"])])


def _speed(row: Mapping[str, Any]) -> list[str]:
    """A contender's rate, and its speed relative to the first's, with its range."""
    rounds = [1 / one for one in row["relative_cpu_time_of_rounds"]]
    speed = f"{1 / row['relative_cpu_time']:.2f} ({min(rounds):.2f} to {max(rounds):.2f})"
    return [f"{row['tokens_per_cpu_second']:,.0f}", speed]


def _share(name: str, row: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """The part of the matrix rate, in a contender's precision, that training comes to."""
    rate = result["machine"]["matrix_gflops"]["bf16" if name.endswith("bf16") else "fp32"]
    return f"{row['tokens_per_cpu_second'] * result['gflop_per_token'] / rate:.2f}"


def _machine(machine: Mapping[str, Any]) -> str:
    rates = machine["matrix_gflops"]
    return (
        f"One of {machine['cores']} cores of {machine['cpu']} (family {machine['family']}, "
        f"model {machine['model']}); large matrices: {rates['fp32']:.0f} GFLOP/s in single "
        f"precision, {rates['bf16']:.0f} in bf16. torch {machine['torch']}, "
        f"Python {machine['python']}."
    )


def main() -> None:
    """Write the pages from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--results", type=Path, default=FOLDER)
    folder = parser.parse_args().results
    (folder / "README.md").write_text(page(json.loads((folder / MEASURED).read_text())))
    if (folder / gpu.MEASURED).is_file():
        told = json.loads((folder / gpu.MEASURED).read_text())
        (folder / "gpu.md").write_text(gpu_table.page(told))


if __name__ == "__main__":
    main()
