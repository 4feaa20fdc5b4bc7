"""What is typed as the words of a task: the same rules as in `explorer/page/words.js`.

Film reviews are in lower case and split as in the Penn Treebank: marks and endings such as n't and
's are words of their own, hyphens are not; brackets and quotes have names. Known words stay whole.
"""

import re
from collections.abc import Collection, Iterator
from unicodedata import normalize

from model.batches.caption_words import MARKS

LETTER = rf"[\w{MARKS}]"
WORD = rf"{LETTER}(?:(?:\\/|[-'.,:&/])?{LETTER})*"
ENDING = rf"(?:n't|'(?:s|m|d|re|ve|ll))(?!{LETTER})"
PARTS = re.compile(rf"{WORD}?(?={ENDING})|{ENDING}|{WORD}|(\S)\1*")
SPELLED = str.maketrans(
    {"’": "'", "‘": "`", "“": "``", "”": "''", "…": "...", "–": "--", "—": "--"}
)
TREEBANK = {"(": "-lrb-", ")": "-rrb-", "[": "-lrb-", "]": "-rrb-", "*": "\\*", "/": "\\/"}
TREEBANK |= {"cannot": "can not"}


def split_text(text: str, known: Collection[str]) -> list[str]:
    """Return the words of a text, as film reviews have them."""
    written = normalize("NFC", text).lower().translate(SPELLED)
    return [word for piece in re.split(r"[ \t\n\r\v\f]+", written) for word in _words(piece, known)]


def _words(piece: str, known: Collection[str]) -> Iterator[str]:
    if piece in known:
        yield piece
        return
    for match in PARTS.finditer(piece):
        part, mark = match[0], match[1]
        if part in known:
            yield part
        elif mark == '"':
            yield "''" if match.start() else "``"
        else:
            plain = mark or re.sub(r"\\?/", r"\\/", part)
            yield from TREEBANK.get(mark or part, plain).split(" ")


def split_symbols(text: str, known: Collection[str]) -> list[str]:
    """Return the symbols of a text, with or without spaces between them."""
    pieces = text.lower().split()
    return [one for piece in pieces for one in ([piece] if piece in known else piece)]
