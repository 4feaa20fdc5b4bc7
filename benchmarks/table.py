"""Write the last results of the benchmarks as one page, `benchmarks/results/README.md`.

python -m benchmarks.table
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MEASURED = "measured.json"
"""The last results, by name."""
HEAD = """\
# Speed of translation

Made by `make bench` out of `measured.json`. One core, single precision; all contenders
have the same weights and batches and take turns. A speed is work per processor time, relative to
`torch.nn.Transformer` in two modes of matrix products or to softmax: the median over the rounds,
in brackets the least and the most. Tokens are those of the target.
"""


def page(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of results by name."""
    against = ["| shape | work | tokens/s | torch, default = 1 | torch, fast = 1 |"]
    mechanisms = ["| shape | mechanism | speed of a training step, softmax = 1 |"]
    against.append("|---" * 5 + "|")
    mechanisms.append("|---" * 3 + "|")
    for name in sorted(results):
        result = results[name]
        shape, rows = result["shape"], result["contenders"]
        if result["task"] == "mechanisms":
            mechanisms += [
                f"| {shape} | {who} | {_speed(row, inverse=True)} |" for who, row in rows.items()
            ]
            continue
        beams = result.get("beam")
        work = {None: "training", 1: "greedy search"}.get(beams, f"search, beam {beams}")
        ours = rows["ours"]["tokens_per_cpu_second"]
        times = " | ".join(
            _speed(rows[f"torch, {mode}"], inverse=False) for mode in ("default", "fast")
        )
        against.append(f"| {shape} | {work} | {ours:,.0f} | {times} |")
    machines = sorted({_machine(result["machine"]) for result in results.values()})
    return "\n".join([HEAD, *against, "", *mechanisms, "", *machines, ""])


def _speed(row: Mapping[str, Any], inverse: bool) -> str:
    """A contender's relative time, or with `inverse` its relative speed, with its range."""
    middle, rounds = row["relative_cpu_time"], row["relative_cpu_time_of_rounds"]
    if inverse:
        middle, rounds = 1 / middle, [1 / one for one in rounds]
    return f"{middle:.2f} ({min(rounds):.2f} to {max(rounds):.2f})"


def _machine(machine: Mapping[str, Any]) -> str:
    return (
        f"Measured on {machine['cpu']} (family {machine['family']}, model {machine['model']}, "
        f"{machine['cores']} cores), torch {machine['torch']}, Python {machine['python']}."
    )


def main() -> None:
    """Write the page from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results"))
    folder = parser.parse_args().results
    (folder / "README.md").write_text(page(json.loads((folder / MEASURED).read_text())))


if __name__ == "__main__":
    main()
