"""Parallel texts: from what official files hold to pairs of sentences in words.

Each dataset's module reads its own files and says which pairs go to which split; what they have in
common is here. Texts are streams: no step holds a corpus in memory.

In a folder of prepared data, `<split>.source.txt` and `<split>.target.txt` have a sentence a line,
and `<split>.raw.txt` the translations of dev and test before they were split into words, where the
official files have these.
"""

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import ClassVar

from workflow.datasets.errors import FETCH_AGAIN, DataError, RecipeError
from workflow.datasets.files import SPLITS, replacing
from workflow.datasets.losses import COUNTS, Losses
from workflow.datasets.moses import Pair
from workflow.datasets.multicore import MOST
from workflow.datasets.recipe import require_at_least

CODES = "codes.txt"
PIECES = "sentencepiece.model"
LEXICON = "lexicon.tsv"
SOURCE_VOCABULARY = "source_vocabulary.txt"
LONGEST_WORD = 1000  # characters, as in Moses's `clean-corpus-n.perl`
LONGEST_TEST = 1000  # words of a sentence to choose settings with or to report on
GZIP = b"\x1f\x8b"
LEAST_VOCABULARY = 5  # the reserved entries and one more


@dataclass(frozen=True)
class PairOptions:
    """What every parallel corpus can be asked for."""

    dataset: ClassVar[str]
    files: ClassVar[Sequence[str]]
    """Names of the official files; generated ones have the same."""
    splits: ClassVar[Sequence[str]] = SPLITS
    """The splits; those after train, dev and test are further test sets."""
    longest: ClassVar[int] = 175
    """Most words of a sentence to train on."""
    ratio: ClassVar[float] = 1.5
    """How many times as long as its translation a sentence to train on may be."""
    untokenised: ClassVar[bool] = True
    """Whether the official files have the texts as they were written."""

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
        require_at_least(self.dataset, 1, {"merges": self.merges})
        require_at_least(self.dataset, 0, {"threshold": self.threshold})
        if self.vocabulary is not None:
            require_at_least(self.dataset, LEAST_VOCABULARY, {"vocabulary": self.vocabulary})
            self._check_no_byte_pairs()

    def _check_no_byte_pairs(self) -> None:
        """Raise RecipeError where byte-pair encoding and SentencePiece are both asked for."""
        choice = ", or `vocabulary`, which asks for SentencePiece"
        if type(self).vocabulary is not None:
            choice = ": this dataset is always encoded by SentencePiece"
        for name in ("merges", "joint", "threshold"):
            if getattr(self, name) != getattr(type(self), name):
                raise RecipeError(
                    f"Option `{name}` of dataset `{self.dataset}` is for byte-pair encoding; take "
                    f"it away{choice}."
                )
        if self.given_codes:
            raise RecipeError(
                f"Option `vocabulary` of dataset `{self.dataset}` asks for SentencePiece, and the "
                "codes that come with the corpus are for byte-pair encoding; set `codes: learned`."
            )

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target language."""
        source, target = self.direction.split("_")
        return source, target

    @property
    def generated(self) -> bool:
        """Whether the texts are generated; their lexicon is known then."""
        return False

    @property
    def threads(self) -> int:
        """Cores that `prepare` and `encode` make use of; generated texts are too few for more."""
        return 1 if self.generated else MOST

    @property
    def given_codes(self) -> bool:
        """Whether the merges come with the corpus and are not learned from it."""
        return False


def sources(options: PairOptions) -> list[str]:
    """Return the official files to fetch; none for generated texts."""
    return [] if options.generated else list(options.files)


def raw(options: PairOptions) -> list[str]:
    """Return the files that `synthesise` writes; none for official texts."""
    return [*options.files, LEXICON] if options.generated else []


def prepared(options: PairOptions) -> list[str]:
    """Return the files that `prepare` writes."""
    kinds = {split: ["source", "target"] for split in options.splits}
    for split in options.splits[1:]:
        kinds[split] += ["raw"] if options.untokenised else []
    texts = [f"{split}.{kind}.txt" for split, found in kinds.items() for kind in found]
    codes = [CODES] if options.given_codes else []
    return [*texts, COUNTS, *codes, *([LEXICON] if options.generated else [])]


def texts(options: PairOptions) -> list[str]:
    """Return the texts that `encode` writes beside `vocabulary.txt`."""
    if options.vocabulary:
        return [PIECES, *copies(options)]
    sides = [f"{side}_{CODES}" for side in ("source", "target")]
    return [*([CODES] if options.joint else [*sides, SOURCE_VOCABULARY]), *copies(options)]


def copies(options: PairOptions) -> dict[str, str]:
    """Return the prepared files that `encode` copies, by the name that they have then."""
    kept = {"source": "source", "reference": "target"}
    kept |= {"raw_reference": "raw"} if options.untokenised else {}
    found = {
        f"{split}.{name}.txt": f"{split}.{kind}.txt"
        for split in options.splits[1:]
        for name, kind in kept.items()
    }
    return found | ({LEXICON: LEXICON} if options.generated else {})


def columns(options: PairOptions) -> list[str]:
    """Return the columns that `encode` writes beside the tokens."""
    return ["source"]


def encode(options: PairOptions, prepared: Path, out: Path) -> None:
    """Write the pairs as arrays of sub-words; see `parallel_encoding`."""
    from workflow.datasets.parallel_encoding import encode_pairs

    encode_pairs(options, prepared, out)


def read_text(path: Path, losses: Losses) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, which may be gzipped; the last may lack its newline.

    Bytes that are not UTF-8 become U+FFFD and are counted. Raises DataError when there is no such
    file, it is damaged, or there is no line.
    """
    if not path.is_file():
        raise DataError(f"{path}: this dataset file does not exist; fetch it again.")
    with path.open("rb") as stream:
        packed = stream.read(len(GZIP)) == GZIP
    line = b""
    try:
        with (gzip.open if packed else open)(path, "rb") as lines:
            for line in lines:
                yield losses.decode(line.rstrip(b"\r\n"), "utf-8")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{path}: this file is damaged or cut short ({error}); {FETCH_AGAIN}."
        ) from None
    if not line:
        raise DataError(f"{path}: this file is empty; {FETCH_AGAIN}.")


def aligned(
    source: tuple[str, Iterable[str]], target: tuple[str, Iterable[str]]
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of two sides, each its name and its lines.

    Raises DataError when the sides have different numbers of lines.
    """
    counts = [0, 0]
    for pair in zip_longest(source[1], target[1]):
        for side, line in enumerate(pair):
            counts[side] += line is not None
        if counts[0] == counts[1]:
            yield pair
    if counts[0] != counts[1]:
        raise DataError(
            f"{source[0]} has {counts[0]} lines and {target[0]} has {counts[1]}, so they are not "
            f"translations of each other line by line; {FETCH_AGAIN}."
        )


def read_sides(
    source: Path, target: Path, losses: Losses, lines: int | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of two files, or only the first `lines` of them."""
    return aligned(
        (str(source), islice(read_text(source, losses), lines)),
        (str(target), islice(read_text(target, losses), lines)),
    )


def as_written(sides: Iterable[tuple[str, str]], lowercase: bool = False) -> Iterator[Pair]:
    """Yield the pairs of a stream as they are, for what makes sub-words of written text."""
    for source, target in sides:
        texts = (" ".join(side.split()) for side in (source, target))
        yield Pair(*(text.lower() if lowercase else text for text in texts), target)


def clean(options: PairOptions, pairs: Iterable[Pair], losses: Losses) -> Iterator[Pair]:
    """Yield the pairs to train on; others are counted as dropped, as `clean-corpus-n.perl` does."""
    for pair in pairs:
        reason = _fault(options, pair)
        if reason:
            losses.dropped[reason] += 1
        else:
            yield pair


def _fault(options: PairOptions, pair: Pair) -> str:
    """Say why a pair is not fit to train on; empty if it is."""
    sides = [side.split() for side in pair[:2]]
    shorter, longer = sorted(map(len, sides))
    if not shorter:
        return "an empty side"
    if longer > options.longest:
        return f"more than {options.longest} words"
    if longer / shorter > options.ratio:
        return f"more than {options.ratio} times as long as the other side"
    if any(len(word) > LONGEST_WORD for side in sides for word in side):
        return f"a word of more than {LONGEST_WORD} characters"
    return ""


def whole(pairs: Iterable[Pair], place: str) -> Iterator[Pair]:
    """Yield the pairs of a dev or test set, none of which may be left out.

    Raises DataError naming the sentence that has an empty side or is far too long.
    """
    for number, pair in enumerate(pairs, start=1):
        words = [len(side.split()) for side in pair[:2]]
        if not all(words):
            raise DataError(f"{place}, sentence {number}: one side is empty; {FETCH_AGAIN}.")
        if max(words) > LONGEST_TEST:
            raise DataError(
                f"{place}, sentence {number}: {max(words)} words in one sentence, and no more than "
                f"{LONGEST_TEST} can be translated; {FETCH_AGAIN}."
            )
        yield pair


def write_prepared(
    options: PairOptions, out: Path, pairs: Iterable[tuple[str, Pair]], losses: Losses
) -> None:
    """Write pairs, each with the split that it goes to, and what was lost.

    Raises DataError, and leaves no file, when a split is empty.
    """
    counts = dict.fromkeys(options.splits, 0)
    texts = [name for name in prepared(options) if name.endswith(".txt") and name != CODES]
    with ExitStack() as stack:
        files = {name: stack.enter_context(replacing(out / name)) for name in texts}
        for split, pair in pairs:
            counts[split] += 1
            for kind, text in pair._asdict().items():
                if f"{split}.{kind}.txt" in files:
                    files[f"{split}.{kind}.txt"].write(f"{text}\n".encode())
        for split, count in counts.items():
            if not count:
                raise DataError(
                    f"{out}: the split `{split}` is empty; check the files that it is made from."
                )
    losses.write(out)


def prepared_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file that `write_prepared` wrote.

    Raises DataError when it is missing or ends in the middle of a line.
    """
    if not path.is_file():
        raise DataError(f"{path}: this dataset file does not exist; run the step that writes it.")
    line = b""
    with path.open("rb") as stream:
        for line in stream:
            yield line[:-1].decode()
    if not line.endswith(b"\n"):
        raise DataError(f"{path}: the last line is cut short; delete the folder and prepare again.")
