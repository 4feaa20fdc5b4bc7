"""The last results of `benchmarks.gpu` as one page, which `benchmarks.table` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

HEAD = """\
# Speed on a GPU

Made by `python -m benchmarks.gpu` and `python -m benchmarks.table` out of `gpu.json`. Tokens
per second, of translation those of the target: the median of three rounds. Training is in bf16, of
whole updates, as the training loop makes them, of batches that all differ in shape. Share: the
matrix products of a model without padding, in parts of the rate of large bf16 matrices.

- torch: `torch.nn.Transformer` with the same weights, batches and sums; to search, its layers with
  a cache of keys and values.
- replayed: one batch as a CUDA graph, which waits for no Python. Training can't do so, as no shape
  comes twice; it tells what Python costs.
"""


def page(told: Mapping[str, Any]) -> str:
    """The page of what was measured."""
    sections = [HEAD.rstrip("\n"), *_training(told), *_mechanisms(told), *_search(told)]
    sections += [*_sharing(told), _machine(told["machine"])]
    return "\n\n".join(sections) + "\n"


def _training(told: Mapping[str, Any]) -> Iterator[str]:
    """A table a shape: ours, torch's and the replayed one, by the size of the batch."""
    rate = told["machine"]["matrix_tflops"]["bf16"]
    for shape, work in told["gflop_per_token"].items():
        head = ["tokens of a batch", "ours", "share", "torch", "ours beside it"]
        lines = [[*head, "ours, replayed", "share"]]
        for found in _matching(told, rf"train {shape}, (\d+) tokens, ours"):
            size = found[1]
            names = ("ours", "torch", "ours, graph")
            ours, theirs, graph = (_rate(told, f"train {shape}, {size} tokens, {n}") for n in names)
            shares = [f"{one * work / 1e3 / rate:.3f}" for one in (ours, graph)]
            lines.append([f"{int(size):,}", f"{ours:,.0f}", shares[0], f"{theirs:,.0f}"])
            lines[-1] += [f"{ours / theirs:.2f}", f"{graph:,.0f}", shares[1]]
        yield _section(f"Training, {shape}", lines)


def _mechanisms(told: Mapping[str, Any]) -> Iterator[str]:
    """Each mechanism beside softmax."""
    lines = [["mechanism", "sentences", "beside softmax", "texts", "beside softmax"]]
    soft = [_rate(told, f"mechanisms, {of}, softmax") for of in ("sentences", "texts")]
    for found in _matching(told, "mechanisms, sentences, (.+)"):
        both = [_rate(told, f"mechanisms, {of}, {found[1]}") for of in ("sentences", "texts")]
        cells = [(f"{a:,.0f}", f"{a / b:.2f}") for a, b in zip(both, soft, strict=True)]
        lines.append([found[1], *cells[0], *cells[1]])
    title = "Mechanisms: sentences at shape iwslt, 16,384 tokens; texts of up to 500, 32,768 tokens"
    yield _section(title, lines)


def _search(told: Mapping[str, Any]) -> Iterator[str]:
    """Searches by shape, beam and number of sentences."""
    lines = [["shape", "beam", "sentences", "ours, fp32", "ours, bf16", "torch, cached, fp32"]]
    for found in _matching(told, r"search (\w+), beam (\d), (\d+) sentences, ours, fp32"):
        place = found[0].removesuffix("ours, fp32")
        rates = [told["rows"].get(place + name) for name in lines[0][3:]]
        cells = [f"{row['tokens_per_second']:,.0f}" if row else "" for row in rates]
        lines.append([*found.groups(), *cells])
    yield _section("Search", lines)


def _sharing(told: Mapping[str, Any]) -> Iterator[str]:
    """Programs beside each other."""
    lines = [["programs", "tokens/s of all", "beside one"]]
    one = _rate(told, "sharing, 1 programs")
    for found in _matching(told, "sharing, (.+)"):
        all_of_them = _rate(told, found[0])
        name = found[1].replace(" programs", "").replace("MPS", "with NVIDIA's MPS")
        lines.append([name, f"{all_of_them:,.0f}", f"{all_of_them / one:.1f}"])
    yield _section("Programs that train shape small at once, batches of 2,048 tokens", lines)


def _matching(told: Mapping[str, Any], pattern: str) -> list[re.Match[str]]:
    return [found for name in told["rows"] if (found := re.fullmatch(pattern, name))]


def _rate(told: Mapping[str, Any], name: str) -> float:
    return float(told["rows"][name]["tokens_per_second"])


def _section(title: str, lines: Sequence[Sequence[str]]) -> str:
    head, *rest = lines
    table = [head, ["---", *["--:"] * (len(head) - 1)], *rest]
    return "\n".join([f"## {title}", "", *(f"| {' | '.join(line)} |" for line in table)])


def _machine(machine: Mapping[str, Any]) -> str:
    rates = machine["matrix_tflops"]
    return (
        f"{machine['gpu']}, beside {machine['cores']} cores of {machine['cpu']}; large matrices: "
        f"{rates['bf16']:.0f} TFLOP/s in bf16, {rates['fp32']:.0f} in single precision. "
        f"torch {machine['torch']}, Python {machine['python']}."
    )
