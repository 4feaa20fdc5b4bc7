"""The words of a caption, much as the Penn Treebank splits plain sentences."""

from __future__ import annotations

import re

WORD = re.compile(
    r"\w+(?=n't\b)|n't\b|'(?:s|m|d|ll|re|ve)\b"  # do n't, man 's
    r"|\w+(?:[-./,&]\w+)*"  # t-shirt, 3.5
)


def caption_words(caption: str) -> list[str]:
    """The words in lower case; punctuation is left out."""
    return WORD.findall(caption.lower())
