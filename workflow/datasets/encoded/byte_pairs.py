"""Sub-words by byte-pair encoding (Sennrich et al., 2016), learned and applied by subword-nmt.

How a word is split depends on the word alone, so words are counted, and each is split once. A piece
that is not the last of its word ends in `@@`.
"""

import io
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import redirect_stderr
from functools import lru_cache, partial
from heapq import nsmallest
from pathlib import Path
from typing import Any

from workflow.datasets.io.left_out import read_exact
from workflow.datasets.io.multicore import chunks, in_order
from workflow.runtime.errors import DataError

LEARNED_FROM = 300_000
"""Most words that merges are learned from, the most frequent ones: this bounds the memory."""
HEADER = "#version: 0.2"
CHUNK = 20_000  # words
FITTING = 0.5
"""Smallest share of the merges that a corpus uses for the codes to be its own."""


def most_frequent(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the words that merges are learned from, with their counts."""
    words = nsmallest(LEARNED_FROM, counts, key=lambda word: (-counts[word], word))
    return {word: counts[word] for word in words}


def learn(counts: Mapping[str, int], merges: int) -> str:
    """Return the codes, a merge a line after a header, learned from words and their counts.

    There are fewer merges than asked for when no pair of symbols is left that comes twice; raises
    DataError when there is none from the start.
    """
    from subword_nmt.learn_bpe import learn_bpe

    codes = io.StringIO()
    if any(len(word) > 1 for word in counts):
        lines = (f"{word} {count}\n" for word, count in counts.items())
        with redirect_stderr(io.StringIO()):  # a bar for the progress, and that no pair is left
            learn_bpe(lines, codes, merges, is_dict=True)
    if codes.getvalue().count("\n") < 2:
        raise DataError(
            "The training texts are too few to learn sub-words from, since no two letters stand "
            "side by side twice; check the files that they are made from."
        )
    return codes.getvalue()


def read_codes(path: Path, merges: int) -> str:
    """Return the first `merges` merges of a file of codes.

    Raises DataError when it is not UTF-8 or lacks the header, a line is no merge, or there are too
    few.
    """
    header, *lines = [line for _, line in read_exact(path)]
    while lines and not lines[-1]:
        lines.pop()
    if header != HEADER:
        raise DataError(
            f"{path}: the first line is not `{HEADER}`, so this is no file of codes that "
            "subword-nmt wrote; replace it."
        )
    for number, line in enumerate(lines, start=2):
        if len(line.split(" ")) != 2:
            raise DataError(f"{path}, line {number}: expected two symbols, found {line!r}.")
    if len(lines) < merges:
        raise DataError(f"{path}: there are {len(lines)} merges, fewer than `merges`: {merges}.")
    return "\n".join([header, *lines[:merges], ""])


def check_codes(path: Path, codes: str, pieces: Iterable[str]) -> None:
    """Raise DataError when few of the merges are behind any of the pieces of a corpus."""
    parts = _applied(codes).bpe_codes_reverse
    waiting = {piece.removesuffix("@@") + "</w>" * (not piece.endswith("@@")) for piece in pieces}
    used = set()
    while waiting:
        piece = waiting.pop()
        if piece in parts and piece not in used:
            used.add(piece)
            waiting.update(parts[piece])
    if len(used) < FITTING * len(parts):
        raise DataError(
            f"{path}: the words of this corpus use {len(used)} of the {len(parts)} merges, so they "
            "were learned on another corpus; replace the file by the one of this corpus."
        )


def split(
    words: Iterable[str], codes: str, allowed: Set[str] | None = None
) -> Iterator[tuple[str, list[str]]]:
    """Yield each word and its pieces; several cores work on them.

    Args:
        words: none of them twice, or time is wasted.
        codes: the merges.
        allowed: pieces to use; others are split further, as far as the merges allow.
    """
    for results in in_order(partial(_split, codes, allowed), chunks(words, CHUNK)):
        yield from results


def _split(codes: str, allowed: Set[str] | None, words: list[str]) -> list[tuple[str, list[str]]]:
    applied = _applied(codes)
    results = [(word, applied.segment_tokens([word])) for word in words]
    applied.cache.clear()  # it would hold every word that was ever split
    if not allowed:  # of an empty vocabulary subword-nmt takes no notice either
        return results
    parts = applied.bpe_codes_reverse
    return [(word, _split_further(pieces, parts, allowed)) for word, pieces in results]


def _split_further(
    pieces: list[str], parts: Mapping[str, tuple[str, str]], allowed: Set[str]
) -> list[str]:
    """Return the pieces of a word, those that are not allowed split as far as the merges allow.

    subword-nmt does the same by a function that calls itself once a letter: Python ends it in the
    middle of a word of a thousand letters.
    """
    result = []
    *begun, end = pieces
    waiting = [(end, True), *((piece.removesuffix("@@"), False) for piece in reversed(begun))]
    while waiting:
        symbol, last = waiting.pop()
        piece = symbol if last else f"{symbol}@@"
        merged = parts.get(f"{symbol}</w>" if last else symbol)
        if piece in allowed or merged is None:
            result.append(piece)
        else:
            left, right = merged
            waiting += [(right.removesuffix("</w>") if last else right, last), (left, False)]
    return result


@lru_cache(maxsize=2)
def _applied(codes: str) -> Any:
    from subword_nmt.apply_bpe import BPE

    return BPE(io.StringIO(codes))
