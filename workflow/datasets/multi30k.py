"""Multi30k (Elliott et al., 2016), task 1: descriptions of photos, English and German.

Test is that of 2016; those of 2017 and 2018 and the ambiguous one from COCO are further splits.
With `tests: all`, test has the sentences of all four, and that of 2016 is a further split, too. The
files are as they were written, a sentence a line; words are made as in the official preparation
(`task1-tokenize.sh`): in lower case, then with uniform punctuation, then by Moses. SentencePiece
reads the sentences as they were written: then their lengths are those of Attention Learning.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
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
    tests: Literal["all"] | None = None
    """Whether `test` has all test sets, one after the other; generated texts then have two, each
    with as many descriptions as `test` says."""

    @property
    def names(self) -> Mapping[str, str]:
        """The names of the files by split; with `tests: all`, `test` has no files of its own."""
        first = "test_2016" if self.tests else "test"
        names = {first if split == "test" else split: name for split, name in NAMES.items()}
        generated = 4 if self.tests else 3
        return dict(islice(names.items(), generated if self.generated else None))

    @property
    def splits(self) -> Sequence[str]:
        """The splits; of generated texts there is one test set, or two."""
        return tuple(dict.fromkeys((*SPLITS, *self.names)))

    @property
    def files(self) -> Sequence[str]:
        """Names of the official files; generated ones have the same."""
        return [f"{name}.{side}.gz" for name in self.names.values() for side in ("de", "en")]

    def synthesise(self, out: Path) -> None:
        """Write generated descriptions, none of them twice, and their lexicon.

        The lexicon is a table of which word forms translate each other, and their class.
        """
        grammar: Any = homographs if self.source == "homographs" else translations
        seen: set[str] = set()
        for split, name in self.names.items():
            generator = random.Random(f"{self.seed} multi30k {name}")
            pairs: dict[str, str] = {}
            while len(pairs) < getattr(self, split.partition("_")[0]):
                english, german = grammar.sentence(generator)
                text = typeset([word.english for word in english if word.english])
                if text not in seen:
                    seen.add(text)
                    pairs[text] = typeset([word.german for word in german if word.german])
            for language, texts in (("en", pairs.keys()), ("de", pairs.values())):
                with packed(out / f"{name}.{language}.gz") as stream:
                    stream.write("".join(f"{text}\n" for text in texts).encode())
        rows = ("\t".join(entry[:3]) for entry in grammar.lexicon())
        write_lines(out / LEXICON, ["en\tde\tclass", *rows])

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Write every pair in words, and the lexicon of generated ones."""
        super().prepare(files, out)
        if self.generated:
            self._write_lexicon(by_name(files, LEXICON), out / LEXICON)

    def pairs(self, files: Sequence[Path], left_out: Dropped, out: Path) -> SplitPairs:
        """Yield every pair and its split; with `tests: all`, those to test on also as `test`."""
        moses = Moses(self.languages, self.lowercase, normalise=True).pairs
        words = partial(as_written, lowercase=self.lowercase) if self.vocabulary else moses
        names = {split: f"{name}.{{}}.gz" for split, name in self.names.items()}
        for split, pair in self.side_by_side(files, names, words, left_out):
            yield split, pair
            if split not in SPLITS and self.tests:
                yield "test", pair

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
