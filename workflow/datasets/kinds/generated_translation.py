"""A small generated parallel corpus under the names and in the format of Multi30k's files.

`lexicon.tsv` lists which word forms translate each other, and their class: `en`, `de`, `class`.
"""

import gzip
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from workflow.datasets.encoded.prepared import LEXICON
from workflow.datasets.grammars import homograph_grammar, translation_grammar
from workflow.datasets.grammars.translation_grammar import ENGLISH, GERMAN
from workflow.datasets.io.files import replacing, write_lines

Sentence = Callable[[random.Random], tuple[list[str], list[str]]]


def write_multi30k(
    out: Path, sizes: Mapping[str, int], seed: int, homographs: bool = False
) -> None:
    """Write `<name>.en.gz` and `<name>.de.gz` with so many sentences each, and the lexicon.

    No sentence comes twice, in one file or in two.  With `homographs` most English words have
    several classes.
    """
    grammar = homograph_grammar if homographs else translation_grammar
    seen: set[str] = set()
    for name, count in sizes.items():
        generator = random.Random(f"{seed} multi30k {name}")
        pairs = list(_distinct(grammar.sentence, count, generator, seen))
        for side, language in enumerate((ENGLISH, GERMAN)):
            _write_packed(out / f"{name}.{language}.gz", (pair[side] for pair in pairs))
    rows = ("\t".join(entry) for entry in grammar.lexicon())
    write_lines(out / LEXICON, ["\t".join((ENGLISH, GERMAN, "class")), *rows])


def _distinct(
    sentence: Sentence, count: int, generator: random.Random, seen: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield pairs of typeset sentences that were not seen before."""
    while count:
        english, german = map(_typeset, sentence(generator))
        if english not in seen:
            seen.add(english)
            count -= 1
            yield english, german


def _typeset(words: list[str]) -> str:
    """Return a sentence with a capital at its start and no space before marks."""
    text = words[0][:1].upper() + words[0][1:]
    for word in words[1:]:
        text += word if word in ",.?" else f" {word}"
    return text


def _write_packed(path: Path, lines: Iterable[str]) -> None:
    """Write lines as a gzip file, the same bytes whenever it is made."""
    with (
        replacing(path) as stream,
        gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed,
    ):
        packed.write("".join(f"{line}\n" for line in lines).encode())
