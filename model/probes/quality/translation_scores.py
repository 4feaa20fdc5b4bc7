"""BLEU and chrF of translations by beam search (sacrebleu; Post 2018)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch

from model.architectures.translation.beam_search import Beam
from model.batches.corpus import Corpus, Split, read_lines
from model.batches.pairs import pairs_in_order
from model.probes.measure import Measured, Scalar, Subject, scalar
from model.probes.words.subwords import is_lowercase, plain

COMPOUND = re.compile(r"(\S)-(\S)")


def translation_scores(
    subject: Subject, search: Beam, split: str = "test", tokens: int = 4096
) -> Measured:
    """Translate a test set and score the best hypotheses.

    Args:
        subject: a trained `Translator` and its data.
        search: how to search.
        split: the test set.
        tokens: most tokens of a batch, on the longer side.

    Returns:
        Scalars, in % but for the ratio:
        `bleu`, on the words that the model writes, in lower case, as `multi-bleu.perl -lc`;
        `compound_bleu`, on these words in their case, words with hyphens taken apart, as papers on
        WMT'14 English-German have it (`get_ende_bleu.sh` of tensor2tensor);
        `sacrebleu` and `chrf`, on texts put together again by Moses's detokeniser, in lower case
        where the corpus is, against the references as they were written, or put together in the
        same way where the corpus has these in words only;
        `length_ratio`, words of the hypotheses to those of the references.
        Arrays in the order of the split: `hypotheses` and `references` in words, and `written`, the
        references that `sacrebleu` and `chrf` are taken against; and `signatures` of sacrebleu, by
        the name of the scalar.

    Raises:
        ValueError: the corpus lacks the references, or has another number of them.
    """
    references = read_lines(subject.corpus, split, "reference")
    hypotheses = translate(subject, subject.corpus.split(split), search, tokens)
    written = as_written(subject.corpus, split, references)
    scalars, signatures = scores(subject.corpus, hypotheses, references, written)
    texts = {"hypotheses": hypotheses, "references": references, "written": written}
    return Measured(scalars, {**texts, "signatures": signatures})


def translate(subject: Subject, split: Split, search: Beam, tokens: int) -> list[str]:
    """The best translation of every source, in words, in the order of the split."""
    words, texts = subject.corpus.vocabulary, [""] * len(split)
    with torch.no_grad():
        for batch in pairs_in_order(split, tokens, subject.device):
            best = search.search(subject.model, batch.source, batch.source_layout).best()  # type: ignore[arg-type]
            for example, ids in zip(batch.examples, best, strict=True):
                texts[example] = plain([words[i] for i in ids])
    return texts


def as_written(corpus: Corpus, split: str, references: list[str]) -> list[str]:
    """The references as the official files have them, else put together from their words."""
    if (corpus.folder / f"{split}.raw_reference.txt").is_file():
        return read_lines(corpus, split, "raw_reference")
    return detokenised(corpus, references)


def scores(
    corpus: Corpus, hypotheses: list[str], references: list[str], written: list[str]
) -> tuple[dict[str, Scalar], list[str]]:
    """The scalars of `translation_scores`, and the signatures of sacrebleu."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    lowercase = is_lowercase(corpus)
    texts = detokenised(corpus, hypotheses)
    in_words: dict[str, Any] = {"tokenize": "none", "force": True, "smooth_method": "none"}
    apart, references_apart = without_compounds(hypotheses), without_compounds(references)
    metrics: dict[str, tuple[Any, list[str], list[str]]] = {
        "bleu": (BLEU(lowercase=True, **in_words), hypotheses, references),
        "compound_bleu": (BLEU(**in_words), apart, references_apart),
        "sacrebleu": (BLEU(lowercase=lowercase), texts, written),
        "chrf": (CHRF(lowercase=lowercase), texts, written),
    }
    scalars, signatures = {}, []
    for name, (metric, system, truth) in metrics.items():
        score = metric.corpus_score(system, [truth])
        scalars[name] = scalar(float(score.score), "%", n=len(system))
        signatures.append(f"{name} {metric.get_signature()}")
    words = [sum(len(text.split()) for text in side) for side in (hypotheses, references)]
    scalars["length_ratio"] = scalar(words[0] / words[1], "1")
    return scalars, signatures


def without_compounds(texts: Sequence[str]) -> list[str]:
    """Texts with `a-b` written as `a ##AT##-##AT## b`, each letter in one such pair at most."""
    return [COMPOUND.sub(r"\1 ##AT##-##AT## \2", text) for text in texts]


def detokenised(corpus: Corpus, texts: Sequence[str]) -> list[str]:
    """Texts of the target language put together from words."""
    from sacremoses import MosesDetokenizer

    moses = MosesDetokenizer(lang=corpus.manifest["languages"]["target"])
    return [moses.detokenize(text.split()) for text in texts]
