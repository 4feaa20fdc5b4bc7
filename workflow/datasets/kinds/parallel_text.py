"""Parallel texts: from what official files hold to pairs of sentences in words.

Each dataset reads its own files and says which pairs go to which split (`pairs`); what they have in
common is here. Texts are streams: no step holds a corpus in memory.

In a folder of prepared data, `<split>.source.txt` and `<split>.target.txt` have a sentence a line,
and `<split>.raw.txt` the translations of dev and test before they were split into words, where the
official files have these.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from math import inf
from pathlib import Path
from typing import ClassVar

from workflow.datasets.encoded.moses import Pair
from workflow.datasets.encoded.prepared import CODES, LEXICON, PIECES, SOURCE_VOCABULARY, aligned
from workflow.datasets.io.dataset_files import by_name, replacing
from workflow.datasets.io.left_out import COUNTS, Dropped, invisible, read_text
from workflow.datasets.io.multicore import MOST
from workflow.datasets.kinds.dataset import Dataset
from workflow.runtime.errors import CORRECT, DataError, RecipeError

LONGEST_WORD = 1000  # characters, as in Moses's `clean-corpus-n.perl`
LONGEST_TEST = 1000  # words of a sentence to choose settings with or to report on
LEAST_VOCABULARY = 5  # the reserved entries and one more
MOST_VOCABULARY = 1_000_000  # pieces that SentencePiece chooses from


SplitPairs = Iterator[tuple[str, Pair]]
"""Pairs, each with the split that it goes to."""
WordSplitter = Callable[[Iterator[tuple[str, str]]], Iterator[Pair]]


@dataclass(frozen=True)
class ParallelText(Dataset):
    """Sentences and their translations; splits after train, dev and test are further test sets."""

    columns = ("source",)
    beside = (LEXICON,)
    longest: ClassVar[int] = 175
    """Most words of a sentence to train on."""
    ratio: ClassVar[float] = 1.5
    """How many times as long as its translation a sentence to train on may be."""
    untokenised: ClassVar[bool] = True
    """Whether the official files have the texts as they were written."""
    endings: ClassVar[Mapping[str, str]] = {}
    """How the names of a language's files end, where that is not as in `direction`."""

    direction: str = "de_en"
    """Source and target language."""
    merges: int = 10_000
    """Merges of the byte-pair encoding."""
    joint: bool = True
    """Whether both sides have their merges and their vocabulary in common."""
    threshold: int = 0
    """Sub-words that a side's training texts have fewer times are split further."""
    vocabulary: int | None = None
    """Entries of both sides' vocabulary by SentencePiece, in place of byte-pair encoding."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "merges")
        self.require_at_least(0, "threshold")
        if self.vocabulary is not None:
            self.require_at_least(LEAST_VOCABULARY, "vocabulary")
            self.require_at_most(MOST_VOCABULARY, "vocabulary")
            self._check_no_byte_pairs()

    @abstractmethod
    def pairs(self, files: Sequence[Path], left_out: Dropped, out: Path) -> SplitPairs:
        """Yield every pair, and the split that it goes to; archives may be unpacked in `out`.

        Raises DataError when a file is damaged or two sides do not fit.
        """

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Write every pair in words."""
        left_out = Dropped()
        self.write(out, self.pairs(files, left_out, out), left_out)

    def encode(self, prepared: Path, out: Path) -> None:
        """Write the pairs as arrays of sub-words; see `parallel_encoding`."""
        from workflow.datasets.encoded.parallel_encoding import encode_pairs

        encode_pairs(self, prepared, out)

    @property
    @abstractmethod
    def lowercase(self) -> bool:
        """Whether all words are in lower case."""

    @property
    def given_codes(self) -> bool:
        """Whether the merges come with the corpus and are not learned from it."""
        return False

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target language."""
        source, target = self.direction.split("_")
        return source, target

    @property
    def threads(self) -> int:
        """Cores that `prepare` and `encode` make use of; generated texts are too few for more."""
        return 1 if self.generated else MOST

    @property
    def prepared(self) -> Sequence[str]:
        """Files that `prepare` writes."""
        texts = [f"{split}.{side}.txt" for split in self.splits for side in ("source", "target")]
        texts += [f"{split}.raw.txt" for split in self.splits[1:] if self.untokenised]
        codes = [CODES] if self.given_codes else []
        return [*texts, COUNTS, *codes, *([LEXICON] if self.generated else [])]

    @property
    def texts(self) -> Sequence[str]:
        """Texts that `encode` writes beside `vocabulary.txt`."""
        if self.vocabulary:
            return [PIECES, *self.copies]
        sides = [f"{side}_{CODES}" for side in ("source", "target")]
        return [*([CODES] if self.joint else [*sides, SOURCE_VOCABULARY]), *self.copies]

    @property
    def copies(self) -> dict[str, str]:
        """Prepared files that `encode` copies, by the name that they have then."""
        kept = {"source": "source", "reference": "target"}
        kept |= {"raw_reference": "raw"} if self.untokenised else {}
        texts = {
            f"{split}.{name}.txt": f"{split}.{kind}.txt"
            for split in self.splits[1:]
            for name, kind in kept.items()
        }
        return texts | ({LEXICON: LEXICON} if self.generated else {})

    def clean(
        self, pairs: Iterable[Pair], left_out: Dropped, split: str = "train"
    ) -> Iterator[Pair]:
        """Yield the pairs that are fit for a split; others are counted as dropped.

        To train on these are those of `clean-corpus-n.perl`, else what can be translated.
        """
        training = split == "train"
        longest, ratio = (self.longest, self.ratio) if training else (LONGEST_TEST, inf)
        where = "" if training else " in dev or test"
        for pair in pairs:
            if fault := _fault(pair, longest, ratio):
                left_out.dropped[f"{fault}{where}"] += 1
            else:
                yield pair

    def side_by_side(
        self,
        files: Sequence[Path],
        names: Mapping[str, str],
        words: WordSplitter,
        left_out: Dropped,
    ) -> SplitPairs:
        """Yield the pairs of splits with a file a side: of train the clean ones, of others all.

        `names` has the name of each split's files, `{}` for the language, and `words` makes pairs
        in words of those of sentences.
        """
        for split, name in names.items():
            source, target = self.paths(files, name)
            pairs = words(read_sides(source, target, left_out))
            yield from ((split, pair) for pair in self.clean(pairs, left_out, split))

    def paths(self, files: Sequence[Path], name: str) -> list[Path]:
        """Return the files of both sides; `name` has `{}` for the language's ending."""
        endings = (self.endings.get(language, language) for language in self.languages)
        return [by_name(files, name.format(ending)) for ending in endings]

    def write(self, out: Path, pairs: Iterable[tuple[str, Pair]], left_out: Dropped) -> None:
        """Write pairs, each with the split that it goes to, and what was lost.

        Raises DataError, and leaves no file, when a split is empty or a file has another encoding
        than it should have.
        """
        counts = dict.fromkeys(self.splits, 0)
        texts = [name for name in self.prepared if name.endswith(".txt") and name != CODES]
        with ExitStack() as stack:
            files = {name: stack.enter_context(replacing(out / name)) for name in texts}
            for split, pair in pairs:
                counts[split] += 1
                for kind, text in pair._asdict().items():
                    if f"{split}.{kind}.txt" in files:
                        files[f"{split}.{kind}.txt"].write(f"{text}\n".encode())
            left_out.check()
            for split, count in counts.items():
                if not count:
                    raise DataError(
                        f"{out}: the split `{split}` is empty; check the files that it is made "
                        "from."
                    )
        left_out.write(out)

    def _check_no_byte_pairs(self) -> None:
        """Raise RecipeError where byte-pair encoding and SentencePiece are both asked for."""
        choice = ", or `vocabulary`, which asks for SentencePiece"
        if type(self).vocabulary is not None:
            choice = ": this dataset is always encoded by SentencePiece"
        for name in ("merges", "joint", "threshold"):
            if getattr(self, name) != getattr(type(self), name):
                raise RecipeError(
                    f"Option `{name}` of dataset `{self.name}` is for byte-pair encoding; take "
                    f"it away{choice}."
                )
        if self.given_codes:
            raise RecipeError(
                f"Option `vocabulary` of dataset `{self.name}` asks for SentencePiece, and the "
                "codes that come with the corpus are for byte-pair encoding; set `codes: learned`."
            )


def tabbed(lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a file that has both sides on a line, from each (place, line) of it."""
    for place, line in lines:
        if line.count("\t") != 1:
            raise DataError(
                f"{place}: expected a sentence, a tab and its translation, found {line!r}; "
                f"{CORRECT}."
            )
        source, target = line.split("\t")
        yield source, target


def read_sides(
    source: Path, target: Path, left_out: Dropped, lines: int | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of two files, or only the first `lines` of them."""
    return aligned(
        (str(source), islice(read_text(source, left_out), lines)),
        (str(target), islice(read_text(target, left_out), lines)),
    )


def as_written(sides: Iterable[tuple[str, str]], lowercase: bool = False) -> Iterator[Pair]:
    """Yield the pairs of a stream as they are, for what makes sub-words of written text."""
    for source, target in sides:
        words, translated = (" ".join(side.split()) for side in (source, target))
        if lowercase:
            words, translated = words.lower(), translated.lower()
        yield Pair(words, translated, target)


def _fault(pair: Pair, longest: int, ratio: float) -> str:
    """Say why a pair is not fit, its sides having so many words at most; empty if it is."""
    sides = [side.split() for side in pair[:2]]
    shorter, longer = sorted(map(len, sides))
    if any(map(invisible, pair[:2])):
        return "an empty side"
    if longer > longest:
        return f"more than {longest} words"
    if longer / shorter > ratio:
        return f"more than {ratio} times as long as the other side"
    if any(len(word) > LONGEST_WORD for side in sides for word in side):
        return f"a word of more than {LONGEST_WORD} characters"
    return ""
