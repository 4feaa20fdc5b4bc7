"""What a dataset is: options, three stages and the names of the files that these write.

Each dataset is a module of this package with the class `Data`, a frozen dataclass: its fields are
what `data:` of an experiment can say. Most are of a kind that says the rest: `LabelledText`,
`ParallelText`, `CaptionedImages` or `ByteText`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from workflow.datasets.io.dataset_files import SPLITS, Option
from workflow.runtime.errors import RecipeError

if TYPE_CHECKING:  # numpy is loaded by the stages only
    import numpy as np

LARGEST = 2**31 - 1
"""The largest number of an option, as ids have 32 bits."""
MOST_GENERATED = 10_000_000
"""The largest number of an option of what is generated: a night's work, and some gigabytes."""


@dataclass(frozen=True)
class Dataset(ABC):
    """A dataset, made as its fields say.

    Planning asks for names of files only, so what is needed to read or write them is imported by
    the stages.
    """

    features: ClassVar[Sequence[str]] = ()
    """The index of features of images, where `prepare` reads these."""
    beside: ClassVar[Sequence[str]] = ()
    """What `synthesise` writes beside the files in the official format."""
    form: ClassVar[str] = "jsonl"
    """How the name of a split's prepared file ends."""

    @property
    def name(self) -> str:
        """The name of the dataset, which is its module's."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def generated(self) -> bool:
        """Whether the files are generated and not fetched."""
        return False

    @property
    @abstractmethod
    def files(self) -> Sequence[str]:
        """Names of the official files; generated ones have the same."""

    @property
    def splits(self) -> Sequence[str]:
        """Names of the splits."""
        return SPLITS

    @property
    def columns(self) -> Sequence[str]:
        """Columns that `encode` writes beside the tokens."""
        return ()

    @property
    def texts(self) -> Sequence[str]:
        """Texts that `encode` writes beside `vocabulary.txt`."""
        return ()

    @property
    def threads(self) -> int:
        """Cores that `prepare` and `encode` make use of."""
        return 1

    @property
    def options(self) -> dict[str, Option]:
        """Every option that applies."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def sources(self) -> Sequence[str]:
        """Files to fetch."""
        return () if self.generated else self.files

    @property
    def raw(self) -> Sequence[str]:
        """Files that `synthesise` writes."""
        return [*self.files, *self.beside] if self.generated else ()

    @property
    def prepared(self) -> Sequence[str]:
        """Files that `prepare` writes."""
        return [f"{split}.{self.form}" for split in self.splits]

    @property
    def encoded(self) -> Sequence[str]:
        """Files that `encode` writes."""
        columns = ("tokens", "offsets", *self.columns)
        arrays = [f"{split}.{column}.npy" for split in self.splits for column in columns]
        return ["manifest.json", "vocabulary.txt", *arrays, *self.texts]

    def synthesise(self, out: Path) -> None:
        """Generate the raw files."""
        raise NotImplementedError

    @abstractmethod
    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Turn raw or fetched files into words or the like.

        Raises DataError, naming the place, when a file is not what it should be.
        """

    @abstractmethod
    def encode(self, prepared: Path, out: Path) -> None:
        """Turn prepared files into arrays, a vocabulary and a manifest."""

    def require_at_least(self, minimum: int, *options: str) -> None:
        """Raise RecipeError naming the first of `options` that is below `minimum`."""
        for name in options:
            value = getattr(self, name)
            if value < minimum:
                raise RecipeError(
                    f"Option `{name}` of dataset `{self.name}` is {value}; it must be {minimum} or "
                    "more."
                )

    def require_at_most(self, maximum: int, *options: str) -> None:
        """Raise RecipeError naming the first of `options` that is above `maximum`."""
        for name in options:
            value = getattr(self, name)
            if value > maximum:
                raise RecipeError(
                    f"Option `{name}` of dataset `{self.name}` is {value}; it must be {maximum} or "
                    "less."
                )

    def __post_init__(self) -> None:
        """Raise RecipeError for an option that is out of bounds."""
        self.require_at_most(LARGEST, *self.numbers)

    @property
    def numbers(self) -> Sequence[str]:
        """Options that are numbers; a seed may be of any size, and is none of them."""
        values = asdict(self).items()
        return [name for name, value in values if isinstance(value, int) and name != "seed"]


@dataclass(frozen=True)
class Generable(Dataset):
    """A dataset of which a small corpus in the official format can be generated."""

    least: ClassVar[int] = 1
    """Examples that a generated split has at least."""

    source: str = "official"
    """The official files, or a generated corpus in their format."""
    train: int | None = None
    """Generated examples to train on."""
    dev: int | None = None
    """Generated examples to choose settings with."""
    test: int | None = None
    """Generated examples to report on."""
    seed: int | None = None
    """Seed of the generator."""

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = [split for split in SPLITS if split in self.splits]
        for name in (*sizes, "seed"):
            value = getattr(self, name)
            if not self.generated and value is not None:
                raise RecipeError(
                    f"Option `{name}` of dataset `{self.name}` is for `source: generated` only; "
                    "the official files have their own size."
                )
            if self.generated and value is None:
                raise RecipeError(
                    f"Dataset `{self.name}` with `source: generated` needs the option `{name}`."
                )
        if self.generated:
            self.require_at_least(self.least, *sizes)
            self.require_at_most(MOST_GENERATED, *sizes)
            self.require_at_least(0, "seed")

    @property
    def generated(self) -> bool:
        return self.source not in ("official", "subset")

    def size(self, *splits: str) -> int:
        """Return the examples of generated splits."""
        return sum(getattr(self, split) for split in splits)


@dataclass(frozen=True)
class Synthetic(Dataset):
    """A task whose examples are all generated; those of a split are in one file."""

    generated = True
    files = tuple(f"{split}.txt" for split in SPLITS)

    train: int = 0
    """Examples to train on."""
    dev: int = 1000
    """Examples to choose settings with."""
    test: int = 1000
    """Examples to report on."""
    seed: int = 0
    """Seed of the generator; every split has its own stream of it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, *SPLITS)
        self.require_at_least(0, "seed")
        self.require_at_most(MOST_GENERATED, *self.numbers)

    def streams(self) -> "Iterator[tuple[str, int, np.random.Generator]]":
        """Yield every split, its number of examples and its stream of the generator."""
        import numpy as np

        for stream, split in enumerate(SPLITS):
            yield split, getattr(self, split), np.random.default_rng([self.seed, stream])
