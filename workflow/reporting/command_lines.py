"""The commands that make results, as a person types them."""

from collections.abc import Iterable, Sequence

from workflow.planning.limited import ScaleParts


def command(scale: str, target: str) -> str:
    """Return what makes a target, or several, at a scale; an overlay's file is the user's own."""
    only = f'"{target}"' if {"{", " "} & set(target) else target
    return f"make run {' '.join(ScaleParts.of(scale).variables())} ONLY={only}"


def measures(scale: str, runs: Iterable[tuple[str, str, int]]) -> str:
    """Return the files of measures of some runs, as bash writes several names in one.

    Args:
        scale: the scale.
        runs: experiment, variant and seed of each.
    """
    seeds: dict[tuple[str, str], list[str]] = {}
    for experiment, variant, seed in runs:
        seeds.setdefault((experiment, variant), []).append(str(seed))
    alike: dict[tuple[str, str], list[str]] = {}
    for (experiment, variant), numbers in seeds.items():
        alike.setdefault((experiment, _any(numbers)), []).append(variant)
    folder = f"results/{scale}/measures"
    return " ".join(
        f"{folder}/{experiment}/{_any(variants)}/seed-{numbers}.json"
        for (experiment, numbers), variants in alike.items()
    )


def _any(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{{{','.join(names)}}}"
