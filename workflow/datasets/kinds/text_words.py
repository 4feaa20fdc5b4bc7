"""How a raw text is split into words: punctuation apart, or letters alone."""

import html
import re
from collections.abc import Iterable
from unicodedata import normalize

from model.batches.caption_words import LETTERS
from workflow.datasets.io.left_out import JOINERS, visible

ENTITY = re.compile(r"(?<![\w&])(#\d+|amp|apos|gt|hellip|lt|nbsp|quot);")
LONG_NUMBER = re.compile(r"&#0*([0-9]{1,8})[0-9]*")
"""An entity's number. Eight digits are more than Unicode has; Python reads no more than 4,300."""
APOSTROPHE = re.compile(r" ?(?<![\w&])#39;")
TAG = re.compile(
    r"</?(?:a|b|br|center|cite|div|em|font|h[1-6]|hr|i|img|li|nobr|ol|p|span|strong|table|td|tr|u"
    r"|ul)\b[^<>]*>",
    re.IGNORECASE,
)
JOINED = rf"{LETTERS}(?:[{JOINERS}]+{LETTERS})*[{JOINERS}]*"
"""A word of a text that is `visible`: joiners are within words."""
PLAIN_WORD = re.compile(JOINED)
WORD = re.compile(rf"\w+?(?=n't\b)|n't\b|'(?:s|m|d|re|ve|ll)\b|{JOINED}|([^\w\s{JOINERS}])\1*")


def tokenise(text: str) -> list[str]:
    """Return the lower-case words and punctuation marks of a raw text, in Unicode's form NFC.

    What HTML leaves behind is taken away first: tags, entities, and entities that have lost their
    `&`, as in AG News (`world #39;s`). Contractions are split as in the Penn Treebank (`do n't`,
    `film 's`); a mark that is repeated counts once.
    """
    text = APOSTROPHE.sub("'", text.replace("\u2019", "'"))
    text = visible(html.unescape(LONG_NUMBER.sub(r"&#\1", ENTITY.sub(r"&\1;", text))))
    text = TAG.sub(" ", text.replace("\u2019", "'"))
    return [match[1] or match[0] for match in WORD.finditer(normalize("NFC", text.lower()))]


def plain_words(text: str) -> list[str]:
    """Return the lower-case runs of letters, digits and `_` of a raw text, HTML and all, in NFC.

    With this rule the median lengths of snell2021 table 8 come out exactly for IMDB,
    20 Newsgroups and SST.
    """
    return PLAIN_WORD.findall(normalize("NFC", visible(text.lower())))


def without_integers(words: Iterable[str]) -> list[str]:
    """Replace whole numbers of more than one digit by `<unk>` (snell2021 appendix A.8)."""
    return ["<unk>" if word.isdecimal() and len(word) > 1 else word for word in words]
