"""Words as the scripts of Moses split them, by sacremoses."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

from workflow.datasets.io.multicore import chunks, in_order

CHUNK = 2000  # pairs
LAST_STOP = re.compile(r"([^\s.])\.$")
COLON_IN_WORDS = ("fi", "sv")
"""Languages where `tokenizer.perl` leaves a colon before a small letter in its word (SAK:n)."""


class Pair(NamedTuple):
    """A sentence and its translation, words separated by single spaces."""

    source: str
    target: str
    raw: str = ""
    """The translation as the official file has it, where that is known."""


@dataclass(frozen=True)
class Moses:
    """How the two sides are split into words."""

    languages: tuple[str, str]
    """Of source and target, such as ("de", "en")."""
    lowercase: bool
    normalise: bool = False
    """Whether punctuation is made uniform first (`normalize-punctuation.perl`), and capitals taken
    away before it: a stop before a small letter stays with its word."""

    def pairs(self, raw: Iterable[tuple[str, str]]) -> Iterator[Pair]:
        """Yield the pairs of a stream in words, in its order; several cores work on them."""
        for split in in_order(partial(_split, self), chunks(raw, CHUNK)):
            yield from split

    def words(self, text: str, language: str) -> str:
        """Return a text as words separated by spaces, `&`, quotes and brackets escaped.

        The stop at the end of a text is always a word, as in `tokenizer.perl` since 2017; that the
        last word is an abbreviation (`U.S.`) does not matter.
        """
        if self.normalise:
            # Perl reads a line with its newline, and a rule for German looks for what follows `."`.
            line = f"{text.lower() if self.lowercase else text}\n"
            text = _normaliser(language).normalize(line)
        words = LAST_STOP.sub(r"\1 .", _tokeniser(language).tokenize(text, return_str=True))
        words = " ".join(words.split())
        return words.lower() if self.lowercase else words


def _split(moses: Moses, raw: list[tuple[str, str]]) -> list[Pair]:
    source, target = moses.languages
    return [Pair(moses.words(a, source), moses.words(b, target), b) for a, b in raw]


@cache
def _tokeniser(language: str) -> Any:
    from sacremoses import MosesTokenizer

    tokeniser = MosesTokenizer(lang=language)
    if language in COLON_IN_WORDS:
        pad = tokeniser.PAD_NOT_ISALNUM[0].pattern
        known = pad.removeprefix("([^").removesuffix("])")
        colon = rf"([^{known}:]|:(?=$|[^{tokeniser.IsLower}]))"
        tokeniser.PAD_NOT_ISALNUM = re.compile(colon), r" \1 "
    return tokeniser


@cache
def _normaliser(language: str) -> Any:
    from sacremoses import MosesPunctNormalizer

    return MosesPunctNormalizer(lang=language)
