"""The Java programs of the COCO caption evaluation: the tokeniser of Penn Treebank, and METEOR.

They come with the package `pycocoevalcap` (`envs/lock-captions.txt`) and need Java. Without them
captions are split by `model.batches.caption_words`, which says the same of plain sentences, and
METEOR has no value.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Sequence

from model.batches.caption_words import caption_words


def lacking() -> str:
    """What the Java programs need and is not installed; empty where nothing is missing."""
    if importlib.util.find_spec("pycocoevalcap") is None:
        return "pycocoevalcap"
    return "" if shutil.which("java") else "Java"


def split_words(captions: Sequence[str]) -> list[list[str]]:
    """The words of captions in lower case, without punctuation."""
    if lacking():
        return [caption_words(caption) for caption in captions]
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer  # type: ignore[import-not-found]

    numbered = {n: [{"caption": caption}] for n, caption in enumerate(captions)}
    words = PTBTokenizer().tokenize(numbered)
    return [words[n][0].split() for n in range(len(captions))]


def meteor(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """METEOR 1.5 of a corpus (Denkowski and Lavie 2014), 0 to 100, of captions in words."""
    from pycocoevalcap.meteor.meteor import Meteor  # type: ignore[import-not-found]

    right = {n: list(those) for n, those in enumerate(references)}
    score, _ = Meteor().compute_score(right, {n: [one] for n, one in enumerate(hypotheses)})
    return 100 * float(score)
