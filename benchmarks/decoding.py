"""What a contender does in a race of decoding: the same sentences, the same search.

A job with a `run` and its `data` translates that run's test set; any other has made-up sentences.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from benchmarks.baseline import TorchTransformer
from benchmarks.cached import CachedTransformer
from benchmarks.ctranslate import CTranslate2
from benchmarks.made_up import made_up_pairs
from benchmarks.models import enliven, make_ours, make_theirs
from benchmarks.race import Job, Turn, Work
from benchmarks.trained import trained_batches, trained_model
from model.architectures.translation.beam_search import Beam
from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.batches.pairs import PairBatch, collate_pairs, pair_lengths
from model.training.optimization import autocast

LENGTH = 25
"""Sub-words of every source, about the mean; the longest translation is then one for all."""
SENTENCES, FEW = 128, 8
CPU = torch.device("cpu")

Translate = Callable[[PairBatch, Beam], list[list[int]]]
"""From sources to the best translation of each, without EOS."""


def decoding(job: Job) -> Work:
    """Translations of the same sentences in every round; round -1 takes a few of them."""
    if "run" in job:
        every, settings = trained_batches(job["data"]), Beam(job["beam"])
        batches = {-1: every[:1], 0: every}
    else:
        batches = {-1: [decoding_batch(FEW)], 0: [decoding_batch(job["sentences"])]}
        settings = Beam(job["beam"], length_ratio=1.0, length_extra=1)
    translate = CONTENDERS[job["who"]](job)

    def work(turn: int) -> Turn:
        texts = [text for batch in batches[min(turn, 0)] for text in translate(batch, settings)]
        return {"texts": texts, "tokens": sum(len(text) + 1 for text in texts)}

    return work


def our_search(job: Job) -> Translate:
    """Ours, as it is after training."""
    model = decoded_model(job)

    def translate(batch: PairBatch, settings: Beam) -> list[list[int]]:
        with autocast(job["precision"], CPU):
            return settings.search(model, batch.source, batch.source_layout).best()

    return translate


def their_search(job: Job) -> Translate:
    """`torch.nn.Transformer`, reading every prefix anew or with a cache."""
    kind = CachedTransformer if job["cached"] else TorchTransformer
    model = make_theirs(decoded_model(job), job["shape"], kind).eval()

    def translate(batch: PairBatch, settings: Beam) -> list[list[int]]:
        return [first.words[:-1] for first, *_ in model.translate(batch, settings)]

    return translate


def its_search(job: Job) -> Translate:
    """CTranslate2."""
    return CTranslate2(decoded_model(job), job["precision"]).translate


CONTENDERS: dict[str, Callable[[Job], Translate]] = {
    "ours": our_search,
    "torch": their_search,
    "CTranslate2": its_search,
}


def decoded_model(job: Job) -> EncoderDecoder:
    """Ours, whose weights all have."""
    if "run" in job:
        return trained_model(job["run"], job["data"]).eval()
    model: EncoderDecoder = enliven(make_ours(job["shape"])).eval()
    return model


def decoding_batch(sentences: int) -> PairBatch:
    """Sentences of one length."""
    split = made_up_pairs()
    alike = (pair_lengths(split)[:, 0] == LENGTH).nonzero()[0]
    return collate_pairs(split, alike[:sentences])
