"""What is published, computed again by code of this file alone from `runs` and `texts`."""

import csv
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from scipy import stats

from workflow.definitions.paper import Paper

ROOT = Path(__file__).parents[3]
LITE = ROOT / "docs/reproduction/lite"
TIMED = ("training_speed", "speed", "translation_speed", "cost")
"""Evaluators that time something: where a variant has runs on CPUs, those of others are out."""
PAPERS = sorted(path.stem for path in (LITE / "claims").glob("*.json"))


@cache
def read(path: Path) -> Any:
    """Return the content of a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def by_key(path: Path) -> dict[str, Any]:
    """Return the lines of a file of JSON lines by their keys."""
    with path.open(encoding="utf-8", newline="\n") as stream:
        values = [json.loads(line) for line in stream]
    return {value["key"]: value for value in values}


def told(place: str, kind: str, name: str) -> Any:
    """Return `evaluator.metric` of measures, which stand at `<file>#<key of the line>`.

    Of `evaluator.metric>bar` it is 1 where the metric is above the bar.
    """
    file, _, key = place.partition("#")
    name, _, bar = name.partition(">")
    evaluator, _, metric = name.partition(".")
    evaluators = by_key(ROOT / file)[key]["measures"]["evaluators"]
    found = evaluators.get(evaluator, {}).get(kind, {}).get(metric)
    return {**found, "value": int(found["value"] > float(bar))} if found and bar else found


def device(place: str) -> str:
    """Return what the run at `<file>#<key of the line>` was trained on."""
    file, _, key = place.partition("#")
    return str(by_key(ROOT / file)[key]["device"])


def of_seed(cell: Mapping[str, Any]) -> list[tuple[float, dict[str, Any]]]:
    """Return the number that each run of a cell has, with what stands beside it."""
    paths = cell["measures"]
    if cell["measure"].partition(".")[0] in TIMED:
        paths = [path for path in paths if device(path) == "cpu"] or paths
    scalars = [told(path, "scalars", cell["measure"]) for path in paths]
    return [
        (scalar["value"], scalar)
        for scalar in scalars
        if scalar and isinstance(scalar["value"], int | float)
    ]


def student(values: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """Return the interval of a mean."""
    mean = float(np.mean(values))
    if np.ptp(values) == 0:
        return mean, mean
    low, high = stats.t.interval(level, len(values) - 1, loc=mean, scale=stats.sem(values))
    return float(low), float(high)


def cells() -> Iterator[tuple[str, dict[str, Any], dict[str, str]]]:
    """Yield the place, the record and the row of the CSV of every cell that quotes measures."""
    for path in sorted((LITE / "tables").glob("*/*.csv")):
        with path.open(encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        key = ("source", "row", "column", "metric", "spread_over")
        of_cell: dict[tuple[str, ...], list[dict[str, str]]] = {}
        for row in rows:
            of_cell.setdefault(tuple(row[name] for name in key), []).append(row)
        listed = by_key(LITE / "tables/provenance.jsonl")
        for cell in listed[f"{path.parent.name}/{path.stem}"]["cells"]:
            if cell.get("measures") and cell.get("measure"):
                found = of_cell[tuple(cell[name] or "" for name in key)]
                assert len(found) == 1, (path, cell)
                name = f"{path.parent.name}/{path.stem}: {cell['row']}, {cell['metric']}"
                yield name, cell, found[0]


def test_means_spreads_and_intervals_of_every_cell() -> None:
    counts: Counter[str] = Counter()
    for place, cell, row in cells():
        if not (runs := of_seed(cell)) or not row["mean"]:
            continue
        values = [value for value, _ in runs]
        mean = max(values) if row["statistic"] == "max" else float(np.mean(values))
        assert float(row["mean"]) == pytest.approx(mean, rel=1e-5, abs=1e-9), place
        counts["means"] += 1
        if cell["spread_over"] == "runs" and row["std"]:
            assert float(row["std"]) == pytest.approx(stats.tstd(values), rel=1e-4, abs=1e-9), place
            assert int(row["n"]) == len(values), place
            counts["spreads"] += 1
        if cell["spread_over"] == "runs" and row["ci_low"]:
            if set(values) <= {0, 1} and "exact interval" in row["note"]:
                _, low, high = proportion(values, "exact")
            else:
                low, high = student(values)
            least, most = possible(row["unit"], cell["measure"], values)
            low, high = max(low, least), min(high, most)
            counts["cut"] += (low, high) != student(values) and high == most
            assert float(row["ci_low"]) == pytest.approx(low, rel=1e-4, abs=1e-6), place
            assert float(row["ci_high"]) == pytest.approx(high, rel=1e-4, abs=1e-6), place
            counts["intervals"] += 1
        if cell["spread_over"] == "examples" and row["std"]:
            # Of equal numbers of examples: the root of the mean variance within runs.
            deviations = [scalar["std"] for _, scalar in runs if scalar.get("std") is not None]
            within = math.sqrt(float(np.mean(np.square(deviations))))
            assert float(row["std"]) == pytest.approx(within, rel=1e-4), place
            counts["over examples"] += 1
    assert counts["means"] > 800 and counts["intervals"] > 300 and counts["over examples"] > 10
    assert counts["cut"] > 20


def lines(node: Mapping[str, str], file: str) -> list[str]:
    """Return the texts that a measure in a file refers to."""
    texts: list[str] = by_key(LITE / "texts" / file)[node["texts"]]["texts"]
    return texts


def in_words(system: Sequence[str], truth: Sequence[str]) -> float:
    """Return BLEU of texts in words, in lower case."""
    bleu = sacrebleu.BLEU(lowercase=True, tokenize="none", smooth_method="none", force=True)
    return float(bleu.corpus_score(list(system), [list(truth)]).score)


def test_bleu_of_every_translation_that_is_kept() -> None:
    scored = 0
    for path in sorted((LITE / "runs").iterdir()):
        evaluators = (
            (key, it)
            for key, run in by_key(path).items()
            for it in run["measures"]["evaluators"].values()
        )
        for key, evaluator in evaluators:
            arrays, scalars = evaluator["arrays"], evaluator["scalars"]
            if "bleu" in scalars and "hypotheses" in arrays and "references" in arrays:
                sides = (lines(arrays[side], path.name) for side in ("hypotheses", "references"))
                bleu = in_words(*sides)
                assert scalars["bleu"]["value"] == pytest.approx(bleu, abs=1e-6), (path, key)
                scored += 1
    assert scored > 30


def number(place: str, measure: str, over: str) -> float | np.ndarray:
    """Return what a run has of a measure: a score, its examples', or BLEU of its translations."""
    if over == "examples":
        return np.array(told(place, "arrays", measure), float)
    if over == "corpora":
        evaluator = measure.partition(".")[0]
        sides = ("hypotheses", "references")
        kept = [told(place, "arrays", f"{evaluator}.{side}") for side in sides]
        file = Path(place.partition("#")[0]).name
        return in_words(*(lines(one, file) for one in kept))
    return float(told(place, "scalars", measure)["value"])


def sides(claim: Mapping[str, Any], definition: Mapping[str, Any]) -> list[list[Any]]:
    """Return what each run of the left side has, and of the right one; a constant has none.

    What a control of the same seed has is taken off.
    """

    def places(variant: str | None) -> dict[int, str]:
        keys = {place: place.partition("#")[2].split("/") for place in claim["measures"]}
        of_variant = {place: seed for place, (one, seed) in keys.items() if one == variant}
        return {int(seed.removeprefix("seed-")): place for place, seed in of_variant.items()}

    found: list[list[Any]] = []
    for side in (definition["left"], definition["right"]):
        runs, controls = places(side.get("variant")), places(side.get("beyond"))
        # Groups of runs are independent, other sides are paired by seed.
        seeds = runs if claim["over"] == "proportions" else claim["seeds"] if runs else []
        measure, over = side.get("measure", definition["measure"]), claim["over"]
        found.append([number(runs[seed], measure, over) for seed in seeds])
        if "times" in side:
            found[-1] = [side["times"] * value for value in found[-1]]
        if controls:
            found[-1] = [
                value - number(controls[seed], measure, over)
                for seed, value in zip(seeds, found[-1], strict=True)
            ]
    return found


def proportion(
    outcomes: Sequence[float], method: str, level: float = 0.95
) -> tuple[float, float, float]:
    """Return a fraction of runs with its interval."""
    ends = stats.binomtest(int(sum(outcomes)), len(outcomes)).proportion_ci(level, method)
    return float(np.mean(outcomes)), float(ends.low), float(ends.high)


def of_groups(
    left: list[float], right: list[float], fixed: float, level: float
) -> tuple[float, float, float]:
    """Return a difference of fractions with its interval, Newcombe's where both are of runs."""
    p, low, high = proportion(left, "wilson" if right else "exact", level)
    if not right:
        return p - fixed, low - fixed, high - fixed
    q, other_low, other_high = proportion(right, "wilson", level)
    below, above = math.hypot(p - low, other_high - q), math.hypot(high - p, q - other_low)
    return p - q, p - q - below, p - q + above


def by_fisher(left: list[float], right: list[float]) -> float:
    """Return twice the smaller tail of Fisher's test."""
    table = [[sum(side), len(side) - sum(side)] for side in (left, right)]
    tails = [stats.fisher_exact(table, tail).pvalue for tail in ("less", "greater")]
    return float(min(1, 2 * min(tails)))


def too_small(
    claim: Mapping[str, Any], differences: np.ndarray, level: float
) -> tuple[bool, int | None, int | None]:
    """Return whether a test set is too small for any number of seeds, and what would be enough.

    With N examples the variance of a mean over S seeds is (a + b / S) / N, where a is the mean
    covariance of two seeds. That of the seeds' mean is of their spread, and both count.
    """
    effect = 2 * claim["interest"] if claim["interest"] else abs(claim["margin"])
    known = differences[:, ~np.isnan(differences).any(axis=0)]
    seeds, n = known.shape
    times = stats.t.ppf(0.5 + level / 2, n - 1) / math.sqrt(n)
    half = times * known.mean(axis=0).std(ddof=1)
    if not effect or half <= effect or abs(claim["estimate"] - claim["margin"]) > half:
        return False, None, None
    needed = math.ceil(n * (half / effect) ** 2)
    if seeds == 1:
        return False, needed, None
    pairs = [np.cov(known[one], known[two])[0, 1] for one in range(seeds) for two in range(one)]
    a = max(0.0, float(np.mean(pairs)))
    if times * math.sqrt(a) > effect:
        return True, math.ceil(n * (times * math.sqrt(a) / effect) ** 2), None
    b = seeds * (float(known.mean(axis=0).var(ddof=1)) - a)
    spread = np.nanmean(differences, axis=1).std(ddof=1)
    more = np.arange(seeds + 1, 100)
    of_seeds = (stats.t.ppf(0.5 + level / 2, more - 1) * spread) ** 2 / more
    enough = more[times**2 * (a + b / more) + of_seeds <= effect**2]
    return False, needed, int(enough[0]) if len(enough) else None


def of_pairs(differences: np.ndarray, level: float) -> tuple[float, float, float]:
    """Return a mean difference with the interval of seeds (first axis) and of examples."""
    seeds = np.nanmean(differences.reshape(len(differences), -1), axis=1)
    halves = [student(seeds, level)[1] - seeds.mean()] if len(seeds) > 1 else []
    estimate = float(seeds.mean())
    if differences.ndim == 2:
        examples = differences.mean(axis=0)
        examples = examples[~np.isnan(examples)]
        estimate = float(examples.mean())
        halves.append(student(examples, level)[1] - estimate)
    half = math.hypot(*halves)
    return estimate, estimate - half, estimate + half


def possible(unit: str, measure: str, values: Sequence[float] = ()) -> tuple[float, float]:
    """What a measure can be at least and at most; some mechanisms' weights are not bounded."""
    if measure.endswith(("attention", "best_head", "last_bottom", "last_top", ".threshold")):
        shares = values and all(0 <= value <= 1 for value in values)
        return (0, 1) if shares else (-math.inf, math.inf)
    if unit in ("K tokens/s", "ms", "tokens", "updates", "x100"):
        return 0, math.inf
    if unit in ("%", "BLEU", "fraction"):
        return 0, 1 if unit == "fraction" else 100
    if unit in ("tau", "probability"):
        return -1, 1
    return (-100, 100) if unit == "tau x100" else (-math.inf, math.inf)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_that_was_run(paper: str) -> None:
    claims = Paper(paper).claims
    definitions = {claim["id"]: claim for claim in claims["claims"]}
    planned = claims.get("looks", {}).get("lite", {})
    for claim in read(LITE / f"claims/{paper}.json")["claims"]:
        if claim["estimate"] is None:
            continue
        place = f"{paper}: {claim['id']}"
        left, right = sides(claim, definitions[claim["id"]])
        fixed, looks = claim["right"]["mean"], planned.get(claim["id"], [])
        level = 1 - 0.05 / max(1, len(looks))
        undecidable = False
        if claim["over"] == "proportions":
            estimate, low, high = of_groups(left, right, fixed, level)
        else:
            differences = np.array(left) - np.array(right or fixed)
            estimate, low, high = of_pairs(differences, level)
            if claim["over"] == "examples":
                undecidable, *enough = too_small(claim, differences, level)
                assert [claim["needed"], claim["enough"]] == enough, place
        if claim["over"] == "runs" and claim["p"] and claim["verdict"] != "no difference":
            edges = (claim["margin"], -claim["margin"])[: 1 + (claim["direction"] == "equal")]
            p = max(stats.ttest_1samp(differences, edge).pvalue for edge in edges)
            p = min(1, p * max(1, len(looks)))
            assert claim["p"] == pytest.approx(p, rel=1e-4, abs=1e-9), place
        assert claim["estimate"] == pytest.approx(estimate, abs=1e-6), place
        if claim["ci_low"] is None:
            assert claim["verdict"] == "undecided", place
            continue
        if claim["over"] != "corpora":  # over corpora the interval is drawn
            ends = (claim["ci_low"], claim["ci_high"])
            definition = definitions[claim["id"]]
            measure = definition["left"].get("measure", definition.get("measure", ""))
            least, most = possible(claim["unit"].replace("points", "%"), measure)
            if "beyond" in definition["left"]:
                least, most = least - most, most - least
            same = claim["over"] == "runs" and len(right) > 1 and len({*right}) == 1
            free = claim["right"]["variant"] and not same
            other = (least, most) if free else (fixed, fixed)
            low, high = max(low, least - other[1]), min(high, most - other[0])
            assert ends == pytest.approx((low, high), abs=1e-6), place
        low, high, margin = claim["ci_low"], claim["ci_high"], claim["margin"]
        beyond = {"greater": low > margin, "less": high < margin}
        if claim["direction"] == "equal":
            equal, apart = -margin < low and high < margin, low > margin or high < -margin
            beyond = {"equal": equal, "apart": apart}
        expected = "holds" if beyond.pop(claim["direction"]) else "undecided"
        expected = "does not hold" if any(beyond.values()) else expected
        expected = "undecidable" if undecidable and expected == "undecided" else expected
        if claim["over"] == "proportions" and right:
            chance = by_fisher(left, right) * max(1, len(looks)) > 0.05
            expected = "undecided" if chance else expected
        seeds = len(left)
        assert claim["verdict"] in (expected, "undecided"), place
        if looks and seeds not in looks:
            assert claim["verdict"] == "undecided", place
        elif claim["over"] == "proportions" or seeds > 3:
            assert claim["verdict"] == expected, place
