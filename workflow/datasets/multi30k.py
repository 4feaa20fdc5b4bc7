"""Multi30k (Elliott et al., 2016), task 1: descriptions of photos, English and German.

Test is that of 2016; those of 2017 and 2018 and the ambiguous one from COCO are further splits. The
files are as they were written, a sentence a line; words are made as in the official preparation
(`task1-tokenize.sh`): in lower case, then with uniform punctuation, then by Moses. SentencePiece
reads the sentences as they were written: then their lengths are those of Attention Learning.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, Literal

from workflow.datasets.encoded.moses import Moses
from workflow.datasets.encoded.prepared import LEXICON
from workflow.datasets.grammars import homographs, translations
from workflow.datasets.grammars.labelled_clauses import typeset
from workflow.datasets.io.archives import packed
from workflow.datasets.io.dataset_files import SPLITS, by_name, read_lines, write_lines
from workflow.datasets.io.left_out import Dropped
from workflow.datasets.kinds.dataset import Generable
from workflow.datasets.kinds.parallel_text import ParallelText, SplitPairs, as_written
from workflow.runtime.errors import DataError

NAMES: Mapping[str, str] = {
    "train": "train",
    "dev": "val",
    "test": "test_2016_flickr",
    "test_2017": "test_2017_flickr",
    "test_2018": "test_2018_flickr",
    "test_coco": "test_2017_mscoco",
}


@dataclass(frozen=True)
class Data(Generable, ParallelText):
    """The descriptions; the defaults are Attention Learning's."""

    ratio = inf

    direction: Literal["de_en", "en_de"] = "de_en"
    merges: int = 8_000
    lowercase: bool = True
    """Whether all words are in lower case."""
    source: Literal["official", "generated", "homographs"] = "official"
    """The official files, or a small corpus in their format whose lexicon is known; in that of
    homographs most English words have several classes."""

    @property
    def splits(self) -> Sequence[str]:
        """The splits; of generated texts there is one test set."""
        return SPLITS if self.generated else tuple(NAMES)

    @property
    def files(self) -> Sequence[str]:
        """Names of the official files; generated ones have the same."""
        return [f"{NAMES[split]}.{side}.gz" for split in self.splits for side in ("de", "en")]

    def synthesise(self, out: Path) -> None:
        """Write generated descriptions, none of them twice, and their lexicon.

        The lexicon is a table of which word forms translate each other, and their class.
        """
        grammar: Any = homographs if self.source == "homographs" else translations
        seen: set[str] = set()
        for split in SPLITS:
            generator = random.Random(f"{self.seed} multi30k {NAMES[split]}")
            pairs: dict[str, str] = {}
            while len(pairs) < getattr(self, split):
                english, german = grammar.sentence(generator)
                text = typeset([word.english for word in english if word.english])
                if text not in seen:
                    seen.add(text)
                    pairs[text] = typeset([word.german for word in german if word.german])
            for language, texts in (("en", pairs.keys()), ("de", pairs.values())):
                with packed(out / f"{NAMES[split]}.{language}.gz") as stream:
                    stream.write("".join(f"{text}\n" for text in texts).encode())
        rows = ("\t".join(entry[:3]) for entry in grammar.lexicon())
        write_lines(out / LEXICON, ["en\tde\tclass", *rows])

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Write every pair in words, and the lexicon of generated ones."""
        super().prepare(files, out)
        if self.generated:
            self._write_lexicon(by_name(files, LEXICON), out / LEXICON)

    def pairs(self, files: Sequence[Path], left_out: Dropped, out: Path) -> SplitPairs:
        """Return every pair and its split."""
        moses = Moses(self.languages, self.lowercase, normalise=True).pairs
        words = partial(as_written, lowercase=self.lowercase) if self.vocabulary else moses
        names = {split: f"{NAMES[split]}.{{}}.gz" for split in self.splits}
        return self.side_by_side(files, names, words, left_out)

    def _write_lexicon(self, path: Path, out: Path) -> None:
        """Write the lexicon as `source`, `target`, `class`, its words like those of the pairs."""
        rows = []
        for place, line in read_lines(path):
            row = line.split("\t")
            if len(row) != 3:
                raise DataError(
                    f"{place}: expected 3 columns, found {len(row)}; delete the file and generate "
                    "it again."
                )
            rows.append(row)
        places = [rows[0].index(side) for side in self.languages]
        lines = ["source\ttarget\tclass"]
        for row in rows[1:]:
            forms = [row[place].lower() if self.lowercase else row[place] for place in places]
            lines.append("\t".join([*forms, row[-1]]))
        write_lines(out, lines)
