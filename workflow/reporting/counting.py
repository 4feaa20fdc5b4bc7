"""Comparisons with printed numbers, counted by verdict: of trained models apart from the rest."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflow.reporting.claims_table import points_against
from workflow.reporting.files import read_csv, read_json
from workflow.reporting.verdict import WORDS

PAPERS = {
    "000": "Kinley's thesis",
    "001": "Explicit Sparse Transformer",
    "002": "Contextualized Role Interaction",
    "003": "the submission of Discrete Transformer",
    "004": "Approximating How Single Head Attention Learns",
}
"""By the number that sources have, the paper."""
COMPARED = ("reproduced", "close", "differs")
DECIDED = ("holds", "does not hold")
"""The verdicts on claims that settle them."""


@dataclass(frozen=True)
class Comparison:
    """A number of ours beside a printed one."""

    source: str
    trained: bool
    """Whether it depends on a training; sizes and untrained baselines do not."""
    verdict: str


def comparisons(folder: Path) -> list[Comparison]:
    """Return the comparisons below a scale's folder, without tables that repeat another."""
    found = []
    for path in sorted((folder / "tables").glob("*/*.csv")):
        sidecar = read_json(path.with_suffix(".json"))
        if sidecar.get("repeats"):
            continue
        found += [
            Comparison(record["source"], trained(sidecar, record["metric"]), record["verdict"])
            for record in read_csv(path)
            if record["expected"] and record["verdict"] in WORDS
        ]
    return found


def trained(sidecar: Mapping[str, Any], metric: str) -> bool:
    """Return whether a table's metric depends on a training, as its tolerance says."""
    rule = sidecar["tolerances"].get(metric, {})
    return "corpora" not in sidecar and rule.get("seed_std") != 0


def said(found: Sequence[Comparison]) -> str:
    """Return how many comparisons got which verdict, in two sentences."""

    def of(wanted: Callable[[Comparison], bool]) -> tuple[int, str]:
        counted = Counter(one.verdict for one in found if wanted(one))
        words = [f"{counted[word]} {word.removesuffix('s')}" for word in COMPARED]
        return sum(counted[word] for word in COMPARED), ", ".join(words)

    models, of_models = of(lambda one: one.trained)
    others, of_others = of(lambda one: not one.trained)
    rest = Counter(one.verdict for one in found)
    return (
        f"{models} comparisons of trained models with printed numbers: {of_models}; "
        f"{others} of data and baselines: {of_others}. "
        f"{rest['not comparable']} more are not comparable, and {rest['not run']} were not run."
    )


def claims_said(claims: Sequence[Mapping[str, Any]]) -> str:
    """Return how many claims got which verdict, in a sentence."""
    counted = Counter(claim["verdict"] for claim in claims)
    against = sum(map(points_against, claims))
    return (
        f"Of {len(claims)} claims {counted['holds']} hold, {counted['does not hold']} do not, "
        f"{counted['undecided']} are undecided, of which {against} point against the claim, "
        f"and {counted['not run']} were not run."
    )


def by_paper(claims: Sequence[Mapping[str, Any]], found: Sequence[Comparison]) -> str:
    """Return a Markdown table of what was decided and compared of each paper."""
    lines = [
        "| paper | claims decided | comparisons of trained models: reproduced / close / differ "
        "| not run |",
        "| --- | --- | --- | --- |",
    ]
    for number, title in PAPERS.items():
        own = [claim for claim in claims if claim["source"].startswith(number)]
        decided = sum(claim["verdict"] in DECIDED for claim in own)
        counted = Counter(one.verdict for one in found if one.trained and one.source == number)
        compared = " / ".join(str(counted[word]) for word in COMPARED)
        lines.append(
            f"| {number} {title} | {decided} of {len(own)} | {compared} | {counted['not run']} |"
        )
    return "\n".join(lines)
