"""WMT'14 English-German: the pairs to train on of WMT'16, dev newstest2013, test newstest2014.

The pairs are those of Europarl v7, Common Crawl and News Commentary v11, in words by Moses, 1 to 80
of them on each side: the preparation that Ott et al. (2018) use, of about 4.5 million pairs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from workflow.datasets.kinds.wmt import SharedTask


@dataclass(frozen=True)
class Data(SharedTask):
    """The texts; the defaults are Explicit Sparse Transformer's."""

    archives: ClassVar[Mapping[str, str]] = {
        "training-parallel-europarl-v7.tgz": "europarl-v7.de-en",
        "training-parallel-commoncrawl.tgz": "commoncrawl.de-en",
        "training-parallel-nc-v11.zip": "news-commentary-v11.de-en",
    }
    held_out: ClassVar[Mapping[str, str]] = {
        "dev": "eng-deu.newstest2013",
        "test": "eng-deu.newstest2014",
    }
    endings: ClassVar[Mapping[str, str]] = {"en": "eng", "de": "deu"}
    longest = 80
    ratio = 9

    direction: Literal["en_de", "de_en"] = "en_de"
    merges: int = 32_000
