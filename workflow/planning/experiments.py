"""Experiments as papers state them, with a user's changes: their variants, seeds and settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from workflow.definitions.experiments import (
    Changes,
    Definition,
    Experiments,
    Overlay,
    Scale,
    ScaleName,
)
from workflow.definitions.loader import load_yaml
from workflow.definitions.names import require_known
from workflow.planning.nodes import Parts
from workflow.planning.settings import Layer, Settings, VariantKey, based
from workflow.runtime.errors import InputError, unknown

SCALES: tuple[ScaleName, ...] = ("demo", "lite", "paper")
Steps = tuple[VariantKey, ...]


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper."""

    name: str
    paper: str
    file: Path
    definition: Definition
    """What the paper's YAML states."""
    overlay: Overlay = field(default_factory=Overlay)
    """A user's changes, laid over it at any scale."""
    like: str = ""
    """Of a user's own experiment, that of a paper which it is like, as `paper/experiment`."""
    _resolved: dict[tuple[str, str], Settings] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def stated(self) -> str:
        """Where the experiment is stated."""
        return f"{self.file}: experiments.{self.name}"

    def variants(self, scale: ScaleName) -> list[str]:
        """Return the variants that are run at a scale."""
        return list(self._scale(scale).get("only", self.definition["variants"]))

    def seeds(self, variant: str, scale: ScaleName) -> list[int]:
        """Return the seeds of a variant that are run at a scale."""
        layers = self._layers(variant, scale)
        return numbered([layer["seeds"] for layer in layers if "seeds" in layer][-1])

    def resolve(self, variant: str, scale: ScaleName) -> Settings:
        """Return the settings of a variant at a scale, which are made once.

        Raises InputError when the variant does not exist.
        """
        if (variant, scale) not in self._resolved:
            require_known(self.stated, "variant", [variant], self.definition["variants"])
            place = f"overlay: experiments.{self.name}" if self.overlay else self.stated
            place = f"config: own_experiments.{self.name}" if self.like else place
            where = f"{place}, variant {variant}, scale {scale}"
            changes = self._layers(variant, scale)[1:]
            of = VariantKey(self.name, variant)
            self._resolved[variant, scale] = Settings.of(of, self._base, changes, where)
        return self._resolved[variant, scale]

    def shared(self, scale: ScaleName) -> Layer:
        """Return the settings at a scale of a variant that changes nothing."""
        return based(self.definition, self._scale(scale), self.overlay)

    def check(
        self, others: Mapping[str, "Experiment"], parts: Parts, scales: Sequence[ScaleName] = SCALES
    ) -> None:
        """Check every variant at some scales, also those that are not selected.

        Of a user's own experiment those are checked that are run.

        Raises InputError naming the file and the key of the first mistake.
        """
        variants = self.definition["variants"]
        for scale in SCALES:
            changes = self._scale(scale)
            names = [*changes.get("only", []), *changes.get("variants", {})]
            require_known(f"{self.stated}.scales.{scale}", "variant", names, variants)
        for name in self.overlay.get("variants", {}):
            if name not in variants:
                where = f"overlay: experiments.{self.name}.variants"
                error = unknown(where, "variant", name, variants)
                raise InputError(f"{error}; docs/own_experiment.md says how to add one")
        for scale in scales:
            seen: dict[str, str] = {}
            for variant in self.variants(scale) if self.like else variants:
                settings = self.resolve(variant, scale)
                settings.check(parts)
                _check_parents(settings, settings.where, others, ())
                self._check_records(settings, others)
                twin = seen.setdefault(settings.trained(settings.parents), variant)
                if twin != variant and {twin, variant} <= set(self.variants(scale)):
                    remedy = "take one of them away (at one scale: with `only`)"
                    if self.overlay:
                        remedy = "leave what they differ in to the variants"
                    raise InputError(f"{settings.where}: the same run as variant {twin}; {remedy}")

    def _check_records(self, settings: Settings, others: Mapping[str, "Experiment"]) -> None:
        for name, read in settings.readings.items():
            key = f"{settings.where}: evaluators.{name}"
            origin = _origin(read.of, key, others)
            for scale in SCALES:
                if origin.resolve(read.of.name, scale).record is None:
                    raise InputError(
                        f"{key}: {origin.name}/{read.of.name} has no record at scale {scale}; "
                        f"give it one, or take the argument away"
                    )

    @cached_property
    def _base(self) -> Layer:
        return based(self.definition)

    def _scale(self, scale: ScaleName) -> Scale:
        return self.definition.get("scales", {}).get(scale, {})

    def _layers(self, variant: str, scale: ScaleName) -> list[Definition | Changes]:
        """Return what is laid over one another, the strongest last."""
        layers: list[Definition | Changes] = [self.definition, self.definition["variants"][variant]]
        for changes in (self._scale(scale), self.overlay):
            layers += [changes, changes.get("variants", {}).get(variant, {})]
        return layers


def _check_parents(
    settings: Settings, at: str, experiments: Mapping[str, Experiment], descendants: Steps
) -> None:
    for name, parent in settings.parents.items():
        key = f"{at}: parents.{name}"
        origin = _origin(parent, key, experiments)
        if parent in descendants:
            raise InputError(f"{key}: {origin.name}/{parent.name} is its own ancestor")
        for scale in SCALES:
            further = origin.resolve(parent.name, scale)
            _check_parents(further, at, experiments, (*descendants, parent))


def _origin(other: VariantKey, key: str, experiments: Mapping[str, Experiment]) -> Experiment:
    """Return the experiment of a parent or a record; InputError where it or its variant is none."""
    require_known(key, "experiment", [other.experiment], experiments)
    origin = experiments[other.experiment]
    require_known(key, f"variant of {origin.name}", [other.name], origin.definition["variants"])
    return origin


def numbered(seeds: int | Sequence[int]) -> list[int]:
    """Return the seeds that a number of them, from 0 on, or a list of them stands for."""
    return list(range(seeds)) if isinstance(seeds, int) else sorted(seeds)


def load_experiments(papers: Path) -> dict[str, Experiment]:
    """Read the experiments of every paper in a folder, by name.

    Raises InputError when the folder holds no paper, a file breaks the schema, or two papers use
    one name.
    """
    files = sorted(papers.glob("*/experiments.yaml"))
    if not files:
        raise InputError(
            f"{papers}: no paper has experiments here; write one to <paper>/experiments.yaml"
        )
    experiments: dict[str, Experiment] = {}
    for file in files:
        for name, definition in load_yaml(file, Experiments)["experiments"].items():
            if name in experiments:
                raise InputError(
                    f'{file}: experiment "{name}" also stands in '
                    f"{experiments[name].file}; rename one"
                )
            experiments[name] = Experiment(name, file.parent.name, file, definition)
    return experiments
