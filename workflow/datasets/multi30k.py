"""Multi30k (Elliott et al., 2016), task 1: descriptions of photos, English and German.

Test is that of 2016; those of 2017 and 2018 and the ambiguous one from COCO are further splits. The
files are as they were written, a sentence a line; words are made as in the official preparation
(`task1-tokenize.sh`): in lower case, then with uniform punctuation, then by Moses. SentencePiece
reads the sentences as they were written: then their lengths are those of Attention Learning.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import ClassVar, Literal

from workflow.datasets.files import SPLITS, by_name, read_lines, write_lines
from workflow.datasets.losses import Losses
from workflow.datasets.moses import Moses, Pair
from workflow.datasets.parallel_text import (
    LEXICON,
    PairOptions,
    as_written,
    clean,
    columns,
    encode,
    prepared,
    raw,
    read_sides,
    sources,
    texts,
    whole,
    write_prepared,
)
from workflow.datasets.recipe import check_generator

__all__ = [
    "Options",
    "columns",
    "encode",
    "prepare",
    "prepared",
    "raw",
    "sources",
    "synthesise",
    "texts",
]

NAMES: Mapping[str, str] = {
    "train": "train",
    "dev": "val",
    "test": "test_2016_flickr",
    "test_2017": "test_2017_flickr",
    "test_2018": "test_2018_flickr",
    "test_coco": "test_2017_mscoco",
}


@dataclass(frozen=True)
class Options(PairOptions):
    """What the descriptions are made from and how; the defaults are Attention Learning's."""

    dataset: ClassVar[str] = "multi30k"
    ratio: ClassVar[float] = inf

    direction: Literal["de_en", "en_de"] = "de_en"
    """Source and target language."""
    merges: int = 8_000
    """Merges of the byte-pair encoding."""
    lowercase: bool = True
    """Whether all words are in lower case."""
    source: Literal["official", "generated", "homographs"] = "official"
    """The official files, or a small corpus in their format whose lexicon is known; in that of
    homographs most English words have several classes."""
    train: int | None = None
    """Generated pairs to train on."""
    dev: int | None = None
    """Generated pairs to choose settings with."""
    test: int | None = None
    """Generated pairs to report on."""
    seed: int | None = None
    """Seed of the generator."""

    def __post_init__(self) -> None:
        super().__post_init__()
        generator = {name: getattr(self, name) for name in (*SPLITS, "seed")}
        check_generator(self.dataset, self.generated, generator, least=1)

    @property
    def generated(self) -> bool:
        """Whether the texts are generated; their lexicon is known then."""
        return self.source != "official"

    @property
    def splits(self) -> Sequence[str]:
        """The splits; of generated texts there is one test set."""
        return SPLITS if self.generated else tuple(NAMES)

    @property
    def files(self) -> Sequence[str]:
        """Names of the official files; generated ones have the same."""
        return [f"{NAMES[split]}.{side}.gz" for split in self.splits for side in ("de", "en")]


def synthesise(options: Options, out: Path) -> None:
    """Write generated descriptions in the official format, and their lexicon."""
    from workflow.datasets.generated_translation import write_multi30k

    sizes = {NAMES[split]: getattr(options, split) for split in SPLITS}
    write_multi30k(out, sizes, options.seed, homographs=options.source == "homographs")


def prepare(options: Options, files: Sequence[Path], out: Path) -> None:
    """Write every pair in words, and the lexicon of generated ones.

    Raises DataError when a file is damaged, two sides do not fit, or a dev or test pair has an
    empty side.
    """
    losses = Losses()
    write_prepared(options, out, _pairs(options, files, losses), losses)
    if options.generated:
        _write_lexicon(options, by_name(files, LEXICON), out / LEXICON)


def _pairs(options: Options, files: Sequence[Path], losses: Losses) -> Iterator[tuple[str, Pair]]:
    """Yield every pair and its split."""
    moses = Moses(options.languages, options.lowercase, normalise=True).pairs
    words = partial(as_written, lowercase=options.lowercase) if options.vocabulary else moses
    for split in options.splits:
        source, target = (by_name(files, f"{NAMES[split]}.{side}.gz") for side in options.languages)
        pairs = words(read_sides(source, target, losses))
        fit = clean(options, pairs, losses) if split == "train" else whole(pairs, str(source))
        yield from ((split, pair) for pair in fit)


def _write_lexicon(options: Options, path: Path, out: Path) -> None:
    """Write the lexicon as `source`, `target`, `class`, its words like those of the pairs."""
    rows = [line.split("\t") for _, line in read_lines(path)]
    places = [rows[0].index(side) for side in options.languages]
    lines = ["source\ttarget\tclass"]
    for row in rows[1:]:
        forms = [row[place].lower() if options.lowercase else row[place] for place in places]
        lines.append("\t".join([*forms, row[-1]]))
    write_lines(out, lines)
