"""What a proof runs: a published spec, its training compressed into few updates, on small data."""

import copy
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from model.batches.corpus import text_lines
from workflow.datasets.encoded.prepared import SOURCE_VOCABULARY
from workflow.datasets.encoded.subwords import RESERVED
from workflow.datasets.kinds.recipe import Recipe, load
from workflow.equivalence.side import SCALES, Json
from workflow.planning.identity import canonical, without_paths

UPDATES = 40
"""A training is left halfway, and goes on from what was saved."""
BRIEF = 16
"""Updates of a twin in fp32 and of a kind's further forms: with a warm-up, a decay, an epoch's end,
an average and a stop, too."""
JUDGED = (0, 1, 2, 4, 7, 8, 12, 13, 19, 20, 26, 32, 38, 39)
"""The updates from whose states both sides make one more, where their trainings differ."""
ROWS = 200
"""Of training in a history at most; a run of fewer updates has one for each."""
KEPT = (20, 40)
"""The updates whose weights are kept, of a run that keeps any."""
SEED = 0x5A3C96E1
"""Of all runs of a proof; its bits are mixed, so that each of them counts."""
EXAMPLES, TOKENS = 8, 768
"""The largest batch; what is computed in parts of 512 positions has two."""
HALF = 4
"""How many times smaller batches of tokens are in bf16, which not every CPU is fast at."""
TRAIN, TEST = 104, 40
"""Examples of a split: in the largest batches an epoch is 13 updates."""
WARMUP, CLIP = 8, 20
"""Updates of a warm-up, and by what a bound on gradients is divided, so that both have effect."""

SHAPES = ("pixels",)
"""Options of data that a model is built for."""
SIZES = {"dev": 6, "train": 6, "examples": 12, "sequences": 12, "sentences": 12, "length_extra": 20}
"""The largest numbers of what evaluators look at, by their argument."""


def settings_of(entry: Json) -> str:
    """Return the settings of a variant as a text that is equal where settings are."""
    spec = entry["spec"]
    return canonical(
        without_paths({name: spec[name] for name in ("model", "objective", "training")})
    )


def form(value: Any) -> str:
    """Return settings without the size of their numbers; what is 0 stays apart."""
    if isinstance(value, Mapping):
        return str([(key, form(value[key])) for key in sorted(value)])
    if isinstance(value, list | tuple):
        return str(len(value) > 0)
    if isinstance(value, bool | str) or value is None:
        return repr(value)
    return "0" if value == 0 else "number"


def different_forms(keys: Iterable[str], listing: Mapping[str, Json]) -> list[str]:
    """Return of variants one of each form; published scales come before the others."""
    order = sorted(keys, key=lambda key: SCALES.index(key.partition("/")[0]))
    found: dict[str, str] = {}
    scale = order[0].partition("/")[0] if order else ""
    for key in order:
        if key.startswith(f"{scale}/"):
            found.setdefault(form(json.loads(settings_of(listing[key]))), key)
    return list(found.values())


def compressed(entry: Json, offset: int = 0) -> Json:
    """Return the spec that a proof runs in the place of a variant's.

    Model, objective and precision stay. Warm-up, decay, average and selection lie in 40 updates.
    """
    spec: Json = copy.deepcopy(entry["spec"])
    training = spec["training"]
    training.pop("epochs", None)
    training["updates"] = UPDATES
    training["threads"] = 1
    batch = training["batch"]
    tokens = TOKENS // (1 if training["precision"] == "fp32" else HALF)
    for name, most in (("examples", EXAMPLES), ("tokens", tokens), ("micro_tokens", tokens // 2)):
        if name in batch:
            batch[name] = min(batch[name], most)
    if training["schedule"].get("warmup"):
        training["schedule"]["warmup"] = WARMUP
    if training.get("average"):
        last = min(3, training["average"]["last"])
        training["average"] = {"last": last, "updates": 5}
    if training.get("clip"):
        training["clip"] /= CLIP
    spec["checkpoints"] = [*KEPT] if spec["checkpoints"] else []
    spec["seed"] = spec["run"]["seed"] = SEED + offset
    return spec


def shortened(node: Any) -> Any:
    """Return an evaluator or a recorder that looks at as little as a proof needs."""
    if not isinstance(node, Mapping):
        return node
    small = {name: shortened(value) for name, value in node.items()}
    return small | {
        name: min(small[name], most)
        for name, most in SIZES.items()
        if isinstance(small.get(name), int)
    }


def known_words(node: Json, encoded: str) -> Json:
    """Return an evaluator that asks for a word of some data, where it asks for one it has not."""
    words = text_lines(Path(encoded) / "vocabulary.txt")
    if "token" not in node or node["token"] in words:
        return node
    return {
        **node,
        "token": next(word for word in words[len(RESERVED) :] if not word.endswith("@@")),
    }


def in_single(spec: Json) -> Json:
    """Return a spec of a proof that computes in fp32 in the place of bf16."""
    batch = {
        name: size if name == "examples" else size * HALF
        for name, size in spec["training"]["batch"].items()
    }
    return {**spec, "training": {**spec["training"], "precision": "fp32", "batch": batch}}


def brief(spec: Json) -> Json:
    """Return a spec of a proof with fewer updates."""
    kept = [BRIEF // 2, BRIEF] if spec["checkpoints"] else []
    return {**spec, "checkpoints": kept, "training": {**spec["training"], "updates": BRIEF}}


def of_further_form(spec: Json) -> Json:
    """Return a spec of a proof with fewer updates, on batches that are as small as in bf16."""
    most = {"tokens": TOKENS // HALF, "micro_tokens": TOKENS // HALF // 2}
    batch = spec["training"]["batch"]
    small = {name: min(size, most.get(name, size)) for name, size in batch.items()}
    return brief({**spec, "training": {**spec["training"], "batch": small}})


def with_rows_apart(spec: Json) -> Json:
    """Return a spec of a proof whose history has a row for every second update."""
    updates = 2 * ROWS
    return {**spec, "training": {**spec["training"], "updates": updates}}


def small_recipe(key: str, listing: Mapping[str, Json]) -> Json | None:
    """Return the recipe of data that a variant can be proven on, None where there are none.

    Where its own data are generated, these, with fewer examples; else those of its experiment at
    scale `demo`, of the variant whose name is most alike, of images and languages as its own.
    """
    own = listing[key]["spec"]["run"]["data"]
    recipe = own if load(own).generated else _demo(key, listing)
    if recipe is None:
        return None
    fitting = {name: own[name] for name in SHAPES if name in own}
    if _languages(own) == _languages(recipe) != []:
        fitting["direction"] = own["direction"]
    return cut({**recipe, **fitting})


def further_recipes(key: str, part: str, listing: Mapping[str, Json]) -> dict[str, Json] | None:
    """Return the recipes of what an evaluator reads beside the data, by argument."""
    generated = {
        recipe["dataset"]: recipe
        for entry in listing.values()
        for recipe in entry["further"].values()
        if load(recipe).generated
    }
    found = {
        name: recipe if load(recipe).generated else generated.get(recipe["dataset"])
        for name, recipe in _further(listing[key], part).items()
    }
    return None if None in found.values() else found  # type: ignore[return-value]


def _languages(recipe: Json) -> list[str]:
    return sorted(str(recipe.get("direction", "")).split("_")) if "direction" in recipe else []


def _further(entry: Json, part: str) -> dict[str, Recipe]:
    named = ((name.partition("."), recipe) for name, recipe in entry["further"].items())
    return {argument: recipe for (evaluator, _, argument), recipe in named if evaluator == part}


def _demo(key: str, listing: Mapping[str, Json]) -> Json | None:
    _, experiment, variant = key.split("/")
    names = [name.split("/")[2] for name in listing if name.startswith(f"demo/{experiment}/")]
    if not names:
        return None
    (best,) = get_close_matches(variant, names, n=1, cutoff=0)
    recipe = listing[f"demo/{experiment}/{best}"]["spec"]["run"]["data"]
    return recipe if load(recipe).generated else None


def cut(recipe: Json | None) -> Json | None:
    """Return a recipe with as few examples as a proof needs."""
    if recipe is None:
        return None
    sizes = {"train": TRAIN, "dev": TEST, "test": TEST}
    least = {name: min(recipe[name], size) for name, size in sizes.items() if name in recipe}
    return {**recipe, **least}


def lengthen(encoded: Path, to: Path, factor: int) -> None:
    """Write encoded data whose examples are each `factor` of others, one behind the other.

    Of a parallel corpus the source has its vocabulary in a file of its own, as some have.
    """
    to.mkdir(parents=True)
    splits = {path.name.split(".")[0] for path in encoded.glob("*.offsets.npy")}
    for path in encoded.iterdir():
        if path.name.split(".")[0] not in splits:
            shutil.copy(path, to)
    if [*encoded.glob("*.source.npy")] and not (to / SOURCE_VOCABULARY).is_file():
        shutil.copy(encoded / "vocabulary.txt", to / SOURCE_VOCABULARY)
    for path in sorted(encoded.glob("*.offsets.npy")):
        split = path.name.split(".")[0]
        arrays = {p.name.split(".")[1]: np.load(p) for p in encoded.glob(f"{split}.*.npy")}
        for name, values in _joined(arrays, factor).items():
            np.save(to / f"{split}.{name}.npy", values)
        for text in encoded.glob(f"{split}.*.txt"):
            lines = text.read_bytes().removesuffix(b"\n").split(b"\n")
            groups = (lines[at : at + factor] for at in range(0, len(lines), factor))
            (to / text.name).write_bytes(b"".join(b" ".join(group) + b"\n" for group in groups))


def _joined(arrays: dict[str, np.ndarray], factor: int) -> dict[str, np.ndarray]:
    offsets, tokens = arrays.pop("offsets"), arrays.pop("tokens")
    count = len(offsets) - 1
    found: dict[str, np.ndarray] = {}
    starts = range(0, count, factor)
    for name, values in arrays.items():
        found[name] = values if len(values) == len(tokens) else values[::factor]
    found["offsets"] = np.append(offsets[:-1][::factor], offsets[-1])
    found["tokens"] = tokens
    if "source" in arrays and len(arrays["source"]) == count:
        found["source"] = np.array(
            [arrays["source"][at : at + factor].sum() for at in starts], arrays["source"].dtype
        )
        found["tokens"] = np.concatenate([*_sides_apart(tokens, offsets, arrays["source"], factor)])
    return found


def _sides_apart(
    tokens: np.ndarray, offsets: np.ndarray, source: np.ndarray, factor: int
) -> Iterator[np.ndarray]:
    """Yield the sources of each group of pairs, then its targets."""
    for at in range(0, len(offsets) - 1, factor):
        group = range(at, min(at + factor, len(offsets) - 1))
        yield from (tokens[offsets[n] : offsets[n] + source[n]] for n in group)
        yield from (tokens[offsets[n] + source[n] : offsets[n + 1]] for n in group)
