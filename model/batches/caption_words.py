"""The words of a caption, much as the Penn Treebank splits plain sentences."""

from __future__ import annotations

import re
from unicodedata import category, normalize

MARKS = "".join(chr(c) for c in range(0x300, 0x1F000) if category(chr(c))[0] == "M")
"""Accents, vowel signs and the like. They are no `\\w`, and belong to the letter before them."""
# That marks begin at U+0300 is asked first: it spares most letters a look into the long list.
LETTERS = rf"\w+(?:(?=[^\x00-\u02ff])[{MARKS}]+\w*)*"
WORD = re.compile(
    rf"{LETTERS}(?=n't\b)|n't\b|'(?:s|m|d|ll|re|ve)\b"  # do n't, man 's
    rf"|{LETTERS}(?:[-./,&]{LETTERS})*"  # t-shirt, 3.5
)


def caption_words(caption: str) -> list[str]:
    """The words in lower case; punctuation is left out."""
    return WORD.findall(normalize("NFC", caption.lower()))
