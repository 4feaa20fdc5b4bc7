"""Write small parallel and tagged corpora in the encoded form."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from model.batches.corpus import Corpus
from tests.model.corpora import write_corpus

RESERVED = ["<pad>", "<bos>", "<eos>", "<unk>"]
Pair = tuple[str, str]
Sentence = Sequence[tuple[str, str, str]]


def write_parallel(
    folder: Path,
    splits: Mapping[str, Sequence[Pair]],
    languages: tuple[str, str] = ("en", "de"),
    merges: Sequence[str] = ("q q",),
    source_vocabulary: Sequence[str] | None = None,
    vocabulary: Sequence[str] = (),
    lowercase: bool = True,
) -> Corpus:
    """Write pairs of texts whose words are pieces already (`@@` at those that go on).

    The vocabulary is that of the target, or of both sides where the source has none of its own;
    without one it is made of all pieces.
    """
    pairs = [pair for split in splits.values() for pair in split]
    if not vocabulary:
        kept = pairs if source_vocabulary is None else [("", target) for _, target in pairs]
        vocabulary = sorted({piece for pair in kept for side in pair for piece in side.split()})
    target = [*RESERVED, *vocabulary]
    source = [*RESERVED, *source_vocabulary] if source_vocabulary is not None else target
    examples, columns = {}, {}
    for split, content in splits.items():
        sides = [
            [[known.index(piece) for piece in text.split()] + [2] for text in texts]
            for known, texts in zip((source, target), zip(*content, strict=True), strict=True)
        ]
        examples[split] = [a + b for a, b in zip(*sides, strict=True)]
        columns[split] = {"source": [*map(len, sides[0])]}
    said = dict(zip(("source", "target"), languages, strict=True))
    write_corpus(folder, examples, target, {}, columns, languages=said, lowercase=lowercase)
    for split in splits.keys() - {"train"}:
        lines = [text.replace("@@ ", "") for _, text in splits[split]]
        (folder / f"{split}.reference.txt").write_text("".join(f"{x}\n" for x in lines))
    codes = "codes.txt"
    if source_vocabulary is not None:
        (folder / "source_vocabulary.txt").write_text("\n".join(source) + "\n")
        codes = "source_codes.txt"
    (folder / codes).write_text("\n".join(["#version: 0.2", *merges]) + "\n")
    return Corpus(folder)


def write_tagged(folder: Path, splits: Mapping[str, Sequence[Sentence]]) -> Corpus:
    """Write sentences of (word, part of speech, chunk tag), as the dataset conll2000 is."""
    every = [entry for split in splits.values() for sentence in split for entry in sentence]
    words, pos, chunk = (sorted(set(column)) for column in zip(*every, strict=True))
    known, tokens, columns = ["<pad>", "<bos>", "<unk>", *words], {}, {}
    for split, sentences in splits.items():
        tokens[split] = [[known.index(word) for word, _, _ in one] for one in sentences]
        flat = [entry for one in sentences for entry in one]
        columns[split] = {
            "pos": [pos.index(tag) for _, tag, _ in flat],
            "chunk": [chunk.index(tag) for *_, tag in flat],
        }
    return write_corpus(folder, tokens, known, {"pos": pos, "chunk": chunk}, columns)
