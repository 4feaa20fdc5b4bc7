"""WMT'17 English-Finnish: dev newstest2016, test newstest2017.

The pairs to train on are those of Europarl v8 and of the EU's press releases (Rapid 2016), in words
by Moses, 1 to 250 of them on each side, neither more than 1.5 times as long as the other, as in
fairseq's preparation of WMT. The third official file, titles of Wikipedia, has no sentences.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from workflow.datasets.kinds.wmt import SharedTask


@dataclass(frozen=True)
class Data(SharedTask):
    """The texts; the defaults are those of role interaction."""

    archives: ClassVar[Mapping[str, str]] = {
        "training-parallel-ep-v8.tgz": "europarl-v8.fi-en",
        "rapid2016.tgz": "rapid2016.en-fi",
    }
    held_out: ClassVar[Mapping[str, str]] = {
        "dev": "eng-fin.newstest2016",
        "test": "eng-fin.newstest2017",
    }
    endings: ClassVar[Mapping[str, str]] = {"en": "eng", "fi": "fin"}
    longest = 250

    direction: Literal["en_fi", "fi_en"] = "en_fi"
    merges: int = 40_000
